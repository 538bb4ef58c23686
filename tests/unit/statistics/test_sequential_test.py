from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nameplate.statistics import t_test
from nameplate.statistics.difference import Difference, judge_differences
from nameplate.statistics.sequential_test import SCALES, half_width, p_value
from nameplate.statistics.two_samples import Rounds, judge

# With this many degrees of freedom, Student's t is the normal distribution.
MANY = 1e9


def test_the_evidence_is_the_mean_ratio_of_the_likelihoods() -> None:
    error, difference = 0.02, 0.06

    def density(variance: float) -> float:
        return math.exp(-(difference**2) / (2 * variance)) / math.sqrt(variance)

    ratios = [density(error**2 + scale**2) / density(error**2) for scale in SCALES]
    assert p_value(difference, error, MANY) == pytest.approx(len(SCALES) / sum(ratios), rel=1e-6)
    assert p_value(-difference, error, MANY) == p_value(difference, error, MANY)
    assert p_value(0.0, error, MANY) == 1.0


@pytest.mark.parametrize("freedom", [4, 9, 50, MANY])
@pytest.mark.parametrize("error", [0.001, 0.01, 0.1, 0.5])
def test_the_interval_ends_where_the_p_value_is_its_risk(error: float, freedom: float) -> None:
    half = half_width(error, freedom, 0.99)
    assert p_value(half, error, freedom) == pytest.approx(0.01, rel=1e-4)
    assert half_width(error, freedom, 0.9) < half


def test_an_error_near_zero_decides_at_once_and_a_large_one_never() -> None:
    assert p_value(0.05, 1e-6, MANY) < 1e-100
    assert p_value(0.05, 10.0, MANY) > 0.9
    assert half_width(100.0, 4, 0.99) == math.inf


def is_ever_significant(rounds: np.ndarray, test: Callable[[float, float, float], float]) -> bool:
    """Return whether the p-value is at most 1 % after any round from the fifth on."""
    return any(
        test(float(seen.mean()), float(seen.std(ddof=1)) / math.sqrt(len(seen)), len(seen) - 1) <= 0.01
        for seen in (rounds[:n_rounds] for n_rounds in range(5, len(rounds) + 1))
    )


@pytest.mark.parametrize("deviation", [0.01, 0.1])
def test_looking_after_every_round_does_not_raise_the_error_rate(deviation: float) -> None:
    source = np.random.default_rng(3)
    unchanged = [source.normal(0, deviation, 60) for _ in range(300)]
    assert sum(is_ever_significant(rounds, p_value) for rounds in unchanged) <= 5
    by_t = sum(is_ever_significant(rounds, t_test.p_value) for rounds in unchanged)
    assert by_t >= 15


def test_a_change_is_found_in_sequence() -> None:
    base = [100.0, 100.4, 99.7, 100.1, 99.9, 100.2]
    same = judge([Rounds(base, base, "higher", is_sequential=True)])[0]
    slower = judge([Rounds(base, [0.95 * value for value in base], "higher", is_sequential=True)])[0]
    assert (same.verdict, slower.verdict) == ("SAME", "SLOWER")
    assert slower.ratio == pytest.approx(0.95)
    assert slower.ci is not None
    at_once = judge([Rounds(base, [0.95 * value for value in base], "higher")])[0]
    assert at_once.ci is not None
    assert slower.ci[0] < at_once.ci[0]
    assert at_once.ci[1] < slower.ci[1]


def test_too_few_rounds_decide_nothing_in_sequence() -> None:
    actual = judge([Rounds([1.0] * 4, [2.0] * 9, "higher", is_sequential=True)])[0]
    assert (actual.verdict, actual.ci) == ("UNSURE", None)


def test_a_round_beyond_all_bounds_gives_no_interval() -> None:
    steady = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0]
    actual = judge([Rounds(steady, [*steady[:5], 1e5], "lower", is_sequential=True)])[0]
    assert (actual.verdict, actual.ci) == ("UNSURE", None)
    for error in (1.5, 2.0, 3.0, 50.0):
        wide = Difference(0.1, error, 4, "lower", 6, is_sequential=True)
        assert judge_differences([wide])[0].verdict == "UNSURE"


def test_a_number_of_rounds_is_given_only_if_somebody_could_measure_them() -> None:
    (actual,) = judge_differences([Difference(0.01, 1.0, 40, "lower", 6)])
    assert actual.reason == "more than 1000 rounds of each would be needed"
