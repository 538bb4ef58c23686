"""Statistics of a verdict. Pure functions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from nameplate.model import Interval

CONFIDENCE = 0.95


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The exact interval for the median from order statistics: no distribution is assumed.

    Of n independent values the median lies between the k-th smallest and the k-th largest with probability
    1 − 2·P(Binomial(n, ½) < k) (Conover, Practical Nonparametric Statistics, 3.2; the sign test's interval). The
    narrowest that covers at least ``confidence`` is returned: for six values minimum to maximum, 96.9 %. None below
    six values at 95 %, since not even minimum to maximum covers that much.
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
    """Half the median's interval over the median: what ``--precision`` is compared with. None without an interval."""
    interval = median_interval(values)
    middle = median(values) if values else 0.0
    if interval is None or middle == 0:
        return None
    return (interval.high - interval.low) / 2 / abs(middle)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of the values do not exceed (nearest rank: always one of them)."""
    ordered = sorted(values)
    rank = max(1, math.ceil(share * len(ordered) - 1e-9))
    return ordered[rank - 1]


def reached_by(values: Sequence[float], share: float, higher_is_better: bool) -> float:
    """What ``share`` of the values at least reach, counted from the good end: p95 of a rate as of a latency."""
    if higher_is_better:
        return -percentile([-value for value in values], share)
    return percentile(values, share)
