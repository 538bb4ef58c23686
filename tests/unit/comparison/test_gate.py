"""The gate of a comparison: which values decide, and what they decide."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from comparable_results import MEMORY, flops, of, stream, value
from nameplate.commands._verdicts import gate_code
from nameplate.comparison.gate import NO_CAPABILITY, Gate
from nameplate.comparison.run_comparison import RunComparison, compare_runs
from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from report_samples import with_summary


def compared(base: list[Result], new: list[Result], **options: Any) -> RunComparison:
    return compare_runs(of(*base), of(*new), **options)


def gate_of(comparison: RunComparison) -> Gate:
    assert comparison.gate is not None
    return comparison.gate


def main_values(comparison: RunComparison) -> list[str]:
    return [f"{row.id} {row.metric}" for row in comparison.rows if row.is_main]


def test_the_lines_of_the_first_screen_decide() -> None:
    run = [flops(2e9, 2), flops(1e9), value("cpu_flops", 2e9, {"precision": "fp32", "mix": "fma", "threads": 2}),
           stream(9e9), stream(8e9, "copy")]  # fmt: skip
    assert main_values(compared(run, run)) == [
        "cpu_flops precision=fp64 mix=fma threads=2 rate", "cpu_flops precision=fp64 mix=fma threads=1 rate",
        "memory_stream op=triad stores=plain bandwidth",
    ]  # fmt: skip


def test_without_lines_the_first_metric_of_each_experiment_decides() -> None:
    run = [value("memory_block", 1e9, {"block": 8}, "bandwidth"), value("memory_block", 1e-9, {"block": 8}, "latency"),
           value("memory_block", 2e9, {"block": 64}, "bandwidth")]  # fmt: skip
    assert main_values(compared(run, run)) == ["memory_block block=8 bandwidth", "memory_block block=64 bandwidth"]


def test_of_several_experiments_the_best_in_both_runs_together_decides() -> None:
    def disk(small: float, large: float) -> list[Result]:
        params: dict[str, Value] = {"pattern": "sequential", "cache": "direct", "op": "read"}
        return [value("disk_block", rate, {**params, "block": block}, "bandwidth")
                for block, rate in ((4096, small), (1 << 20, large))]  # fmt: skip

    for runs in ((disk(1.2e9, 1e9), disk(1e9, 1.3e9)), (disk(1e9, 1.3e9), disk(1.2e9, 1e9))):
        assert main_values(compared(*runs)) == [
            "disk_block pattern=sequential cache=direct op=read block=1048576 bandwidth"
        ]


def test_a_loss_of_a_main_value_fails() -> None:
    comparison = compared([flops(2e9, 2), flops(1e9)], [flops(1.8e9, 2), flops(1e9)])
    assert (gate_of(comparison).verdict, gate_code(comparison, None)) == ("SLOWER", 1)
    assert [row.machine_verdict for row in comparison.rows] == ["SLOWER", "SAME"]


def test_other_values_never_fail() -> None:
    point = value("memory_latency", 1e-8, {"size": 11863283}, "latency", facts=MEMORY | {"touched_bytes": 2e6})
    worse = msgspec.structs.replace(
        with_summary(point, capability=2e-8, capability_ci=(1.99e-8, 2.01e-8), value=2e-8), better="lower"
    )
    base, new = [stream(9e9), msgspec.structs.replace(point, better="lower")], [stream(9e9), worse]
    comparison = compared(base, new)
    assert [row.machine_verdict for row in comparison.rows] == ["UNSURE", "SLOWER"]
    assert (gate_of(comparison).verdict, gate_code(comparison, None)) == ("UNSURE", 0)
    assert gate_code(compared(base, new, deciding="all"), None) == 1


def test_typical_values_never_decide() -> None:
    slowed = [msgspec.structs.replace(flops(1e9), round_values=[0.5e9 + n for n in range(6)])]
    comparison = compared([flops(1e9)], slowed)
    assert [row.verdict for row in comparison.rows] == ["SLOWER"]
    assert (gate_of(comparison).verdict, gate_code(comparison, None)) == ("SAME", 0)
    bare = [with_summary(result, capability=None, capability_ci=None) for result in (flops(1e9), *slowed)]
    comparison = compared(bare[:1], bare[1:])
    assert (gate_of(comparison).verdict, gate_of(comparison).reason) == ("UNSURE", NO_CAPABILITY)
    assert gate_code(comparison, None) == 4


def test_values_of_an_area_that_lose_together_fail() -> None:
    def run(rate: float) -> list[Result]:
        return [value("memory_block", rate, {"block": 8 << n}, "bandwidth", width=0.2) for n in range(8)]

    comparison = compared(run(1e9), run(0.7e9))
    assert {row.machine_verdict for row in comparison.rows} == {"UNSURE"}
    assert [area.area for area in gate_of(comparison).area_losses] == ["memory"]
    assert gate_of(comparison).area_losses[0].loss == pytest.approx(1 / 0.7 - 1)
    assert gate_code(comparison, None) == 1
    assert gate_code(compared(run(0.7e9), run(1e9)), None) == 0


@pytest.mark.parametrize(("min_loss", "verdict"), [(0.0, "SLOWER"), (0.05, "SLOWER"), (0.15, "UNSURE")])
def test_a_loss_below_the_asked_one_passes(min_loss: float, verdict: str) -> None:
    assert gate_of(compared([flops(1e9)], [flops(0.9e9)], min_loss=min_loss)).verdict == verdict


def test_a_loss_below_what_a_resource_varies_by_passes() -> None:
    base, new = [stream(10e9, width=0.0004)], [stream(9.2e9, width=0.0004)]
    comparison = compared(base, new)
    assert gate_of(comparison).verdict == "UNSURE"
    assert gate_of(comparison).detectable["memory"] > 0.2


def test_a_gain_is_faster_and_passes() -> None:
    comparison = compared([flops(1e9)], [flops(1.2e9)])
    assert (gate_of(comparison).verdict, gate_code(comparison, None)) == ("FASTER", 0)


def test_a_doubtful_loss_is_unsure() -> None:
    limited = [msgspec.structs.replace(flops(0.5e9), limit="burst")]
    comparison = compared([flops(1e9)], limited)
    (row,) = comparison.rows
    assert row.capability is not None
    assert row.capability.verdict == "UNSURE"
    assert "burst credits" in row.capability.reason
    assert gate_code(comparison, None) == 0
    assert gate_code(comparison, None, strict=True) == 4


def test_nothing_in_common_is_not_comparable() -> None:
    comparison = compared([flops(1e9)], [stream(1e9)])
    assert (gate_of(comparison).verdict, gate_code(comparison, None)) == ("INCOMPARABLE", 5)
