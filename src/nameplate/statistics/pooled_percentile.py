"""Estimate a percentile of the times of all operations of a run, with an interval from the variation between rounds.

Operations come in bursts, so that those of a round are not independent, but the rounds nearly are. A run is therefore a
sample of clusters, the rounds. The interval is that of Woodruff ("Confidence intervals for medians and other position
measures", Journal of the American Statistical Association 47, 1952), with the standard error of a ratio for clusters:
the share of the operations that are faster than the percentile has an interval, and the times at both of its ends are
the interval of the percentile. ``bench/statistics/percentiles.py`` compares its coverage with that of the bootstrap,
whose intervals are too short for six rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from nameplate.statistics.stats import MergedHistogram, histogram_percentile_s
from nameplate.statistics.student_t import student_t

# With fewer rounds, their variation is not known well enough; the median of rounds has the same limit.
MIN_ROUNDS = 6


def percentile_interval_s(
    rounds: Sequence[MergedHistogram], together: MergedHistogram, share: float
) -> tuple[float, float] | None:
    """Return the 95 % interval (low, high) in seconds of a percentile of the operations of all rounds together.

    ``rounds`` has the operations of each round, at least one in each, and ``together`` those of all rounds. ``share``
    is from 0 to 1, such as 0.99 for the 99th percentile. The result is None with fewer than six rounds, and if too few
    operations are above the percentile to show the upper end of its interval, as always for the maximum.
    """
    if len(rounds) < MIN_ROUNDS or share == 1:
        return None
    deviation = student_t(len(rounds) - 1, 0.975) * _error_of_share(rounds, together, share)
    if share + deviation >= 1:
        return None
    low, high = max(0.0, share - deviation), share + deviation
    return histogram_percentile_s(together, low), histogram_percentile_s(together, high)


def _error_of_share(rounds: Sequence[MergedHistogram], together: MergedHistogram, share: float) -> float:
    """Return the standard error of the share of the operations that are at most as slow as the percentile.

    It is at least that of independent operations, since few rounds may agree by chance. The bucket of the percentile
    may have many operations; the error is the larger one of the shares up to this bucket and below it.
    """
    bound, n = together.lower_ns[together.bucket_of(share)], len(rounds)
    variances = [share * (1 - share) / together.total]
    for highest_ns in (bound - 1, bound):
        reached = together.count_up_to(highest_ns) / together.total
        excess = [operations.count_up_to(highest_ns) - reached * operations.total for operations in rounds]
        variances.append(n / (n - 1) * math.fsum(value**2 for value in excess) / together.total**2)
    return math.sqrt(max(variances))
