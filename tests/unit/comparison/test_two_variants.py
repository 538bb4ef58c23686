from __future__ import annotations

import msgspec
import numpy as np
import pytest

from nameplate.comparison.decisions import decided_experiments
from nameplate.comparison.two_variants import compare_variants
from nameplate.records.plan_record import Value, Variant
from nameplate.records.result import Report, Result, Series
from report_samples import report, result, with_summary

N_ROUNDS, N_SAMPLES = 16, 20


def variant(name: Variant, params: dict[str, Value], factor: float, n_rounds: int = N_ROUNDS) -> Result:
    """Return the result of a variant on a machine that drifts by 30 % and is disturbed in every fifth sample."""
    source = np.random.default_rng(3 if name == "a" else 4)
    values = factor * np.linspace(1, 1.3, N_ROUNDS)[:n_rounds, None] * source.normal(1e9, 2e6, (n_rounds, N_SAMPLES))
    values[:, ::5] *= 0.6
    numbers = [number for number in range(1, n_rounds + 1) for _ in range(N_SAMPLES)]
    series = Series([0.01 * i for i in range(values.size)], values.ravel().tolist(), [False] * values.size, numbers)
    made = with_summary(result(params, float(np.median(values)), samples=series), capability=float(values.max()))
    return msgspec.structs.replace(
        made, id=f"{name.upper()}: {made.id}", round_values=np.median(values, axis=1).tolist(),
        round_numbers=list(range(1, n_rounds + 1)),
    )  # fmt: skip


def compared(a: Result, b: Result) -> Report:
    made = report([a, b])
    experiments = [
        msgspec.structs.replace(item, variant=name) for item, name in zip(made.run.plan.experiments, "ab", strict=True)
    ]
    plan = msgspec.structs.replace(made.run.plan, experiments=experiments)
    return msgspec.structs.replace(made, run=msgspec.structs.replace(made.run, plan=plan))


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "SAME"), (0.9, "SLOWER"), (1.1, "FASTER")])
def test_two_variants_are_compared_round_by_round(factor: float, verdict: str) -> None:
    run = compared(variant("a", {"threads": 1, "mix": "fma"}, 1.0), variant("b", {"threads": 1, "mix": "add"}, factor))
    (row,) = compare_variants(run)
    assert row.capability is not None
    assert (row.capability.verdict, row.verdict) == (verdict, verdict)
    assert row.capability.ratio == pytest.approx(factor, abs=0.005)
    assert row.params == {"threads": 1}
    assert decided_experiments([row], run) >= {"B: cpu_flops threads=1 mix=add"}


def test_variants_with_the_same_parameters_can_be_compared() -> None:
    run = compared(variant("a", {"threads": 1}, 1.0), variant("b", {"threads": 1}, 1.0))
    assert [row.machine_verdict for row in compare_variants(run)] == ["SAME"]


def test_too_few_rounds_leave_it_open() -> None:
    run = compared(variant("a", {"threads": 1}, 1.0, 9), variant("b", {"threads": 2}, 0.5, 9))
    (row,) = compare_variants(run)
    assert row.capability is not None
    assert (row.machine_verdict, row.capability.ci, row.ci) == ("UNSURE", None, None)
    assert "too few rounds (9): a verdict needs 10" in row.reason
    assert "B: cpu_flops threads=2" not in decided_experiments([row], run)


def test_a_round_that_one_variant_lacks_is_left_out() -> None:
    a, b = variant("a", {"threads": 1}, 1.0), variant("b", {"threads": 2}, 1.0)
    shifted = [10.0 ** (number % 2) * 1e9 for number in range(1, N_ROUNDS + 1)]
    a, b = (msgspec.structs.replace(item, round_values=shifted) for item in (a, b))
    without_second = msgspec.structs.replace(
        a, round_values=[shifted[0], *shifted[2:]], round_numbers=[1, *range(3, N_ROUNDS + 1)]
    )
    series = without_second.series
    retained = msgspec.structs.replace(series, round=[max(1, number - 1) for number in series.round])
    (row,) = compare_variants(compared(msgspec.structs.replace(without_second, series=retained), b))
    assert row.ratio == pytest.approx(1.0)
    assert row.verdict == "SAME"


def test_a_variant_without_a_value_gives_no_row() -> None:
    run = compared(variant("a", {"threads": 1}, 1.0), msgspec.structs.replace(variant("b", {"threads": 2}, 1.0)))
    failed = with_summary(run.results[1], value=None, reason="no such instruction set", outcome="skipped")
    (row,) = compare_variants(msgspec.structs.replace(run, results=[run.results[0], failed]))
    assert (row.verdict, row.capability) == ("INCOMPARABLE", None)
    assert row.reason == "B has no value (skipped: no such instruction set)"
