"""Know how much the capability of an unchanged machine varies from run to run, by what limits the metric."""

from __future__ import annotations

from typing import Literal, TypeAlias

from nameplate.records.machine_record import Machine
from nameplate.records.result import Result

Resource: TypeAlias = Literal["core", "memory", "disk", "network"]

# The standard deviation of the logarithm of a capability between runs of an unchanged machine.
# docs/measurements/comparison.md has the recordings that it comes from.
RUN_TO_RUN: dict[Resource, float] = {"core": 0.007, "memory": 0.03, "disk": 0.08, "network": 0.1}

_BY_AREA: dict[str, Resource] = {"cpu": "core", "null": "core", "memory": "memory", "disk": "disk"}
# Near its size, a cache shares what it holds with other data and with page tables.
_HELD = 0.5
# A cache of a higher level may be shared with other guests, whatever the system lists.
_MAX_PRIVATE_LEVEL = 2


def resource_of(result: Result, machine: Machine | None) -> Resource:
    """Return what limits a metric: the core with its own caches, what cores share, a disk, or a network.

    Arrays whose part for each thread is at most half of the core's own cache are limited by the core, larger ones by
    the memory (with the caches that cores share). ``machine`` lists the caches; without it, no array is small.
    """
    area = result.summary.probe.partition("_")[0]
    touched_bytes = result.facts.get("touched_bytes")
    if area not in ("cpu", "memory") or touched_bytes is None:
        return _BY_AREA.get(area, "network")
    threads = int(result.summary.params.get("threads", 1))
    return "core" if touched_bytes / threads <= _HELD * _private_bytes(machine) else "memory"


def run_to_run(result: Result, machine: Machine | None) -> float:
    """Return the standard deviation of the logarithm of a capability between runs of an unchanged machine."""
    return RUN_TO_RUN[resource_of(result, machine)]


def _private_bytes(machine: Machine | None) -> int:
    if machine is None:
        return 0
    topology = machine.topology
    threads_per_core = max(1, topology.threads // max(1, topology.cores))
    return max(
        (
            cache.size_bytes
            for cache in topology.caches
            if cache.type != "instruction" and cache.level <= _MAX_PRIVATE_LEVEL and cache.shared_by <= threads_per_core
        ),
        default=0,
    )
