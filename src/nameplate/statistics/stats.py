"""Basic statistics of samples and rounds. Pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from nameplate.records.result import Interval
from nameplate.records.run_record import Histogram

CONFIDENCE = 0.95


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
    ordered = sorted(values)
    count = len(ordered)
    best = None
    tail = 0.0
    for k in range(1, count // 2 + 1):
        tail += math.comb(count, k - 1) / 2**count
        coverage = 1 - 2 * tail
        if coverage < confidence:
            break
        best = Interval(ordered[k - 1], ordered[count - k], coverage)
    return best


def relative_half_width(values: Sequence[float]) -> float | None:
    """Return half the width of the median's 95 % interval as a share of the median (0.02 is ±2 %).

    The result is compared with the share that ``--precision`` sets. It is None if there are fewer than six values or if
    the median is 0.
    """
    interval = median_interval(values)
    middle = median(values) if values else 0.0
    if interval is None or middle == 0:
        return None
    return (interval.high - interval.low) / 2 / abs(middle)


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


def merged(histograms: Iterable[Histogram]) -> dict[int, int]:
    """Return the sum of the histograms: lower bound of each bucket in nanoseconds → number of operations.

    The keys ascend, as ``histogram_percentile_s`` needs them. Without histograms the result is empty.
    """
    counts: dict[int, int] = {}
    for histogram in histograms:
        for lower_ns, count in zip(histogram.lower_ns, histogram.count, strict=True):
            counts[lower_ns] = counts.get(lower_ns, 0) + count
    return dict(sorted(counts.items()))


def histogram_percentile_s(counts: Mapping[int, int], share: float) -> float:
    """Return the time in seconds that ``share`` (0 to 1) of the operations do not exceed (nearest rank).

    ``counts`` maps the lower bound of each bucket in nanoseconds to the number of operations in it, at least 1, in
    ascending order, as ``merged`` returns it. The result is the middle of the bucket that has the operation of that
    rank; share 0 gives the first bucket, 1 the last. The width of a bucket is 1/256 of the power of two at or below its
    lower bound, and at least 1 ns.

    Raises:
        ValueError: ``counts`` is empty.
    """
    total = sum(counts.values())
    # The product of a share and more than 2^53 operations may be rounded up.
    rank = min(max(1, math.ceil(share * total - 1e-9)), total)
    for lower_ns, count in counts.items():
        rank -= count
        if rank <= 0:
            width_ns = 1 << max(0, lower_ns.bit_length() - 9)
            return (lower_ns + (width_ns - 1) / 2) * 1e-9
    raise ValueError("a histogram without operations has no percentile")


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
