"""Tests of losses with one probability of a false alarm for a whole comparison."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, t

from nameplate.statistics import sequential_test
from nameplate.statistics.loss_tests import Loss, area_means, detectable_loss, significant_losses


def loss(name: str, middle: float, error: float = 0.01, area: str = "memory", **changes: float) -> Loss:
    made = Loss(name=name, area=area, middle=middle, error=error, freedom=10.0, lasting=0.0, min_loss=0.0)
    return replace(made, **changes)  # type: ignore[arg-type]


def names(losses: list[Loss]) -> list[str]:
    return [item.name for item in significant_losses(losses)]


def test_the_p_value_is_one_sided() -> None:
    assert loss("a", 0.03).p_value == pytest.approx(t.sf(3, 10))
    assert loss("a", -0.03).p_value == pytest.approx(t.cdf(3, 10))
    assert loss("a", 0.03).reversed().p_value == pytest.approx(t.cdf(3, 10))


def test_in_a_sequence_the_p_value_holds_after_every_round() -> None:
    sequential = replace(loss("a", 0.05), is_sequential=True)
    assert sequential.p_value == sequential_test.p_value(0.05, 0.01, 10.0) > loss("a", 0.05).p_value
    assert sequential.reversed().p_value == 1.0
    assert sequential_test.p_value(sequential.limit(0.01), 0.01, 10.0) == pytest.approx(0.01)


def test_holm_stops_at_the_first_loss_that_may_be_chance() -> None:
    def with_p(name: str, p: float) -> Loss:
        return loss(name, 0.01 * float(t.isf(p, 10)))

    assert names([with_p("c", 0.006), with_p("b", 0.004), with_p("a", 0.003)]) == ["a", "b", "c"]
    assert names([with_p("c", 0.011), with_p("b", 0.004), with_p("a", 0.003)]) == ["a", "b"]
    assert names([with_p("c", 0.006), with_p("b", 0.0051), with_p("a", 0.003)]) == ["a"]
    assert names([with_p("c", 0.006), with_p("b", 0.004), with_p("a", 0.0034)]) == []
    assert names([]) == []


def test_a_small_loss_is_none_and_does_not_hide_a_large_one() -> None:
    small, large = loss("small", 0.02, error=0.001, min_loss=0.03), loss("large", 0.1, min_loss=0.03)
    assert names([small, large]) == ["large"]


def test_the_mean_of_an_area_weighs_by_precision() -> None:
    precise, vague = loss("a", 0.02, error=0.01), loss("b", 0.1, error=0.02, min_loss=0.1, freedom=5.0)
    (mean,) = area_means([precise, vague, loss("c", 1.0, area="disk")])
    assert (mean.name, mean.area) == ("memory", "memory")
    assert mean.middle == pytest.approx((0.02 * 1e4 + 0.1 * 2500) / 12500)
    assert mean.error == pytest.approx(math.sqrt(1 / 12500))
    assert mean.freedom == 15.0
    assert mean.min_loss == pytest.approx(0.1 * 2500 / 12500)


def test_the_mean_does_not_reduce_what_its_values_share() -> None:
    (mean,) = area_means([loss("a", 0.1, lasting=0.008), loss("b", 0.1, lasting=0.0095)])
    assert mean.error == mean.lasting == pytest.approx(0.00875)


def test_a_detectable_loss_is_found_four_times_in_five() -> None:
    for one in (loss("a", 0.0), loss("a", 0.0, min_loss=0.2), loss("a", 0.0, error=0.3)):
        size = math.log1p(detectable_loss(one, 5))
        # The smallest estimate that counts, met by a normal estimate about the true size.
        limit = max(one.min_loss, float(t.isf(0.01 / 5, 10)) * one.error)
        assert norm.sf(limit, size, one.error) == pytest.approx(0.8)
    assert detectable_loss(loss("a", 0.0, error=1e9), 5) < math.inf


def test_one_comparison_in_a_hundred_of_an_unchanged_machine_has_a_loss() -> None:
    source = np.random.default_rng(1)
    n_comparisons, alarms = 3000, 0
    for middles in source.standard_t(10, (n_comparisons, 8)):
        values = [loss(str(index), 0.01 * middle) for index, middle in enumerate(middles)]
        alarms += bool(significant_losses([*values, *area_means(values)]))
    # Three standard deviations of 30 expected alarms; the tests of a mean depend on those of its values.
    assert 10 <= alarms <= 30 + 3 * math.sqrt(30)
