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

# Machines whose clocks under load differ by more than this share are not comparable, even with the same processor.
MAX_CLOCK_CHANGE = 0.03
# Facts about the machine that must be the same. Other settings may be the subject of the comparison.
_SAME = ("CPU", "cores", "SMT", "CPUs allowed", "CPU quota", "hypervisor", "emulated by")
_UNFIT = "?DF"


class Condition(msgspec.Struct, frozen=True):
    """A condition for the comparison of a machine with an earlier run.

    ``subject`` is the name of the condition, such as "clock under load", ``is_met`` says whether the condition holds,
    and ``state`` describes the observed state, such as "3.2 GHz → 3.1 GHz, -3.1 %".
    """

    subject: str = msgspec.field(name="what")
    is_met: bool
    state: str


class LoadedClock(msgspec.Struct, frozen=True):
    """The clock of this machine in hertz under the load of a run: its capability and its typical value.

    A clock that was not measured is None; ``why_not`` is then the reason, "" if the reason is not known.
    """

    capability_hz: float | None
    typical_hz: float | None
    why_not: str = ""


def clock_under_load(base: Report) -> Result | None:
    """Return the result of cpu_clock under load with the most threads, or None if ``base`` has no such value."""
    loaded = [
        result for result in base.results
        if result.summary.probe == "cpu_clock" and result.summary.value is not None
        and result.summary.params.get("under") != "idle"
    ]  # fmt: skip
    return max(loaded, key=lambda result: int(result.summary.params.get("threads", 0)), default=None)


def conditions(base: Report, machine: Machine, clock: LoadedClock, findings: Sequence[Finding]) -> list[Condition]:
    """Return the four conditions for comparing this machine with the machine of the run ``base``.

    The conditions are: the processor and its settings are equal; the clock under load differs by at most 3 %
    (``MAX_CLOCK_CHANGE``); the trust in the run is not low; and this machine is quiet now. ``machine`` is the record of
    this machine. ``clock`` is the clock of this machine under the load of ``clock_under_load(base)``; its capability is
    compared with the capability in ``base``, or its typical value with the typical value if ``base`` has no capability.
    ``findings`` are those on this machine's noise, steal time and other programs; quiet means that each is A, B or C.
    """
    trust, grade = trust_in(base), overall(findings)
    causes = "; ".join(finding.state for finding in findings if finding.grade == grade)
    return [
        _processor(base, machine),
        _clock(base, clock),
        Condition("trust in the run", trust.level != "low", f"{trust.level}: {trust.why}"),
        Condition("quiet now", grade not in _UNFIT, f"{grade}: {causes}"),
    ]


def _processor(base: Report, machine: Machine) -> Condition:
    settings, unchecked = differing_machine_settings(base.machine, machine)
    differing = [setting for setting in settings if setting.name in _SAME]
    unrecorded = unchecked if base.machine is None else [name for name in unchecked if name in _SAME]
    if unrecorded:
        return Condition("processor", False, f"not recorded by both: {', '.join(unrecorded)}")
    if differing:
        text = ", ".join(f"{setting.name}: {setting.base} → {setting.new}" for setting in differing)
        return Condition("processor", False, text)
    return Condition("processor", True, f"{machine.cpu.model}, {count(len(machine.topology.allowed_cpus), 'CPU')}")


def _clock(base: Report, clock: LoadedClock) -> Condition:
    result = clock_under_load(base)
    if result is None:
        return Condition("clock under load", False, "the run did not measure it; cpu_clock does")
    capability, typical = result.summary.capability, result.summary.value
    before, now = (typical, clock.typical_hz) if capability is None else (capability, clock.capability_hz)
    if now is None or before is None:
        text = ": ".join(filter(None, ["it could not be measured here", clock.why_not]))
        return Condition("clock under load", False, text)
    change = now / before - 1
    rounded = round(change * 100, 1) + 0.0  # the sum with zero has no sign if it is zero
    text = f"{quantity(before, 'Hz')} → {quantity(now, 'Hz')}, {rounded:+.1f} %"
    return Condition("clock under load", abs(change) <= MAX_CLOCK_CHANGE, text)
