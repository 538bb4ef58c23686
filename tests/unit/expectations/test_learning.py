"""Expected ranges learned from runs."""

from __future__ import annotations

import random
from datetime import date

import msgspec
import pytest

from machines import GUEST, machine_with
from nameplate.expectations.judging import judge
from nameplate.expectations.learning import Learner, learn
from nameplate.records.result import Report
from report_samples import report, result, with_summary

TODAY = date(2026, 11, 26)


def run_of(host: str, value: float, **limits: object) -> Report:
    one = with_summary(result({"isa": "avx512", "mix": "fma", "precision": "fp64", "threads": 2}, value),
                       capability=None, ci=(value * 0.999, value * 1.001))  # fmt: skip
    made = report([one], host=host)
    machine = machine_with(GUEST, hostname=host, limits={"cpus": None, **limits})
    return msgspec.structs.replace(made, machine=machine)


def fleet(size: int, sick: float = 1.0) -> list[Report]:
    rng = random.Random(size)
    return [run_of(f"n{i}", 50e9 * rng.gauss(1, 0.01) * (sick if i == 0 else 1)) for i in range(size)]


def test_healthy_machines_are_as_expected_and_a_sick_one_is_below() -> None:
    (own,) = learn(fleet(20), TODAY).classes
    assert (own.machines, own.runs, own.provisional) == (20, 20, False)
    assert [judge(each, own.range)[0].verdict for each in fleet(20)] == ["AS EXPECTED"] * 20
    assert judge(run_of("new", 44e9), own.range)[0].verdict == "BELOW"


def test_a_sick_machine_is_left_out_by_name() -> None:
    (own,) = learn(fleet(20, sick=0.7), TODAY).classes
    assert own.range[0].left_out == ["n0"]
    assert own.range[0].machines == 19


def test_few_machines_are_provisional() -> None:
    assert learn(fleet(9), TODAY).classes[0].provisional
    assert not learn(fleet(10), TODAY).classes[0].provisional


def test_a_single_machine_has_the_range_of_its_runs() -> None:
    (own,) = learn([run_of("one", 50e9 * factor) for factor in (0.99, 1.0, 1.01)], TODAY).classes
    assert (own.machines, own.runs, own.provisional, own.range[0].machines) == (1, 3, True, 1)
    assert learn([run_of("one", 50e9)], TODAY).classes[0].range == []


def test_values_that_differ_too_much_have_no_range() -> None:
    assert learn([run_of(f"n{i}", 50e9 * 10 ** (i % 3)) for i in range(6)], TODAY).classes[0].range == []


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (msgspec.structs.replace(run_of("a", 1e9), truncated=True), "it did not reach its end"),
        (msgspec.structs.replace(run_of("a", 1e9), machine=None), "it has no machine"),
        (run_of("a", 1e9, cpus=1.5), "a CPU quota limited it"),
    ],
)
def test_runs_from_which_nothing_can_be_learned_are_named(bad: Report, why: str) -> None:
    learner = Learner()
    assert learner.add(bad) == why
    assert learner.site(TODAY).classes == []
