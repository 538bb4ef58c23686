"""Basic statistics of samples and rounds. Pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from nameplate.records.model import Histogram, Interval

CONFIDENCE = 0.95


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the exact interval for the median from order statistics, without assuming a distribution.

    The median of n independent values is between the k-th smallest and the k-th largest with probability 1 −
    2·P(Binomial(n, ½) < k) (Conover, Practical Nonparametric Statistics, 3.2; the interval of the sign test). The
    narrowest one that covers at least ``confidence`` is returned: for six values minimum to maximum, 96.9 %. With fewer
    than six values not even minimum to maximum covers 95 %, and the result is None.
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
    """Return half the median's interval divided by the median, for comparison with ``--precision``; None without
    interval.
    """
    interval = median_interval(values)
    middle = median(values) if values else 0.0
    if interval is None or middle == 0:
        return None
    return (interval.high - interval.low) / 2 / abs(middle)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed (nearest rank, always one of
    them).
    """
    ordered = sorted(values)
    rank = max(1, math.ceil(share * len(ordered) - 1e-9))
    return ordered[rank - 1]


def merged(histograms: Iterable[Histogram]) -> dict[int, int]:
    """Return the counts of all histograms together, by lower bound of the bucket in nanoseconds."""
    counts: dict[int, int] = {}
    for histogram in histograms:
        for lower_ns, count in zip(histogram.lower_ns, histogram.count, strict=True):
            counts[lower_ns] = counts.get(lower_ns, 0) + count
    return dict(sorted(counts.items()))


def histogram_percentile_s(counts: Mapping[int, int], share: float) -> float:
    """Return the time in seconds that ``share`` of the operations do not exceed (nearest rank): the middle of its
    bucket.

    ``counts`` are by lower bound in nanoseconds, ascending; a bucket's width is 1/256 of its power of two.
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
    """Return whether the last five values are in a steady state; None with fewer values.

    By the SNIA Solid State Storage Performance Test Specification, their range is at most 20 % of their mean, and the
    fitted line rises or falls by at most 10 % of it from the first to the last.
    """
    window = values[-STEADY_ROUNDS:]
    if len(window) < STEADY_ROUNDS:
        return None
    mean = statistics.fmean(window)
    slope, _ = statistics.linear_regression(range(STEADY_ROUNDS), window)
    excursion = abs(slope) * (STEADY_ROUNDS - 1)
    return max(window) - min(window) <= STEADY_RANGE * mean and excursion <= STEADY_SLOPE * mean


def reached_by(values: Sequence[float], share: float, higher_is_better: bool) -> float:
    """Return the value that ``share`` of the values reach or exceed in quality: p95 of a rate as of a latency."""
    if higher_is_better:
        return -percentile([-value for value in values], share)
    return percentile(values, share)
