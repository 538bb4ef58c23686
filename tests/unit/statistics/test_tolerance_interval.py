"""Tolerance intervals: known factors, slow machines, and what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nameplate.statistics.tolerance_interval import MIN_WIDTH, ToleranceInterval, tolerance_interval


def of(logs: np.ndarray[tuple[int], np.dtype[np.float64]], outside: float = 1e-4) -> ToleranceInterval:
    actual = tolerance_interval([[math.exp(value)] for value in logs], outside)
    assert actual is not None
    return actual


# One-sided factors for 99 % of the population with 95 % confidence: Hahn and Meeker 1991, table A.12.
@pytest.mark.parametrize(("machines", "expected"), [(10, 3.981), (20, 3.295), (50, 2.862)])
def test_the_factor_is_that_of_the_tables(machines: int, expected: float) -> None:
    logs = np.linspace(-0.1, 0.1, machines)  # symmetric, without outlying values
    spread = float(np.std(logs, ddof=1))
    actual = of(logs, 0.01)
    assert -math.log(actual.low / actual.typical) / spread == pytest.approx(expected, abs=2e-3)
    assert math.log(actual.high / actual.typical) / spread == pytest.approx(expected, abs=2e-3)


def test_slow_machines_are_left_out_and_do_not_widen_the_range() -> None:
    healthy = np.random.default_rng(1).normal(0, 0.01, 50)
    clean = of(healthy)
    actual = of(np.concatenate([healthy, np.log([0.5, 0.7, 0.8])]))
    assert (actual.machines, actual.left_out) == (50, (50, 51, 52))
    assert actual.low == pytest.approx(clean.low)


def test_the_spread_between_the_runs_of_a_machine_counts() -> None:
    rng = np.random.default_rng(2)
    steady = [[math.exp(v)] * 3 for v in rng.normal(0, 0.01, 40)]
    varying = [[value[0] * math.exp(v) for v in rng.normal(0, 0.05, 3)] for value in steady]
    narrow, wide = tolerance_interval(steady, 1e-4), tolerance_interval(varying, 1e-4)
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low**2


def test_one_bad_run_of_a_healthy_machine_does_not_widen_the_range() -> None:
    rng = np.random.default_rng(3)
    runs = [[math.exp(v + w) for w in rng.normal(0, 0.005, 5)] for v in rng.normal(0, 0.005, 20)]
    clean = tolerance_interval(runs, 1e-4)
    actual = tolerance_interval([[runs[0][0] / 2, *runs[0][1:]], *runs[1:]], 1e-4)
    assert clean is not None
    assert actual is not None
    assert actual.left_out == ()
    assert actual.low == pytest.approx(clean.low, rel=0.01)


def test_values_of_many_orders_of_magnitude_have_no_range() -> None:
    assert tolerance_interval([[1e-5], [1e5]], 1e-4) is None


def test_equal_values_have_the_least_width() -> None:
    actual = of(np.zeros(20))
    assert actual.low == pytest.approx(1 - MIN_WIDTH)
    assert actual.high == pytest.approx(1 / (1 - MIN_WIDTH))


def test_one_machine_has_no_range_and_every_machine_needs_values() -> None:
    assert tolerance_interval([[1.0]], 0.01) is None
    for values in ([[1.0], []], [[1.0], [0.0]]):
        with pytest.raises(ValueError, match="values above 0"):
            tolerance_interval(values, 0.01)


@pytest.mark.parametrize("machines", [20, 200])
@pytest.mark.parametrize("slow", [0.0, 0.1])
def test_few_healthy_machines_are_below_and_most_slow_ones_are_found(machines: int, slow: float) -> None:
    """Twelve metrics together judge at most 0.1 % of healthy machines BELOW, so each at most a twelfth of that."""
    rng = np.random.default_rng(machines)
    outside = 0.001 / 12
    below, detected = [], []
    for _ in range(100):
        fleet = rng.normal(0, 0.01, machines)
        fleet[: int(slow * machines)] += np.log(0.7)
        interval = of(fleet, outside)
        later = np.exp(rng.normal(0, 0.01, 2000))
        below.append(np.mean(later < interval.low))
        detected.append(np.mean(later * 0.9 < interval.low))
    assert np.mean(below) <= outside
    assert np.mean(detected) > 0.95
