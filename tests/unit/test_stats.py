"""The statistics of a verdict."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameplate.stats import median_interval, percentile, reached_by, relative_half_width

VALUES = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("count", "low", "high", "coverage"),
    # Exact tables of the sign test's interval (Conover 1999, table A3).
    [(6, 1, 6, 0.96875), (8, 1, 8, 0.9921875), (9, 2, 8, 0.9609375), (10, 2, 9, 0.978515625), (20, 6, 15, 0.9586105)],
)
def test_the_interval_is_exact(count: int, low: int, high: int, coverage: float) -> None:
    interval = median_interval(range(1, count + 1))
    assert interval is not None
    assert (interval.low, interval.high) == (low, high)
    assert interval.coverage == pytest.approx(coverage)


def test_five_values_are_too_few() -> None:
    assert median_interval([1, 2, 3, 4, 5]) is None
    assert relative_half_width([1, 2, 3, 4, 5]) is None


def test_the_interval_covers_as_often_as_it_says() -> None:
    source = random.Random(1)
    trials = 20_000
    hits = 0
    for _ in range(trials):
        interval = median_interval([source.lognormvariate(0, 1) for _ in range(9)])
        assert interval is not None
        hits += interval.low <= 1 <= interval.high
    assert hits / trials == pytest.approx(0.9609, abs=0.005)


@given(VALUES)
def test_the_interval_is_made_of_values_around_the_median(values: list[float]) -> None:
    interval = median_interval(values)
    if interval is None:
        assert len(values) < 6
    else:
        ordered = sorted(values)
        assert interval.low in ordered
        assert interval.high in ordered
        assert interval.low <= ordered[len(values) // 2] <= interval.high
        assert interval.coverage >= 0.95


@given(VALUES, st.sampled_from([0.5, 0.95, 0.99]))
def test_a_percentile_is_reached_by_its_share(values: list[float], share: float) -> None:
    value = percentile(values, share)
    assert value in values
    assert sum(v <= value for v in values) >= share * len(values) - 1e-9


def test_percentiles_count_from_the_good_end() -> None:
    values = list(range(1, 101))
    assert reached_by(values, 0.95, higher_is_better=False) == 95
    assert reached_by(values, 0.95, higher_is_better=True) == 6


def test_half_width() -> None:
    assert relative_half_width([98, 99, 100, 100, 101, 102]) == pytest.approx(0.02)
