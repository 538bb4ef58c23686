"""Implement ``nameplate machine``."""

from __future__ import annotations

from pathlib import Path

import msgspec

from nameplate.errors import FileError
from nameplate.execution.core_process import read_machine
from nameplate.records.machine_record import Cache, GroupLimits, Machine
from nameplate.records.run_record import SCHEMA
from nameplate.report.content.format import count
from nameplate.report.content.platform_text import platform_text
from nameplate.report.html.facts import clock_rates, cpuid_facts, memory_and_pages, memory_modules, unlisted_cores
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.entries import Described, lay_out_entries
from nameplate.units import memory_text

GROUP = "This machine and nameplate"


def command(*, root: Path | None = None, json: bool = False) -> int:
    """Show the facts of this machine: topology, caches, memory and limits.

    Parameters
    ----------
    root
        Read a recorded machine, whose proc and sys are in this directory, instead of this one.
    json
        Print all facts as JSON.
    """
    if root is not None and not root.is_dir():
        raise FileError(f"--root {root}: not a directory; name one that contains proc and sys of a recorded machine")
    machine = read_machine(str(root) if root else None)
    if json:
        record = {"type": "machine", "schema": SCHEMA, **msgspec.to_builtins(machine)}
        print(msgspec.json.format(msgspec.json.encode(record), indent=2).decode())
        return 0
    console = make_console()
    for line in lay_out_entries([Described(label, (value,)) for label, value in _facts(machine)], console.width):
        console.print(line)
    return 0


def _facts(machine: Machine) -> list[tuple[str, str]]:
    cpu, topology, memory, limits = machine.cpu, machine.topology, machine.memory, machine.limits
    cores = f"{count(topology.packages, 'package')}, {topology.cores} cores, {topology.threads} threads"
    facts = [
        ("host", machine.hostname),
        ("system", f"{machine.distribution}, Linux {machine.kernel}"),
        ("runs on", platform_text(machine) or "bare metal (no hypervisor detected)"),
        ("product", machine.product or "unknown"),
        ("CPU", f"{cpu.model or 'unknown model'} ({cpu.architecture})"),
        ("cores", cores if topology.are_cores_listed else unlisted_cores(topology)),
        ("allowed", f"{topology.allowed_cores} cores; {machine.default_threads} workers by default"),
        ("clock", clock_rates(cpu) or "unknown; measure it with: nameplate run cpu_clock"),
    ]
    facts += [(f"L{cache.level} {cache.type}", _cache(cache)) for cache in topology.caches]
    facts += cpuid_facts(topology)
    facts += [(f"NUMA node {node.index}", f"CPUs {node.cpus}") for node in topology.numa_nodes]
    facts += [(f"{kind.name or 'cores'} kind", f"{kind.cores} cores") for kind in topology.core_kinds[1:]]
    facts.append(("memory", memory_and_pages(memory)))
    facts.append(("memory modules", memory_modules(memory)))
    facts.append(("cgroup", _limits(limits)))
    return facts


def _cache(cache: Cache) -> str:
    size = f"{cache.size_bytes / 1024:g} KiB" if cache.size_bytes < 2**20 else f"{cache.size_bytes / 2**20:g} MiB"
    return f"{cache.count} × {size}, each for {count(cache.shared_by, 'thread')}, {cache.line_bytes} B lines"


def _limits(limits: GroupLimits) -> str:
    parts = []
    if limits.cpus:
        parts.append(f"{limits.cpus:g} CPUs")
    if limits.memory_bytes:
        left_bytes = limits.memory_available_bytes
        left = "" if left_bytes is None else f" ({memory_text(left_bytes)} left)"
        parts.append(memory_text(limits.memory_bytes) + left)
    if limits.are_visible is False:
        parts.append("others are not visible" if parts else "limits are not visible")
    return ", ".join(parts) or "no limit"
