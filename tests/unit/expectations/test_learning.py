"""Expected ranges learned from runs."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import date

import msgspec
import pytest

from machines import GUEST, machine_with
from nameplate.expectations.judging import judge
from nameplate.expectations.learning import Learner, learn
from nameplate.expectations.site_file import Site
from nameplate.records.result import Report
from nameplate.results.judgeable import judgeable
from report_samples import report, result, with_summary

TODAY = date(2026, 11, 26)


def learned_from(reports: Iterable[Report]) -> Site:
    return learn(map(judgeable, reports), TODAY)


def run_of(host: str, value: float, **limits: object) -> Report:
    one = with_summary(result({"isa": "avx512", "mix": "fma", "precision": "fp64", "threads": 2}, value),
                       capability=None, ci=(value * 0.999, value * 1.001))  # fmt: skip
    made = report([one], host=host)
    machine = machine_with(GUEST, hostname=host, limits={"cpus": None, **limits})
    return msgspec.structs.replace(made, machine=machine)


def fleet(size: int, slow: float = 1.0) -> list[Report]:
    rng = random.Random(size)
    return [run_of(f"n{i}", 50e9 * rng.gauss(1, 0.01) * (slow if i == 0 else 1)) for i in range(size)]


def second(original: Report, started: str) -> Report:
    """Return a run that was started at another time."""
    return msgspec.structs.replace(original, run=msgspec.structs.replace(original.run, started=started))


def test_healthy_machines_are_as_expected_and_a_slow_one_is_below() -> None:
    (learned,) = learned_from(fleet(20)).classes
    assert (learned.machines, learned.runs, learned.provisional) == (20, 20, False)
    assert [judge(judgeable(item), learned.range)[0].verdict for item in fleet(20)] == ["AS EXPECTED"] * 20
    assert judge(judgeable(run_of("new", 44e9)), learned.range)[0].verdict == "BELOW"


def test_a_slow_machine_is_left_out_by_name() -> None:
    (learned,) = learned_from(fleet(20, slow=0.7)).classes
    assert learned.range[0].left_out == ["n0"]
    assert learned.range[0].machines == 19


def test_few_machines_are_provisional() -> None:
    assert learned_from(fleet(9)).classes[0].provisional
    assert not learned_from(fleet(10)).classes[0].provisional


def test_a_single_machine_has_the_range_of_its_runs() -> None:
    runs = [second(run_of("one", 50e9 * factor), f"2026-11-2{i}T00:00:00+00:00")
            for i, factor in enumerate((0.99, 1.0, 1.01))]  # fmt: skip
    (learned,) = learned_from(runs).classes
    assert (learned.machines, learned.runs, learned.provisional, learned.range[0].machines) == (1, 3, True, 1)
    assert learned_from([run_of("one", 50e9)]).classes[0].range == []


def test_values_that_differ_too_much_have_no_range() -> None:
    (learned,) = learned_from([run_of(f"n{i}", 50e9 * 10 ** (i % 3)) for i in range(6)]).classes
    assert learned.range == []
    assert learned.without_range[0].endswith("rate: its values differ too much for a range")


def test_machines_of_two_kinds_have_no_range() -> None:
    rng = random.Random(1)
    runs = [run_of(f"n{i}", 50e9 * rng.gauss(1, 0.002) * (0.9 if i % 3 == 0 else 1)) for i in range(60)]
    (learned,) = learned_from(runs).classes
    assert learned.range == []
    assert "20 of 60 machines are far from the others, so they are of several kinds" in learned.without_range[0]


def test_a_metric_of_one_machine_among_many_has_no_range() -> None:
    one = run_of("n0", 50e9)
    other = result({"isa": "avx512", "mix": "fma", "precision": "fp64", "threads": 1}, 25e9)
    both = msgspec.structs.replace(one, results=[*one.results, with_summary(other, capability=None)])
    (learned,) = learned_from([both, *fleet(12)[1:]]).classes
    assert len(learned.range) == 1
    assert learned.without_range[0].endswith("only one machine measured it")


def test_a_copy_of_a_run_counts_once() -> None:
    learner = Learner()
    assert learner.add(judgeable(run_of("a", 50e9))) == ""
    assert learner.add(judgeable(run_of("a", 50e9))) == "it is a copy of an earlier run"


def with_rounds(rounds: int) -> Report:
    """Return a run with this number of rounds, whose values have no interval."""
    report = run_of("a", 1e9)
    results = [with_summary(result, rounds=rounds, ci=None, capability_ci=None) for result in report.results]
    return msgspec.structs.replace(report, results=results)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (msgspec.structs.replace(run_of("a", 1e9), truncated=True), "it is incomplete"),
        (msgspec.structs.replace(run_of("a", 1e9), machine=None), "it does not say on which machine it was measured"),
        (
            msgspec.structs.replace(run_of("a", 1e9), results=[]),
            "it has none of the values by which a machine is judged: measure the plan quick",
        ),
        (with_rounds(5), "it has no value with an interval, which needs 6 rounds"),
        (with_rounds(7), "none of the values by which a machine is judged has an interval"),
        (run_of("a", 1e9, cpus=1.5), "a CPU quota allowed the time of 1.5 CPUs"),
        (
            msgspec.structs.replace(run_of("a", 1e9), machine=machine_with(emulator="QEMU (TCG)")),
            "its processor was emulated",
        ),
    ],
)
def test_runs_from_which_nothing_can_be_learned_are_named(bad: Report, why: str) -> None:
    learner = Learner()
    assert learner.add(judgeable(bad)) == why
    assert learner.site(TODAY).classes == []
