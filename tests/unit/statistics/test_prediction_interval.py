"""Predictions of one further value: their coverage, and what the parts of the width do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nameplate.statistics.prediction_interval import prediction_interval

OUTSIDE = 0.01
TYPICAL = (0.05, 3.0)


@pytest.mark.parametrize("count", [4, 10, 50])
def test_a_further_value_is_outside_as_often_as_asked(count: int) -> None:
    rng = np.random.default_rng(count)
    below = above = 0
    cases = 4000
    for _ in range(cases):
        *values, further = rng.normal(0.0, TYPICAL[0], count + 1)
        low, _, high = prediction_interval(values, OUTSIDE, TYPICAL)
        below += further < low
        above += further > high
    # The median is less certain than the mean, so a few more are outside.
    assert 0.002 < below / cases < 0.02
    assert 0.002 < above / cases < 0.02


def test_each_side_has_its_own_spread() -> None:
    low, middle, high = prediction_interval([0.0, 0.0, 0.0, 0.01, -0.5, -0.4, 0.01], OUTSIDE, TYPICAL)
    assert middle == 0.0
    assert middle - low > 2 * (high - middle)


def test_a_single_value_has_the_usual_spread_twice() -> None:
    low, middle, high = prediction_interval([1.0], OUTSIDE, (0.1, 1000.0), center=1.0)
    assert middle == 1.0
    assert middle - low == pytest.approx(2.33 * 0.1 * math.sqrt(2), rel=0.01)
    assert high - middle == pytest.approx(middle - low)


def test_a_certain_error_is_added() -> None:
    without, _, _ = prediction_interval([0.0, 0.01, -0.01, 0.0], OUTSIDE, TYPICAL)
    low, _, _ = prediction_interval([0.0, 0.01, -0.01, 0.0], OUTSIDE, TYPICAL, error=1.0)
    assert low < 10 * without


def test_the_center_moves_the_interval_and_not_the_spread() -> None:
    values = [0.0, 0.1, -0.1, 0.05]
    low, middle, high = prediction_interval(values, OUTSIDE, TYPICAL, center=0.3)
    other_low, _, other_high = prediction_interval(values, OUTSIDE, TYPICAL, center=0.0)
    assert middle == 0.3
    assert (low - 0.3, high - 0.3) == pytest.approx((other_low, other_high))
