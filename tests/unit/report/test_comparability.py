"""This machine is compared with the machine of an earlier run."""

from __future__ import annotations

import msgspec
import pytest

from machines import GUEST as GUEST_WITH_QUOTA
from machines import machine_with
from nameplate.records.machine_record import Machine
from nameplate.records.result import Report
from nameplate.report.content.comparability import Condition, LoadedClock, clock_under_load, conditions
from nameplate.results.fitness import Finding
from report_samples import report, result, with_summary

QUIET = [Finding("A", "noise", "the time of a control loop varies by 0.2 %")]


GUEST = machine_with(GUEST_WITH_QUOTA, limits={"cpus": None})


def base(clock_hz: float | None = 3e9, interval: tuple[float, float] | None = (2.99e9, 3.01e9)) -> Report:
    """Return a run of ``GUEST`` that measured its clock, idle and under load on one and two threads."""
    loads: tuple[tuple[str, int, float | None], ...] = (("idle", 2, 1e9), ("avx2", 1, 3.5e9), ("avx2", 2, clock_hz))
    return report([
        with_summary(result({"under": under, "threads": threads}, hertz, probe="cpu_clock"), unit="Hz", ci=interval)
        for under, threads, hertz in loads
    ])  # fmt: skip


def unmet(
    run: Report | None = None, machine: Machine | None = None, clock_hz: float | None = 3e9,
    findings: list[Finding] | None = None,
) -> dict[str, str]:  # fmt: skip
    """Return the conditions that do not hold, with what was found."""
    clock = LoadedClock(clock_hz, clock_hz)
    actual = conditions(run or base(), machine or machine_with(GUEST), clock, findings or QUIET)
    assert [item.subject for item in actual] == ["processor", "clock under load", "trust in the run", "quiet now"]
    return {item.subject: item.state for item in actual if not item.is_met}


def test_an_unchanged_machine_meets_every_condition() -> None:
    assert unmet() == {}


def test_the_load_on_all_threads_is_compared() -> None:
    loaded = clock_under_load(base())
    assert loaded
    assert loaded.summary.params == {"under": "avx2", "threads": 2}
    assert clock_under_load(report([])) is None


def test_another_processor_is_named() -> None:
    assert unmet(machine=machine_with(GUEST, cpu={"model": "Other"})) == {"processor": "CPU: Example CPU 9000 → Other"}


@pytest.mark.parametrize(("hertz", "is_met"), [(2.92e9, True), (3.08e9, True), (2.9e9, False), (3.1e9, False)])
def test_the_clock_may_differ_by_three_percent(hertz: float, is_met: bool) -> None:
    assert ("clock under load" not in unmet(clock_hz=hertz)) == is_met


def test_the_capability_of_the_clock_is_compared_if_it_is_known() -> None:
    run = base()
    faster = with_summary(run.results[2], capability=3.2e9)
    run = msgspec.structs.replace(run, results=[*run.results[:2], faster])
    assert "clock under load" not in unmet(run, clock_hz=3.2e9)
    assert unmet(run, clock_hz=3e9)["clock under load"] == "3.200 GHz → 3.000 GHz, -6.2 %"


def test_capability_is_compared_with_capability_and_typical_with_typical() -> None:
    now = LoadedClock(3.3e9, 3e9)
    assert conditions(base(), machine_with(GUEST), now, QUIET)[1].is_met
    run = base()
    run = msgspec.structs.replace(run, results=[*run.results[:2], with_summary(run.results[2], capability=3e9)])
    assert conditions(run, machine_with(GUEST), now, QUIET)[1].state == "3.000 GHz → 3.300 GHz, +10.0 %"


def test_a_change_that_rounds_to_zero_has_no_minus() -> None:
    run = base()
    run = msgspec.structs.replace(run, results=[*run.results[:2], with_summary(run.results[2], capability=3e9)])
    now = LoadedClock(2.9999e9, 3e9)
    assert conditions(run, machine_with(GUEST), now, QUIET)[1].state == "3.000 GHz → 3.000 GHz, +0.0 %"


def test_a_clock_that_was_not_measured_has_a_reason() -> None:
    clock = LoadedClock(None, None, "this CPU has no AVX-512")
    condition = conditions(base(), machine_with(GUEST), clock, QUIET)[1]
    assert condition.state == "it could not be measured here: this CPU has no AVX-512"


def test_a_run_without_a_clock_is_not_comparable() -> None:
    assert unmet(base(None))["clock under load"] == "3.500 GHz → 3.000 GHz, -14.3 %"
    assert "cpu_clock" in unmet(report([]))["clock under load"]
    assert unmet(clock_hz=None)["clock under load"] == "it could not be measured here"


def test_a_run_of_low_trust_is_not_comparable() -> None:
    assert unmet(base(interval=None))["trust in the run"].startswith("low: ")
    assert "incomplete" in unmet(msgspec.structs.replace(base(), truncated=True))["trust in the run"]


def test_a_noisy_machine_is_not_comparable() -> None:
    noisy = Finding("D", "noise", "the time of a control loop varies by 7 %")
    assert unmet(findings=[*QUIET, noisy]) == {"quiet now": "D: the time of a control loop varies by 7 %"}
    unknown = Finding("?", "steal", "unknown: nothing counts it")
    assert unmet(findings=[*QUIET, unknown]) == {"quiet now": "?: unknown: nothing counts it"}
    assert unmet(findings=[Finding("C", "steal", "some")]) == {}


def test_a_condition_can_be_written_as_json() -> None:
    assert (
        msgspec.json.encode(Condition("processor", True, "same"))
        == b'{"what":"processor","is_met":true,"state":"same"}'
    )
