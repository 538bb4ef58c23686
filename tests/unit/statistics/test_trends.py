"""Changes of a metric from run to run: known steps and drifts in known noise, and none where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameplate.statistics.trends import MIN_LASTING, MIN_RUNS, Drift, Floats, Step, find_trend

RUNS = 40
Noise = Callable[[np.random.Generator, int], Floats]

NOISES: dict[str, Noise] = {
    "normal": lambda source, runs: 0.01 * source.standard_normal(runs),
    "heavy tail": lambda source, runs: 0.007 * source.standard_t(2, runs),
    "two modes": lambda source, runs: 0.005 * source.standard_normal(runs) - 0.02 * (source.random(runs) < 0.3),
    "single bad runs": lambda source, runs: 0.01 * source.standard_normal(runs) - 0.3 * (source.random(runs) < 0.03),
}


def days(runs: int) -> Floats:
    return np.arange(runs, dtype=np.float64)


def findings_in(logs: Floats) -> list[Step] | Drift:
    return find_trend(np.exp(logs), days(len(logs)))


def steps_in(logs: Floats) -> list[Step]:
    actual = findings_in(logs)
    assert isinstance(actual, list), actual
    return actual


@pytest.mark.parametrize("name", NOISES)
def test_nothing_is_found_in_noise(name: str) -> None:
    source = np.random.default_rng(1)
    wrong = sum(bool(findings_in(NOISES[name](source, runs))) for runs in (8, 20, 40, 200) for _ in range(100))
    assert wrong <= 4


@pytest.mark.parametrize("name", NOISES)
def test_a_step_is_found_where_it_is(name: str) -> None:
    source = np.random.default_rng(2)
    actual = 0
    for _ in range(50):
        logs = NOISES[name](source, RUNS)
        logs[30:] -= 0.1
        cuts = [step.at for step in steps_in(logs)]
        actual += any(abs(cut - 30) <= 1 for cut in cuts)
        assert len(cuts) <= 2
    assert actual >= 45


def test_a_step_has_its_levels_and_their_uncertainty() -> None:
    logs = NOISES["normal"](np.random.default_rng(3), RUNS)
    logs[25:] += math.log(0.9)
    (step,) = steps_in(logs)
    assert step.at == 25
    assert step.after / step.before == pytest.approx(0.9, rel=0.01)
    assert step.probability < 1e-9


def test_two_opposite_steps_are_both_found() -> None:
    logs = 0.003 * np.random.default_rng(4).standard_normal(60)
    logs[20:35] -= 0.06
    assert [step.at for step in steps_in(logs)] == [20, 35]


@pytest.mark.parametrize("bad", [1, MIN_LASTING - 1])
def test_a_change_in_the_last_runs_is_not_yet_a_step(bad: int) -> None:
    logs = 0.003 * np.random.default_rng(5).standard_normal(RUNS)
    logs[-bad:] -= 0.2
    assert findings_in(logs) == []
    logs[-MIN_LASTING:] = -0.2 + 0.003 * np.arange(MIN_LASTING)
    assert [step.at for step in steps_in(logs)] == [RUNS - MIN_LASTING]


def test_a_change_too_small_to_matter_is_ignored() -> None:
    logs = 0.0005 * np.random.default_rng(6).standard_normal(RUNS)
    logs[20:] -= 0.02
    assert findings_in(logs) == []


@pytest.mark.parametrize("name", ["normal", "heavy tail"])
def test_a_drift_is_not_reported_as_steps(name: str) -> None:
    logs = NOISES[name](np.random.default_rng(7), 80) + np.linspace(0, -0.2, 80)
    actual = findings_in(logs)
    assert isinstance(actual, Drift), actual
    assert actual.slope_per_day == pytest.approx(-0.2 / 79, rel=0.1)
    assert actual.after / actual.before == pytest.approx(math.exp(-0.2), rel=0.03)


def test_a_step_is_not_reported_as_a_drift() -> None:
    logs = NOISES["normal"](np.random.default_rng(8), 80)
    logs[40:] -= 0.1
    assert [step.at for step in steps_in(logs)] == [40]


def test_too_few_runs_have_no_trend() -> None:
    assert find_trend([1.0] * (MIN_RUNS // 2) + [0.5] * (MIN_RUNS - 1 - MIN_RUNS // 2), days(7)) == []


def test_equal_runs_have_no_trend() -> None:
    assert findings_in(np.zeros(RUNS)) == []
    logs = np.zeros(RUNS)
    logs[20:] = 0.1
    assert [step.at for step in steps_in(logs)] == [20]


def test_runs_of_the_same_moment_have_no_drift() -> None:
    assert find_trend(np.exp(np.linspace(0, 0.001, RUNS)), np.zeros(RUNS)) == []


@given(st.lists(st.floats(-1, 1), min_size=MIN_RUNS, max_size=60), st.floats(1e-6, 1e12))
def test_the_unit_does_not_matter(logs: list[float], factor: float) -> None:
    # Values whose logarithms agree to the last digit are not part of this test.
    values = np.exp(np.round(logs, 3))
    one, other = find_trend(values, days(len(logs))), find_trend(values * factor, days(len(logs)))
    assert isinstance(one, Drift) == isinstance(other, Drift)
    if isinstance(one, list) and isinstance(other, list):
        assert [step.at for step in one] == [step.at for step in other]
