"""How metrics become formulas for nameplate-core."""

from __future__ import annotations

import pytest

from nameplate.probes import Counter, Fact, Percentile, Ratio, Scaled, Sum, elapsed, one, operations
from nameplate.probes.shared.formulas import NoFormulaError, formula_of


def test_factors_and_divisors_keep_their_order() -> None:
    metric = Ratio(
        "m", "s", "lower", Scaled(elapsed, times=("depth",), times_facts=("f",)), Scaled(operations, over=("chains",))
    )
    assert formula_of(metric) == {
        "numerator": [{"times": ["sample/elapsed_s", "outcome/facts/f", "outcome/params/depth"], "over": []}],
        "denominator": [{"times": ["sample/work/ops"], "over": ["outcome/params/chains"]}],
    }


def test_counters_facts_and_one_have_places() -> None:
    assert formula_of(Ratio("m", "s", "lower", Fact("connect_s"), one)) == {
        "numerator": [{"times": ["outcome/facts/connect_s"], "over": []}],
        "denominator": [{"times": [], "over": []}],
    }


def test_a_sum_has_a_product_for_each_summand() -> None:
    assert formula_of(Ratio("m", "s", "lower", elapsed, Sum((operations, Counter("lost")))))["denominator"] == [
        {"times": ["sample/work/ops"], "over": []},
        {"times": ["sample/counters/lost"], "over": []},
    ]


def test_a_percentile_has_its_share() -> None:
    assert formula_of(Percentile("p", "s", "lower", 0.99)) == {"share": 0.99}


def test_a_product_after_a_quotient_is_refused() -> None:
    nested = Scaled(Scaled(operations, over=("chains",)), times=("depth",))
    with pytest.raises(NoFormulaError, match="divides after all products"):
        formula_of(Ratio("m", "s", "lower", elapsed, nested))
