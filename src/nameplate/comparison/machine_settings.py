"""Find the settings in which two runs, or their machines, differ."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nameplate.records.machine_record import Machine
from nameplate.records.run_record import Run
from nameplate.units import memory_text, size_text


class SettingDifference(msgspec.Struct, frozen=True):
    """A property of the machine or of the run that differs between two runs.

    ``name`` is the property, such as "governor" or "kernel"; ``base`` and ``new`` are its values as text.
    """

    name: str
    base: str
    new: str


def differing_settings(
    base: tuple[Run, Machine | None], new: tuple[Run, Machine | None]
) -> tuple[list[SettingDifference], list[str]]:
    """Return the settings that differ between two runs, and the names of the settings that could not be compared.

    ``base`` and ``new`` are (run, its machine), with None for a machine that was not recorded. The settings are those
    of ``differing_machine_settings``, the priority of the run's processes, and the version of nameplate. Priority and
    version are compared only if both machines were recorded, since another tool's output has neither. A property of the
    machine that only one side recorded is in the second list. Both lists are in a fixed order, and may be empty.
    """
    differing, unchecked = differing_machine_settings(base[1], new[1])
    settings_of_run = [("priority", base[0].priority, new[0].priority), ("nameplate", base[0].version, new[0].version)]
    if base[1] is not None and new[1] is not None:
        differing += [SettingDifference(*setting) for setting in settings_of_run if setting[1] != setting[2]]
    return differing, unchecked


def differing_machine_settings(base: Machine | None, new: Machine | None) -> tuple[list[SettingDifference], list[str]]:
    """Return the properties that differ between two machines, and the names of those that only one of them recorded.

    The properties are stable ones that affect results, such as the CPU model, the governor and the kernel. ``base`` and
    ``new`` are None for a machine that was not recorded. If only one is None, the second list has one entry for the
    whole machine; if both are, both lists are empty. Both lists are in a fixed order.
    """
    if base is None or new is None:
        return [], [] if base is new else ["the machine and its settings"]
    differing: list[SettingDifference] = []
    unchecked: list[str] = []
    for name, value_of in _MACHINE_SETTINGS.items():
        before, after = _text_of(value_of, base), _text_of(value_of, new)
        if before == after:
            continue
        if before is None or after is None:
            unchecked.append(name)
        else:
            differing.append(SettingDifference(name, before, after))
    return differing, unchecked


def _text_of(value_of: Callable[[Machine], object], machine: Machine) -> str | None:
    value = value_of(machine)
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
