"""The progress of a run, as it is shown in a terminal and in a log."""

from __future__ import annotations

import msgspec
import pytest

from nameplate.records.plan_record import Experiment
from nameplate.report.terminal.position import Position, left_s
from run_samples import sample

PLAN = [
    Experiment("a", "cpu_flops", {"threads": 1}),
    Experiment("b", "cpu_flops", {"threads": 2}),
    Experiment("c", "disk_block", {"op": "read", "block": 4096}),
    msgspec.structs.replace(Experiment("d", "cpu_workset", {}), dense=True),
]


def test_a_line_says_where_the_run_is() -> None:
    position = Position(PLAN)
    position.start(1, PLAN[2], 19.2)
    assert position.line() == "round 1, 1 of 3: Disk block I/O op=read block=4KiB; at most 20 s left"


def test_bars_show_the_part_of_each_area_and_begin_again_with_each_round() -> None:
    position = Position(PLAN)
    position.start(1, PLAN[0], 30)
    assert position.lines()[0].plain == "round 1  CPU ██░░ DISK ░░░░  1 of 3  ≤ 30 s"
    position.start(1, PLAN[1], 20)
    position.start(1, PLAN[2], 20)
    assert position.lines()[0].plain == "round 1  CPU ████ DISK ████  3 of 3  ≤ 20 s"
    position.start(2, PLAN[2], 10)
    assert position.lines()[0].plain == "round 2  CPU ░░░░ DISK ████  1 of 3  ≤ 10 s"


def test_the_result_of_the_experiment_before_is_shown() -> None:
    position = Position(PLAN)
    position.start(1, PLAN[0], 30)
    position.sample(sample("a", flops=480_000_000))
    position.start(1, PLAN[1], 30)
    assert [line.plain for line in position.lines()[1:]] == [
        "now: Floating-point rate threads=2", "before: Floating-point rate threads=1, 48.00 GFLOP/s",
    ]  # fmt: skip


@pytest.mark.parametrize("n_disturbed", [0, 2, 5])
def test_experiments_that_were_disturbed_are_counted(n_disturbed: int) -> None:
    position = Position(PLAN)
    for number in range(10):
        position.start(1, PLAN[0], 30)
        position.sample(sample("a", disturbed={"steal_s": 0.001} if number < n_disturbed else None))
    position.start(1, PLAN[0], 30)
    assert position.lines()[0].plain.endswith(f"  {n_disturbed} of 10 disturbed")


@pytest.mark.parametrize(("estimate_s", "printed_s"), [(0.0, 1), (0.4, 1), (1.2, 2), (-3.0, 1)])
def test_the_time_left_is_never_zero(estimate_s: float, printed_s: int) -> None:
    assert left_s(estimate_s) == printed_s


def test_other_work_has_no_areas() -> None:
    position = Position([])
    position.start(3, Experiment("fio, 4 KiB", "", {}), 5)
    assert position.line() == "round 3: fio, 4 KiB; at most 5 s left"
    assert position.lines()[0].plain == "round 3   ≤ 5 s"
