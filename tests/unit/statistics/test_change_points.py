from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nameplate.statistics.change_points import Array, drifts, levels, moved, residuals, runs
from nameplate.statistics.periodic_dips import periodic_dips

LENGTH = 600


def steady(seed: int, noise: float = 0.02, count: int = LENGTH) -> Array:
    return 50e9 * (1 + noise * np.random.default_rng(seed).normal(size=count))


def detected_dips(values: Array) -> tuple[float, float, float] | None:
    dips = periodic_dips(residuals(values, levels(values)))
    return (dips.shape.period, dips.shape.length, dips.shape.depth) if dips else None


def with_dips(values: Array, period: float, width: int, depth: float, first: int = 4) -> Array:
    result = values.copy()
    for start in np.arange(first, len(values), period).astype(int):
        result[start : start + width] *= 1 - depth
    return result


def test_a_steady_series_has_no_events() -> None:
    for seed in range(5):
        values = steady(seed)
        actual = levels(values)
        residual = residuals(values, actual)
        assert len(actual) == 1
        assert actual[0].value == pytest.approx(50e9, rel=0.01)
        assert periodic_dips(residual) is None
        assert runs(residual) == []


def test_a_slow_drift_has_no_levels() -> None:
    for seed in range(5):
        steps = np.random.default_rng(seed).normal(size=LENGTH + 500)
        drift = np.zeros_like(steps)
        for i in range(1, len(steps)):
            drift[i] = 0.99 * drift[i - 1] + 0.14 * steps[i]
        assert len(levels(50e9 * (1 + 0.03 * drift[500:]))) == 1


@pytest.mark.parametrize("noise", [0.0, 0.003, 0.01])
def test_a_line_has_a_drift_and_no_levels(noise: float) -> None:
    values = np.linspace(1, 0.6, 240) * steady(1, noise, 240)
    (level,) = levels(values)
    (drift,) = drifts(values, [level])
    assert drift.start <= 12
    assert drift.end >= 228
    assert drift.change == pytest.approx(-0.4, abs=0.03)
    ((start, end),) = drift.inside
    assert start == pytest.approx(120, abs=12)
    assert end == 240


def test_noise_alone_has_no_drift() -> None:
    for seed in range(10):
        values = steady(seed, 0.3, 240)
        assert drifts(values, levels(values)) == []


def test_a_dip_at_the_end_does_not_pull_the_trend_down() -> None:
    values = np.ones(120)
    values[0] = values[-1] = 0.5
    assert residuals(values, levels(values)) == pytest.approx(values - 1)


@pytest.mark.parametrize("noise", [0.02, 0.05])
@pytest.mark.parametrize(("period", "width"), [(60, 1), (60, 3), (30, 2), (7.3, 1), (7.3, 2)])
def test_periodic_dips_are_found_with_period_width_and_depth(period: float, width: int, noise: float) -> None:
    actual = detected_dips(with_dips(steady(3, noise), period, width, 0.12))
    assert actual is not None
    assert actual[0] == pytest.approx(period, rel=0.01)
    assert actual[1] == pytest.approx(width, abs=0.6)
    assert actual[2] == pytest.approx(0.12, abs=0.04)


def test_dips_are_found_on_both_sides_of_a_level_change() -> None:
    values = with_dips(steady(5, 0.015), 60, 1, 0.12)
    values[350:] *= 0.75
    actual = levels(values)
    assert [level.start for level in actual] == [0, pytest.approx(350, abs=1)]
    assert actual[1].value / actual[0].value == pytest.approx(0.75, abs=0.02)
    period, width, depth = detected_dips(values) or (0.0, 0.0, 0.0)
    assert period == pytest.approx(60, rel=0.01)
    assert width == pytest.approx(1, abs=0.2)
    assert depth == pytest.approx(0.12, abs=0.03)


def test_a_single_dip_and_a_single_burst_stand_out() -> None:
    values = steady(6)
    values[100:102] *= 0.7
    values[300] *= 1.4
    dip, burst = runs(residuals(values, levels(values)))
    assert (dip.start, dip.end) == (100, 102)
    assert dip.change == pytest.approx(-0.3, abs=0.04)
    assert (burst.start, burst.end) == (300, 301)
    assert burst.change == pytest.approx(0.4, abs=0.05)
    assert runs(residuals(values, levels(values)), apart=[100, 101, 300]) == []


def test_a_few_values_or_a_constant_have_no_events() -> None:
    for values in (np.ones(600), np.arange(1.0, 11.0), np.zeros(100)):
        residual = residuals(values, levels(values))
        assert len(levels(values)) == 1
        assert periodic_dips(residual) is None
        assert runs(residual) == []


def test_conditions_that_change_with_an_event_are_distinguished_from_others() -> None:
    random = np.random.default_rng(1)
    inside = [(13 + 60 * k, 14 + 60 * k) for k in range(10)]
    steal = random.choice([0.0, 0.01], LENGTH)
    other = random.choice([0.0, 0.01], LENGTH)
    for start, end in inside:
        steal[start:end] = 0.38
    assert moved(steal, inside, 6)
    assert not moved(other, inside, 6)
    assert not moved(np.ones(LENGTH), inside, 6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1e12, allow_subnormal=False), min_size=1, max_size=150))
def test_any_series_is_divided_into_levels(values: list[float]) -> None:
    series = np.array(values)
    actual = levels(series)
    assert actual[0].start == 0
    assert actual[-1].end == len(series)
    assert all(a.end == b.start for a, b in pairwise(actual))
    residual = residuals(series, actual)
    assert np.isfinite(residual).all()
    for run in runs(residual):
        assert 0 <= run.start < run.end <= len(series)
