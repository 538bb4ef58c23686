"""Implement ``nameplate machine``."""

from __future__ import annotations

from pathlib import Path

import msgspec

from nameplate.errors import FileError
from nameplate.execution.core_process import read_machine
from nameplate.records.machine_record import Cache, Cpu, GroupLimits, Machine, Topology
from nameplate.records.run_record import SCHEMA
from nameplate.report.content.format import count
from nameplate.report.content.platform_words import platform_words
from nameplate.report.html.facts import clock_rates, cpuid_facts, memory_and_pages, memory_modules, unlisted_cores
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.entries import Described, lay_out_entries
from nameplate.units import memory_text


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
    found = read_machine(str(root) if root else None)
    if json:
        whole = {"type": "machine", "schema": SCHEMA, **msgspec.to_builtins(found)}
        print(msgspec.json.format(msgspec.json.encode(whole), indent=2).decode())
        return 0
    console = make_console()
    for line in lay_out_entries([Described(label, (value,)) for label, value in _facts(found)], console.width):
        console.print(line)
    return 0


def _facts(found: Machine) -> list[tuple[str, str]]:
    cpu, topology, memory, limits = found.cpu, found.topology, found.memory, found.limits
    facts = [
        ("host", found.hostname),
        ("system", f"{found.distribution}, Linux {found.kernel}"),
        ("runs on", platform_words(found) or "bare metal (no hypervisor detected)"),
        ("product", found.product or "unknown"),
        ("CPU", f"{cpu.model or 'unknown model'} ({cpu.architecture})"),
        ("cores", _cores(topology)),
        ("allowed", f"{topology.allowed_cores} cores; {found.default_threads} workers by default"),
        ("clock", _clock(cpu)),
    ]
    facts += [(f"L{cache.level} {cache.type}", _cache(cache)) for cache in topology.caches]
    facts += cpuid_facts(topology)
    facts += [(f"NUMA node {node.index}", f"CPUs {node.cpus}") for node in topology.numa_nodes]
    facts += [(f"{kind.name or 'cores'} kind", f"{kind.cores} cores") for kind in topology.core_kinds[1:]]
    facts.append(("memory", memory_and_pages(memory)))
    facts.append(("memory modules", memory_modules(memory)))
    facts.append(("cgroup", _limits(limits)))
    return facts


def _cores(topology: Topology) -> str:
    if not topology.are_cores_listed:
        return unlisted_cores(topology)
    return f"{count(topology.packages, 'package')}, {topology.cores} cores, {topology.threads} threads"


def _clock(cpu: Cpu) -> str:
    return clock_rates(cpu) or "unknown; measure it with: nameplate run cpu_clock"


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
