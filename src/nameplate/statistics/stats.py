"""Basic statistics of samples and rounds. Pure functions."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from nameplate.records.result import Interval
from nameplate.records.run_record import Histogram
from nameplate.statistics.constants import MAD_TO_SD, MEDIAN_TO_MEAN_ERROR

CONFIDENCE = 0.95
# With fewer values, nothing is known about their spread.
_MIN_VALUES_OF_ERROR = 3


def median(values: Sequence[float]) -> float:
    """Return the median of one or more values: for an even number, the mean of the two middle ones.

    Raises:
        ValueError: there are no values.
    """
    return statistics.median(values)


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the exact confidence interval of the median from order statistics, for any distribution.

    ``values`` may be in any order. ``confidence`` is a probability (0 to 1). The median of n independent values is
    between the k-th smallest and the k-th largest with probability 1 − 2·P(Binomial(n, ½) < k) (Conover, Practical
    Nonparametric Statistics, 3.2; the interval of the sign test). The narrowest such interval whose ``coverage`` is at
    least ``confidence`` is returned: for six values minimum to maximum, 96.9 %. If not even minimum to maximum covers
    ``confidence``, as with fewer than six values at 95 %, or if there are no values, the result is None.
    """
    rank, coverage = _narrowest_rank(len(values), confidence)
    if not rank:
        return None
    ordered = sorted(values)
    return Interval(ordered[rank - 1], ordered[len(ordered) - rank], coverage)


@cache
def _narrowest_rank(count: int, confidence: float) -> tuple[int, float]:
    """Return the largest k whose interval of ``count`` values covers ``confidence``, and its coverage; k is 0 if none.

    The median of 10,000 machines takes 20 ms, and many metrics of a fleet have as many values.
    """
    best = (0, 0.0)
    tail, combinations = 0.0, 1
    for k in range(1, count // 2 + 1):
        tail += combinations / 2**count
        coverage = 1 - 2 * tail
        if coverage < confidence:
            break
        best = (k, coverage)
        combinations = combinations * (count - k + 1) // k
    return best


def relative_half_width(values: Sequence[float]) -> float | None:
    """Return half the width of the median's 95 % interval as a share of the median (0.02 is ±2 %).

    The result is None with fewer than six values, or if the median is 0.
    """
    interval = median_interval(values)
    middle = median(values) if values else 0.0
    if interval is None or middle == 0:
        return None
    return (interval.high - interval.low) / 2 / abs(middle)


def median_error(values: Sequence[float]) -> float | None:
    """Return the standard error of the median as a share of the median (0.02 is 2 %), from the spread of the values.

    The standard deviation is estimated from the median absolute deviation, which single outliers do not change. The
    result is None with fewer than three values, or if the median is 0.
    """
    if len(values) < _MIN_VALUES_OF_ERROR:
        return None
    middle = median(values)
    if middle == 0:
        return None
    deviation = MAD_TO_SD * median([abs(value - middle) for value in values])
    return MEDIAN_TO_MEAN_ERROR * deviation / math.sqrt(len(values)) / abs(middle)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest of the values that at least ``share`` (0 to 1) of the values do not exceed.

    This is the nearest-rank percentile, without interpolation. ``values`` may be in any order; ``share`` 0 gives the
    minimum, 1 the maximum.

    Raises:
        IndexError: there are no values.
    """
    ordered = sorted(values)
    rank = max(1, math.ceil(share * len(ordered) - 1e-9))
    return ordered[rank - 1]


class MergedHistogram(NamedTuple):
    """The operations of one or more histograms by the time that they took.

    ``lower_ns`` has the lower bound of each bucket in nanoseconds, ascending. ``up_to`` has, for each bucket, the
    number of operations in this bucket and in all faster ones. Both are empty if there are no buckets.
    """

    lower_ns: Sequence[int]
    up_to: Sequence[int]

    @property
    def total(self) -> int:
        """Return the number of operations."""
        return self.up_to[-1] if self.up_to else 0

    def count_up_to(self, lower_ns: int) -> int:
        """Return the number of operations in the buckets whose lower bound is at most ``lower_ns`` nanoseconds."""
        index = bisect_right(self.lower_ns, lower_ns)
        return self.up_to[index - 1] if index else 0

    def bucket_of(self, share: float) -> int:
        """Return the index of the bucket with the operation of the nearest rank to ``share`` (0 to 1).

        Raises:
            ValueError: there are no operations.
        """
        if not self.total:
            raise ValueError("a histogram without operations has no percentile")
        # The product of a share and more than 2^53 operations may be rounded up.
        rank = min(max(1, math.ceil(share * self.total - 1e-9)), self.total)
        return bisect_left(self.up_to, rank)


def merged(histograms: Sequence[Histogram]) -> MergedHistogram:
    """Return the sum of histograms, whose buckets may be in any order."""
    if len(histograms) == 1 and sorted(histograms[0].lower_ns) == histograms[0].lower_ns:  # of a sample
        return MergedHistogram(histograms[0].lower_ns, list(accumulate(histograms[0].count)))
    counts: dict[int, int] = {}
    for histogram in histograms:
        for lower_ns, count in zip(histogram.lower_ns, histogram.count, strict=True):
            counts[lower_ns] = counts.get(lower_ns, 0) + count
    return _ascending(counts)


def pooled(rounds: Sequence[MergedHistogram]) -> MergedHistogram:
    """Return the operations of several rounds together."""
    counts: dict[int, int] = {}
    for operations in rounds:
        before = 0
        for lower_ns, up_to in zip(operations.lower_ns, operations.up_to, strict=True):
            counts[lower_ns] = counts.get(lower_ns, 0) + up_to - before
            before = up_to
    return _ascending(counts)


def _ascending(counts: Mapping[int, int]) -> MergedHistogram:
    bounds = sorted(counts)
    return MergedHistogram(bounds, list(accumulate(counts[bound] for bound in bounds)))


def histogram_percentile_s(operations: MergedHistogram, share: float) -> float:
    """Return the time in seconds that ``share`` (0 to 1) of the operations do not exceed (nearest rank).

    The result is the middle of the bucket that has the operation of that rank; share 0 gives the first bucket with
    operations, 1 the last. The width of a bucket is 1/256 of the power of two at or below its lower bound, and at least
    1 ns.

    Raises:
        ValueError: there are no operations.
    """
    lower_ns = operations.lower_ns[operations.bucket_of(share)]
    width_ns = 1 << max(0, lower_ns.bit_length() - 9)
    return (lower_ns + (width_ns - 1) / 2) * 1e-9


STEADY_ROUNDS = 5
STEADY_RANGE, STEADY_SLOPE = 0.2, 0.1


def is_steady(values: Sequence[float]) -> bool | None:
    """Return whether the last five values are in a steady state; None with fewer than five values.

    ``values`` are in order of time and not negative. Steady is as in the SNIA Solid State Storage Performance Test
    Specification: the range of the five values is at most 20 % of their mean, and the line fitted to them changes by at
    most 10 % of the mean between the first and the last.
    """
    window = values[-STEADY_ROUNDS:]
    if len(window) < STEADY_ROUNDS:
        return None
    mean = statistics.fmean(window)
    slope, _ = statistics.linear_regression(range(STEADY_ROUNDS), window)
    excursion = abs(slope) * (STEADY_ROUNDS - 1)
    return max(window) - min(window) <= STEADY_RANGE * mean and excursion <= STEADY_SLOPE * mean


def reached_by(values: Sequence[float], share: float, higher_is_better: bool) -> float:
    """Return the value that ``share`` (0 to 1) of the values reach or surpass in quality (nearest rank).

    If ``higher_is_better``, this share of the values is at least the result; otherwise it is at most the result. Share
    0.95 thus gives the p95 of a latency and the corresponding lower bound of a rate.

    Raises:
        IndexError: there are no values.
    """
    if higher_is_better:
        return -percentile([-value for value in values], share)
    return percentile(values, share)
