"""Optimal partitioning finds the cheapest of all divisions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from nameplate.statistics.optimal_partition import segment_ends


def divisions(count: int, min_size: int) -> Iterator[list[int]]:
    """Yield the ends of the segments of every division into segments of at least ``min_size`` values."""
    yield [count]
    for first in range(min_size, count - min_size + 1):
        yield from ([first, *(first + end for end in rest)] for rest in divisions(count - first, min_size))


def cost(values: npt.NDArray[np.float64], ends: list[int], penalty: float) -> float:
    segments = np.split(values, ends[:-1])
    return sum(float(np.sum((segment - segment.mean()) ** 2)) + penalty for segment in segments)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("min_size", [1, 2, 4])
def test_no_division_is_cheaper(seed: int, min_size: int) -> None:
    random = np.random.default_rng(seed)
    values = 1e6 + random.normal(size=13) + 3 * (np.arange(13) > random.integers(13))
    penalty = float(random.uniform(0.1, 4))
    actual = segment_ends(values, penalty, min_size)
    assert min(np.diff([0, *actual])) >= min_size
    cheapest = min(cost(values, ends, penalty) for ends in divisions(13, min_size))
    assert cost(values, actual, penalty) == pytest.approx(cheapest, rel=1e-6)


def test_steps_are_found_where_they_are() -> None:
    values = np.repeat([1.0, 5.0, 2.0], [300, 450, 750])
    assert segment_ends(values, penalty=1.0, min_size=10) == [300, 750, 1500]


@pytest.mark.parametrize("count", [1, 4, 9])
def test_a_short_sequence_is_one_segment(count: int) -> None:
    assert segment_ends(np.arange(float(count)) * 100, penalty=0.1, min_size=5) == [count]
