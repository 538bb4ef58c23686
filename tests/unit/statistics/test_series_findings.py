from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nameplate.statistics.change_points import LIMIT, LIMIT_SINGLE, Array
from nameplate.statistics.dip_shape import DipShape
from nameplate.statistics.series_findings import Findings, find_events, is_sensitive

Source = np.random.Generator
N_SERIES = 6


def bursts(source: Source, count: int) -> Array:
    lost = np.where(source.random(count) < 0.3, np.minimum(0.95, 0.1 * (1 + source.pareto(1.5, count))), 0)
    return 1 - lost + 0.01 * source.normal(size=count)


def wandering(source: Source, count: int) -> Array:
    """Return rates between about 0.06 and 6, from an AR(1) process with the coefficient 0.9."""
    values = source.normal(size=count)
    for index in range(1, count):
        values[index] = 0.9 * values[index - 1] + 0.44 * values[index]
    rates: Array = 6 * np.exp(-np.abs(1.5 * values))
    return rates


def findings_in(base: Callable[[Source, int], Array], depth: float, steps_a_second: int, seed: int) -> Findings:
    """Return the findings in a minute with dips of 1 s every 10 s at a random phase."""
    source, count = np.random.default_rng(seed), 60 * steps_a_second
    start = source.random() * 10 * steps_a_second
    cover = DipShape(10.0 * steps_a_second, start, steps_a_second, depth).cover(count)
    return find_events(base(source, count) * (1 - depth * cover))


def quiet(noise: float) -> Callable[[Source, int], Array]:
    return lambda source, count: 1 + noise * source.normal(size=count)


@pytest.mark.parametrize("noise", [0.003, 0.01])
@pytest.mark.parametrize("depth", [0.12, 0.5])
def test_a_dip_of_1_s_in_intervals_of_half_a_second_lasts_1_s(depth: float, noise: float) -> None:
    for seed in range(N_SERIES):
        dips = findings_in(quiet(noise), depth, 2, seed).dips
        assert dips is not None
        assert dips.shape.period / 2 == pytest.approx(10, rel=0.01)
        assert dips.shape.length / 2 == pytest.approx(1, abs=0.15 if noise * 20 < depth else 0.55)
        assert dips.shape.length * dips.shape.depth / 2 == pytest.approx(depth, rel=0.25)


@pytest.mark.parametrize("depth", [0.12, 0.5])
def test_a_dip_of_an_interval_is_found_wherever_it_begins(depth: float) -> None:
    for seed in range(N_SERIES):
        dips = findings_in(quiet(0.003), depth, 1, seed).dips
        assert dips is not None
        assert dips.shape.period == pytest.approx(10, rel=0.02)
        assert dips.shape.length * dips.shape.depth == pytest.approx(depth, rel=0.25)


@pytest.mark.parametrize("noise", [0.003, 0.01])
def test_a_quiet_series_is_steady_and_would_have_shown_relevant_events(noise: float) -> None:
    for seed in range(N_SERIES):
        actual = findings_in(quiet(noise), 0, 2, seed)
        assert actual.verdict == "steady"
        assert is_sensitive(actual.sensitivity)
        assert actual.sensitivity.spread == pytest.approx(1.64 * noise, rel=0.5)


@pytest.mark.parametrize("base", [bursts, wandering, quiet(0.1)])
@pytest.mark.parametrize("depth", [0, 0.12, 0.5])
def test_a_noisy_series_is_never_steady(base: Callable[[Source, int], Array], depth: float) -> None:
    for seed in range(N_SERIES):
        actual = findings_in(base, depth, 1 + seed % 2, seed)
        assert actual.verdict != "steady"
        assert not is_sensitive(actual.sensitivity)


def test_a_falling_line_drifts_and_is_not_steady() -> None:
    for seed in range(N_SERIES):
        actual = findings_in(
            lambda source, count: np.linspace(1, 0.6, count) + 0.003 * source.normal(size=count), 0, 2, seed
        )
        assert (len(actual.drifts), len(actual.levels), actual.dips, actual.runs) == (1, 1, None, [])
        assert actual.verdict == "events"


def test_a_dip_of_the_stated_depth_would_have_been_found() -> None:
    revealed = 0
    for seed in range(N_SERIES):
        base = 1 + 0.02 * np.random.default_rng(seed).normal(size=120)
        depth = find_events(base).sensitivity.dips
        assert depth is not None
        cover = DipShape(10.0, 3.3 + 0.8 * seed, 1.0, depth).cover(120)
        revealed += find_events(base * (1 - 1.2 * depth * cover)).dips is not None
    assert revealed >= N_SERIES - 1


def test_dips_that_leave_no_undisturbed_interval_are_events_too() -> None:
    actual = find_events(np.tile([0.5, 1.0, 1.0, 1.0, 0.5], 24) + 0.01 * np.random.default_rng(3).standard_normal(120))
    assert actual.dips is not None
    assert actual.dips.shape.period == pytest.approx(5, rel=0.03)
    assert actual.sensitivity.spread > 0
    assert actual.sensitivity.dips is None


def test_a_series_of_zeros_hides_everything_and_a_constant_one_nothing() -> None:
    assert find_events(np.zeros(100)).verdict == "too noisy"
    assert find_events(np.ones(100)).verdict == "steady"
    assert find_events(-np.ones(100)).verdict == "steady"


def test_the_limits_agree_with_the_documentation() -> None:
    assert (LIMIT, LIMIT_SINGLE) == (0.10, 0.50)
