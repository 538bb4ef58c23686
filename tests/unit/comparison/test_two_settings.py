from __future__ import annotations

import msgspec
import numpy as np
import pytest

from nameplate.comparison.decisions import decided_experiments
from nameplate.comparison.two_settings import compare_settings
from nameplate.records.plan_record import Setting, Value
from nameplate.records.result import Report, Result, Series
from report_samples import report, result, with_summary

N_ROUNDS, N_SAMPLES = 16, 20


def setting(name: Setting, params: dict[str, Value], factor: float, n_rounds: int = N_ROUNDS) -> Result:
    """Return the result of a setting on a machine that drifts by 30 % and is disturbed in every fifth sample."""
    source = np.random.default_rng(3 if name == "a" else 4)
    values = factor * np.linspace(1, 1.3, N_ROUNDS)[:n_rounds, None] * source.normal(1e9, 2e6, (n_rounds, N_SAMPLES))
    values[:, ::5] *= 0.6
    numbers = [number for number in range(1, n_rounds + 1) for _ in range(N_SAMPLES)]
    series = Series([0.01 * i for i in range(values.size)], values.ravel().tolist(), [False] * values.size, numbers)
    made = with_summary(result(params, float(np.median(values)), samples=series), capability=float(values.max()))
    return msgspec.structs.replace(
        made, id=f"{name.upper()}: {made.id}", round_values=np.median(values, axis=1).tolist()
    )


def compared(a: Result, b: Result) -> Report:
    made = report([a, b])
    experiments = [
        msgspec.structs.replace(each, setting=name) for each, name in zip(made.run.plan.experiments, "ab", strict=True)
    ]
    plan = msgspec.structs.replace(made.run.plan, experiments=experiments)
    return msgspec.structs.replace(made, run=msgspec.structs.replace(made.run, plan=plan))


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "SAME"), (0.9, "SLOWER"), (1.1, "FASTER")])
def test_two_settings_are_compared_round_by_round(factor: float, verdict: str) -> None:
    run = compared(setting("a", {"threads": 1, "mix": "fma"}, 1.0), setting("b", {"threads": 1, "mix": "add"}, factor))
    (row,) = compare_settings(run)
    assert row.capability is not None
    assert (row.capability.verdict, row.verdict) == (verdict, verdict)
    assert row.capability.ratio == pytest.approx(factor, abs=0.005)
    assert row.params == {"threads": 1}
    assert decided_experiments([row], run) >= {"B: cpu_flops threads=1 mix=add"}


def test_settings_with_the_same_parameters_can_be_compared() -> None:
    run = compared(setting("a", {"threads": 1}, 1.0), setting("b", {"threads": 1}, 1.0))
    assert [row.machine_verdict for row in compare_settings(run)] == ["SAME"]


def test_too_few_rounds_leave_it_open() -> None:
    run = compared(setting("a", {"threads": 1}, 1.0, 9), setting("b", {"threads": 2}, 0.5, 9))
    (row,) = compare_settings(run)
    assert row.capability is not None
    assert (row.machine_verdict, row.capability.ci, row.ci) == ("UNSURE", None, None)
    assert "a verdict needs 10 rounds (got 9)" in row.reason
    assert "B: cpu_flops threads=2" not in decided_experiments([row], run)


def test_a_setting_without_a_value_gives_no_row() -> None:
    run = compared(setting("a", {"threads": 1}, 1.0), msgspec.structs.replace(setting("b", {"threads": 2}, 1.0)))
    failed = with_summary(run.results[1], value=None, reason="no such instruction set", outcome="skipped")
    (row,) = compare_settings(msgspec.structs.replace(run, results=[run.results[0], failed]))
    assert (row.verdict, row.capability) == ("INCOMPARABLE", None)
    assert row.reason == "B has no value (skipped: no such instruction set)"
