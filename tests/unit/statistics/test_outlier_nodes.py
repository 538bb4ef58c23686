"""How many healthy nodes are called slow and how many slow ones are found, on simulated clusters."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from nameplate.statistics.outlier_nodes import Floats, Judgement, NodeValues, judge

RANDOM = np.random.default_rng(20)
ROUNDS = 6
# The standard deviation of a round, as a share of that between nodes.
SPREAD_OF_NODE = 0.3


def cluster(nodes: int, spread: float, slow: int = 0, by: float = 0.1) -> Floats:
    """Return values by round and node around 1 GB/s, of which the first ``slow`` nodes are slower."""
    typical = RANDOM.normal(0, spread, nodes)
    typical[:slow] += np.log(1 - by)
    drift = RANDOM.normal(0, 0.2, (ROUNDS, 1))
    return np.asarray(1e9 * np.exp(typical + drift + RANDOM.normal(0, SPREAD_OF_NODE * spread, (ROUNDS, nodes))))


def judged(values: Floats, classes: list[str] | None = None) -> Judgement:
    return judge([NodeValues("x", "y", "B/s", "higher", values)], classes or [""] * values.shape[1])[0]


@pytest.mark.parametrize("spread", [0.005, 0.01, 0.03])
def test_no_more_than_one_healthy_node_of_ten_thousand_is_called_slow(spread: float) -> None:
    assert sum(judged(cluster(10_000, spread)).is_slow.sum() for _ in range(5)) <= 5


@pytest.mark.parametrize("spread", [0.005, 0.01])
def test_nodes_that_are_a_tenth_slower_are_found(spread: float) -> None:
    actual = judged(cluster(10_000, spread, slow=100)).is_slow
    assert actual[:100].sum() >= 99
    assert actual[100:].sum() <= 1


def test_one_of_eight_that_is_a_fifth_slower_is_found() -> None:
    runs = [judged(cluster(8, 0.015, slow=1, by=0.2)).is_slow for _ in range(100)]
    assert sum(run[0] for run in runs) >= 95
    assert sum(run[1:].any() for run in runs) <= 5


def test_eight_healthy_nodes_are_left_alone() -> None:
    assert sum(judged(cluster(8, 0.03)).is_slow.any() for _ in range(300)) <= 15


def test_a_higher_latency_is_worse() -> None:
    values = 1 / cluster(50, 0.01, slow=1, by=0.2)
    actual = judge([NodeValues("x", "y", "s", "lower", values)], [""] * 50)[0]
    assert np.flatnonzero(actual.is_slow).tolist() == [0]
    assert actual.gap[0] == pytest.approx(0.2, abs=0.04)


def test_a_slower_hardware_class_is_not_a_slow_node() -> None:
    values = cluster(40, 0.01)
    values[:, :10] *= 0.6
    assert not judged(values, ["old"] * 10 + ["new"] * 30).is_slow.any()
    assert judged(values).is_slow[:10].all()


def test_three_nodes_have_no_usual_value() -> None:
    actual = judged(cluster(3, 0.01, slow=1, by=0.5))
    assert not actual.is_slow.any()
    assert np.isnan(actual.gap).all()


def test_a_node_that_was_slow_in_one_round_is_not_named() -> None:
    values = cluster(50, 0.01)
    values[2, 7] *= 0.3
    assert not judged(values).is_slow.any()


def test_a_node_whose_own_values_vary_as_much_is_not_named() -> None:
    values = cluster(50, 0.01)
    values[:, 7] *= np.array([0.4, 1.0, 0.5, 1.0, 0.9, 1.0])
    actual = judged(values)
    assert actual.gap[7] > 0.03
    assert not actual.is_slow.any()


def test_a_missing_node_is_not_judged() -> None:
    values = cluster(50, 0.01, slow=1, by=0.2)
    values[:, 3] = np.nan
    values[:4, 5] = np.nan
    actual = judged(values)
    assert np.isnan([actual.gap[3], actual.value[3]]).all()
    assert np.flatnonzero(actual.is_slow).tolist() == [0]
    assert np.isfinite(actual.gap[5])


def test_equal_values_are_not_outliers() -> None:
    assert not judged(np.full((3, 10), 1e9)).is_slow.any()


def test_two_rounds_are_too_few_to_estimate_the_variation_of_a_node() -> None:
    values = cluster(50, 0.01, slow=1, by=0.3)
    assert judged(values[:3]).is_slow[0]
    assert not judged(values[:2]).is_slow.any()


@pytest.mark.filterwarnings("error")
def test_a_class_that_is_missing_in_a_round_is_judged_by_the_others() -> None:
    values = cluster(20, 0.01, slow=1, by=0.3)
    values[2, :10] = np.nan
    assert judged(values, ["a"] * 10 + ["b"] * 10).is_slow[0]


@pytest.mark.filterwarnings("error")
def test_a_slow_node_among_equal_ones_is_named() -> None:
    values = np.full((3, 10), 1e9)
    values[:, 4] = 0.8e9
    assert np.flatnonzero(judged(values).is_slow).tolist() == [4]


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_share_agrees_with_the_values_shown_next_to_it(better: Literal["higher", "lower"]) -> None:
    """Rounds drift, so the median round of a node is not that of its class."""
    rates = np.array([[100.0, 101, 99, 102, 90, 98], [80, 70, 80, 79, 75, 81], [60, 61, 63, 59, 58, 40]]) * 1e9
    values = rates if better == "higher" else 1 / rates
    actual = judge([NodeValues("x", "y", "B/s", better, values)], ["a"] * 6)[0]
    middle, worst = np.median(actual.value), actual.value[4]
    assert actual.gap[4] == pytest.approx(1 - (worst / middle if better == "higher" else middle / worst))
    assert np.median(actual.value) == pytest.approx(79.25e9 if better == "higher" else 1 / 79.25e9, rel=0.01)
    assert np.argmax(actual.gap) == 4
