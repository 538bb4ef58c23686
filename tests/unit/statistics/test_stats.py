"""The statistics behind a verdict."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameplate.records.run_record import Histogram
from nameplate.statistics.stats import (
    histogram_percentile_s,
    is_steady,
    median_interval,
    merged,
    percentile,
    reached_by,
    relative_half_width,
)

VALUES = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("count", "low", "high", "coverage"),
    # Exact tables of the interval of the sign test (Conover 1999, table A3).
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


def test_the_interval_covers_at_its_confidence_level() -> None:
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
def test_a_percentile_is_the_value_reached_by_its_share(values: list[float], share: float) -> None:
    value = percentile(values, share)
    assert value in values
    assert sum(v <= value for v in values) >= share * len(values) - 1e-9


def test_percentiles_count_from_the_better_end() -> None:
    values = list(range(1, 101))
    assert reached_by(values, 0.95, higher_is_better=False) == 95
    assert reached_by(values, 0.95, higher_is_better=True) == 6


def test_half_width() -> None:
    assert relative_half_width([98, 99, 100, 100, 101, 102]) == pytest.approx(0.02)


def test_histograms_add_up_bucket_by_bucket() -> None:
    counts = merged([Histogram([100, 512], [3, 1]), Histogram([50, 512], [1, 2])])
    assert counts == ([50, 100, 512], [1, 4, 7])
    assert merged([Histogram([512, 100], [3, 1])]) == ([100, 512], [1, 4]), "another program may not have sorted it"
    assert merged([]).total == 0


def test_a_percentile_of_a_histogram_is_the_middle_of_its_bucket() -> None:
    counts = merged([Histogram([100, 1024, 1 << 20], [50, 49, 1])])
    assert histogram_percentile_s(counts, 0.5) == pytest.approx(100e-9)
    assert histogram_percentile_s(counts, 0.51) == pytest.approx(1025.5e-9)
    assert histogram_percentile_s(counts, 1.0) == pytest.approx(((1 << 20) + 2047.5) * 1e-9)
    with pytest.raises(ValueError, match="without operations has no percentile"):
        histogram_percentile_s(merged([Histogram([100], [0])]), 0.5)


@given(st.lists(st.integers(256, 10**9), min_size=1, max_size=200), st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_a_bucket_is_at_most_two_fifths_of_a_percent_from_the_value(times_ns: list[int], share: float) -> None:
    def lower(value: int) -> int:
        shift = value.bit_length() - 9
        return value >> shift << shift

    counts = merged([Histogram([lower(value)], [1]) for value in times_ns])
    assert histogram_percentile_s(counts, share) == pytest.approx(percentile(times_ns, share) * 1e-9, rel=0.004)


def test_steady_state_follows_the_definition_of_snia() -> None:
    assert is_steady([1, 1, 1, 1]) is None
    assert is_steady([5, 5, 1, 1.02, 1, 0.99, 1]) is True, "only the last five count"
    assert is_steady([1, 1.3, 1, 1, 1]) is False, "the range is above 20 %"
    assert is_steady([1, 1.04, 1.08, 1.12, 1.16]) is False, "it rises by more than 10 %"
