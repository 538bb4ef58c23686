"""Find the settings of machines and runs that differ."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nameplate.records.machine_record import Machine
from nameplate.records.run_record import Run
from nameplate.units import memory_text, size_text


class SettingDifference(msgspec.Struct, frozen=True):
    """A property of the machine or the run that differs between two runs, such as "governor" or "kernel".

    ``base`` and ``new`` are its values as text.
    """

    name: str
    base: str
    new: str


def differing_settings(
    base: tuple[Run, Machine | None], new: tuple[Run, Machine | None]
) -> tuple[list[SettingDifference], list[str]]:
    """Return the properties that differ between two runs and their machines, and the names of those not compared.

    Each side is (run, its machine). Only properties that are stable and affect results are compared: those of the
    machine, the priority, and the version of nameplate. A property that only one of the two recorded is not compared.
    The machine is None if it was not recorded, as with the output of another tool, which has no priority and version of
    nameplate either. Both lists are in a fixed order.
    """
    differing, unchecked = differing_machine_settings(base[1], new[1])
    own = [("priority", base[0].priority, new[0].priority), ("nameplate", base[0].version, new[0].version)]
    if base[1] is not None and new[1] is not None:
        differing += [SettingDifference(*each) for each in own if each[1] != each[2]]
    return differing, unchecked


def differing_machine_settings(base: Machine | None, new: Machine | None) -> tuple[list[SettingDifference], list[str]]:
    """Return the properties that differ between two machines, and the names of properties that only one recorded.

    A machine is None if it was not recorded. Both lists are in a fixed order.
    """
    if base is None or new is None:
        return [], [] if base is new else ["the machine and its settings"]
    differing: list[SettingDifference] = []
    unchecked: list[str] = []
    for name, look in _MACHINE_SETTINGS.items():
        before, after = _text_of(look, base), _text_of(look, new)
        if before == after:
            continue
        if before is None or after is None:
            unchecked.append(name)
        else:
            differing.append(SettingDifference(name, before, after))
    return differing, unchecked


def _text_of(look: Callable[[Machine], object], machine: Machine) -> str | None:
    value = look(machine)
    if value is None:
        return None
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


_MACHINE_SETTINGS: dict[str, Callable[[Machine], object]] = {
    "CPU": lambda m: m.cpu.model or None,
    # Not the clock that /proc/cpuinfo lists: outside of guests, it is the clock at that moment.
    "base clock": lambda m: m.cpu.base_frequency_hz and f"{m.cpu.base_frequency_hz / 1e9:.1f} GHz",
    "governor": lambda m: m.cpu.governor,
    "turbo": lambda m: m.cpu.turbo,
    "SMT": lambda m: m.cpu.smt,
    "cores": lambda m: m.topology.cores if m.topology.are_cores_listed else None,
    "CPUs allowed": lambda m: m.topology.allowed_cpus,
    "CPU quota": lambda m: m.limits.cpus or "none",
    "memory": lambda m: memory_text(m.memory.total_bytes) if m.memory.total_bytes else None,
    "memory limit": lambda m: size_text(m.limits.memory_bytes) if m.limits.memory_bytes else "none",
    "page size": lambda m: size_text(m.memory.page_bytes),
    "huge pages": lambda m: m.memory.transparent_huge_pages or None,
    "NUMA nodes": lambda m: len(m.topology.numa_nodes),
    "vulnerable to": lambda m: m.vulnerable_to,
    "mitigations": lambda m: m.mitigated,
    "on battery": lambda m: m.power and m.power.on_battery,
    "power profile": lambda m: m.power and m.power.profile,
    "hypervisor": lambda m: m.hypervisor or ("none" if m.is_hypervisor_known else None),
    "emulated by": lambda m: m.emulator or "none",
    "container": lambda m: m.container or "none",
    "blocked calls": lambda m: m.blocked_calls,
    "kernel": lambda m: m.kernel or None,
    "distribution": lambda m: m.distribution or None,
}
