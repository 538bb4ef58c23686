"""Test after every round whether the median of differences is 0, whatever their distribution. Pure functions.

Without a change, a difference is above the median with probability ½. The evidence for a change is the likelihood ratio
of "that probability is drawn from the arcsine distribution" to "it is ½" (the estimate of Krichevsky and Trofimov, "The
performance of universal encoding", 1981). Without a change, the probability that the evidence ever exceeds 1 / α is at
most α, whenever one tests and stops (Ville's inequality). 1 / evidence is therefore a p-value at any time, and the
values that it does not reject as medians are an interval between two order statistics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def p_value(differences: Sequence[float]) -> float:
    """Return the p-value of "the median is 0", from 0 to 1, valid for any number of tests of growing data.

    ``differences`` has one value per round so far; without any, the result is 1. A difference of exactly 0 counts for
    the side that has fewer values, so that it is no evidence.
    """
    above, below = sum(difference > 0 for difference in differences), sum(difference < 0 for difference in differences)
    larger = max(above, below, (len(differences) + 1) // 2)
    return min(1.0, math.exp(-_log_evidence(larger, len(differences))))


def median_interval(differences: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Return the interval (low, high) of the median, valid for any number of tests of growing data.

    ``differences`` has one value per round so far. ``confidence`` is a probability (0 to 1). The result is None with
    too few differences: fewer than 10 for a confidence of 99 %, or fewer than 6 for 90 %.
    """
    ordered, needed = sorted(differences), -math.log(1 - confidence)
    n_values = len(ordered)
    # All values below the rank-th from either end are rejected as medians.
    rank = sum(_log_evidence(n_values - below, n_values) >= needed for below in range(n_values // 2))
    return (ordered[rank - 1], ordered[-rank]) if rank else None


def _log_evidence(above: int, n_values: int) -> float:
    """Return the logarithm of the evidence if ``above`` of the values are on one side."""
    below = n_values - above
    mixture = math.lgamma(above + 0.5) + math.lgamma(below + 0.5) - math.lgamma(n_values + 1) - math.log(math.pi)
    return mixture + n_values * math.log(2)
