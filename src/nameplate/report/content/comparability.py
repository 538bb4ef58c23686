"""Say whether this machine is comparable with the machine that an earlier run measured."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nameplate.comparison.machine_settings import differing_machine_settings
from nameplate.records.machine_record import Machine
from nameplate.records.result import Report, Result
from nameplate.report.content.format import count, quantity
from nameplate.report.content.trust import trust_in
from nameplate.results.fitness import Finding, overall

# A clock that differs by a larger share makes another machine of the same processor.
MAX_CLOCK_CHANGE = 0.03
# What of the machine must be the same. Other settings may be what one wants to compare.
_SAME = ("CPU", "cores", "SMT", "CPUs allowed", "CPU quota", "hypervisor", "emulated by")
_UNFIT = "?DF"


class Condition(msgspec.Struct, frozen=True):
    """A condition for the comparison of a machine with an earlier run.

    ``what`` names it, such as "clock under load"; ``is_met`` says whether it holds, and ``state`` what was found.
    """

    what: str
    is_met: bool
    state: str


class LoadedClock(msgspec.Struct, frozen=True):
    """The clock of this machine in hertz under the load of a run: its capability, and the median of the samples.

    Each is None if it was not measured; ``why_not`` is then the reason, "" if there is none.
    """

    capability_hz: float | None
    typical_hz: float | None
    why_not: str = ""


def clock_under_load(base: Report) -> Result | None:
    """Return the result of the clock under load with the most threads in a run; None if it was not measured."""
    loaded = [
        result for result in base.results
        if result.summary.probe == "cpu_clock" and result.summary.value is not None
        and result.summary.params.get("under") != "idle"
    ]  # fmt: skip
    return max(loaded, key=lambda result: int(result.summary.params.get("threads", 0)), default=None)


def conditions(base: Report, machine: Machine, clock: LoadedClock, findings: Sequence[Finding]) -> list[Condition]:
    """Return the conditions for comparing this machine with that of a run: processor, clock, trust, and quiet.

    ``clock`` is the clock of this machine under the load of ``clock_under_load(base)``. It is compared with the
    capability of that result, or typical with typical if the run has no capability. ``findings`` are the grades of the
    noise, the steal time and the other programs of this machine.
    """
    return [_processor(base, machine), _clock(base, clock), _trust(base), _quiet(findings)]


def _processor(base: Report, machine: Machine) -> Condition:
    settings, unchecked = differing_machine_settings(base.machine, machine)
    differing = [each for each in settings if each.name in _SAME]
    unrecorded = unchecked if base.machine is None else [name for name in unchecked if name in _SAME]
    if unrecorded:
        return Condition("processor", False, f"not recorded by both: {', '.join(unrecorded)}")
    if differing:
        words = ", ".join(f"{each.name}: {each.base} → {each.new}" for each in differing)
        return Condition("processor", False, words)
    return Condition("processor", True, f"{machine.cpu.model}, {count(len(machine.topology.allowed_cpus), 'CPU')}")


def _clock(base: Report, clock: LoadedClock) -> Condition:
    result = clock_under_load(base)
    if result is None:
        return Condition("clock under load", False, "the run did not measure it; cpu_clock does")
    capability, typical = result.summary.capability, result.summary.value
    before, now = (typical, clock.typical_hz) if capability is None else (capability, clock.capability_hz)
    if now is None or before is None:
        words = ": ".join(filter(None, ["it could not be measured here", clock.why_not]))
        return Condition("clock under load", False, words)
    change = now / before - 1
    rounded = round(change * 100, 1) + 0.0  # the sum with zero has no sign if it is zero
    words = f"{quantity(before, 'Hz')} → {quantity(now, 'Hz')}, {rounded:+.1f} %"
    return Condition("clock under load", abs(change) <= MAX_CLOCK_CHANGE, words)


def _trust(base: Report) -> Condition:
    trust = trust_in(base)
    return Condition("trust in the run", trust.level != "low", f"{trust.level}: {trust.why}")


def _quiet(findings: Sequence[Finding]) -> Condition:
    grade = overall(findings)
    causes = "; ".join(finding.state for finding in findings if finding.grade == grade)
    return Condition("quiet now", grade not in _UNFIT, f"{grade}: {causes}")
