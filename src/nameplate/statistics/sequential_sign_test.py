"""Test after every round whether the median of differences is 0, whatever their distribution. Pure functions.

Without a change, a difference is above the median with probability ½. The evidence for a change is the likelihood ratio
of "that probability is drawn from the arcsine distribution" to "it is ½" (the estimate of Krichevsky and Trofimov, "The
performance of universal encoding", 1981). Whenever one looks and stops, the probability that it ever exceeds 1 / α
without a change is at most α (Ville's inequality). 1 / evidence is therefore a p-value at any time, and the values that
it does not reject as medians are an interval between two order statistics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def p_value(differences: Sequence[float]) -> float:
    """Return the p-value of "the median is 0", from 0 to 1, which is valid after any number of looks.

    A difference of exactly 0 counts for the side that has fewer, so that it is no evidence. Without
    differences it is 1.
    """
    above, below = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    larger = max(above, below, (len(differences) + 1) // 2)
    return min(1.0, math.exp(-_log_evidence(larger, len(differences))))


def median_interval(differences: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Return the interval of the median (low, high), which is valid after any number of looks.

    ``confidence`` is a probability (0 to 1). It is None with too few differences: fewer than 10 for 99 %, or than 6 for
    90 %.
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
