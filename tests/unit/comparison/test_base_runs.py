"""A run compared with several base runs, which show how much a machine varies."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from comparable_results import flops, of, value
from nameplate.comparison.base_runs import MIN_BASE_RUNS, compare_with_bases
from nameplate.comparison.gate import Gate
from nameplate.comparison.run_comparison import RunComparison
from nameplate.errors import UsageError
from nameplate.records.result import Report, Result
from report_samples import with_summary


def disk(rate: float) -> Result:
    params = {"pattern": "sequential", "cache": "direct", "op": "read", "block": 1 << 20}
    made = value("disk_block", rate, params, "bandwidth")  # type: ignore[arg-type]
    return with_summary(made, value=0.9 * rate)


def bases(spread: float, count: int = 8) -> list[Report]:
    """Return runs whose disk varies by this standard deviation, as a logarithm, and whose core hardly varies."""
    source = np.random.default_rng(1)
    return [of(flops(1e9 * math.exp(0.002 * core)), disk(1e9 * math.exp(spread * of_disk)))
            for core, of_disk in source.standard_normal((count, 2))]  # fmt: skip


def gate_of(comparison: RunComparison) -> Gate:
    assert comparison.gate is not None
    return comparison.gate


@pytest.mark.parametrize(("spread", "verdict"), [(0.01, "SLOWER"), (0.15, "UNSURE")])
def test_the_variation_of_the_base_runs_decides(spread: float, verdict: str) -> None:
    comparison = compare_with_bases(bases(spread), of(flops(1e9), disk(0.85e9)))
    assert gate_of(comparison).verdict == verdict
    assert (gate_of(comparison).detectable["disk"] < 0.1) == (verdict == "SLOWER")


def test_a_row_has_the_mean_of_the_base_runs_and_the_interval_of_a_further_one() -> None:
    runs = bases(0.05)
    logs = [math.log(run.results[1].summary.capability or 0) for run in runs]
    comparison = compare_with_bases(runs, of(flops(1e9), disk(0.9e9)))
    change = comparison.rows[1].capability
    assert change is not None
    assert change.base == pytest.approx(math.exp(np.mean(logs)))
    assert change.ratio == pytest.approx(0.9e9 / change.base)
    assert change.ci is not None
    half = 3.499 * np.std(logs, ddof=1) * math.sqrt(1 + 1 / 8)  # Student's t with 7 degrees, 99.5 %
    assert math.log(change.ci[1] / change.ratio) == pytest.approx(half, rel=1e-3)
    assert comparison.rows[1].ratio == pytest.approx(change.ratio)


def test_few_base_runs_are_rejected() -> None:
    few = bases(0.01, MIN_BASE_RUNS - 1)
    with pytest.raises(UsageError, match="4 base runs: give at least 5, which show how runs vary"):
        compare_with_bases(few, of(flops(1e9)))
    busy = msgspec.structs.replace(few[0], results=[msgspec.structs.replace(flops(1e9), utilisation=0.5)])
    with pytest.raises(UsageError, match="5 base runs, of which a quota or other programs slowed 1 down"):
        compare_with_bases([*few, busy], of(flops(1e9)))
    comparison = compare_with_bases([*bases(0.01, MIN_BASE_RUNS), busy], of(flops(1e9), disk(1e9)))
    assert comparison.notes == ["left out: base runs that a quota or other programs slowed down (1)"]


def test_a_new_run_that_was_slowed_down_is_not_judged() -> None:
    busy = of(msgspec.structs.replace(flops(0.5e9), utilisation=0.5), disk(1e9))
    gate = gate_of(compare_with_bases(bases(0.01), busy))
    assert (gate.verdict, gate.reason) == ("UNSURE", "in the new run, other programs took 50 % of the CPU time")


def test_one_comparison_in_a_hundred_of_an_unchanged_machine_fails() -> None:
    source = np.random.default_rng(2)
    n_comparisons, alarms = 400, 0
    for _ in range(n_comparisons):
        runs = [of(flops(1e9 * math.exp(0.02 * a), 2), flops(1e9 * math.exp(0.02 * b)), disk(1e9 * math.exp(0.1 * c)))
                for a, b, c in source.standard_normal((7, 3))]  # fmt: skip
        alarms += gate_of(compare_with_bases(runs[:-1], runs[-1])).verdict == "SLOWER"
    assert alarms <= 4 + 3 * math.sqrt(4)
