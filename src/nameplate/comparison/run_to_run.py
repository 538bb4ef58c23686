"""Know how much the capability of an unchanged machine varies from run to run, by what limits the metric."""

from __future__ import annotations

from typing import Literal, TypeAlias

from nameplate.records.machine_record import Machine
from nameplate.records.result import Result

Resource: TypeAlias = Literal["core", "memory", "disk", "network"]

# The standard deviation of the logarithm of a capability between runs of an unchanged machine. It is so large that few
# comparisons of a recorded guest with itself at another time are FASTER or SLOWER: at most 1 % of any resource of an
# idle guest, and 3 % of a busy one. Beside a load that takes part of the memory all the time there are more
# (docs/measurements/comparison.md).
RUN_TO_RUN: dict[Resource, float] = {"core": 0.007, "memory": 0.045, "disk": 0.13, "network": 0.1}

_BY_AREA: dict[str, Resource] = {"cpu": "core", "null": "core", "memory": "memory", "disk": "disk"}
# Other data also occupies the cache.
_HELD = 0.5


def resource_of(result: Result, machine: Machine | None) -> Resource:
    """Return what limits a metric: the core with its L1 cache, caches and memory beyond it, a disk, or a network.

    An array belongs to the core if its part for each thread is at most half of the L1 data cache. The L2 cache does
    not: in a guest, the other hardware thread of the core may be that of another guest. ``machine`` lists the caches;
    without it, no array is small.
    """
    area = result.summary.probe.partition("_")[0]
    touched_bytes = result.facts.get("touched_bytes")
    if area not in ("cpu", "memory") or touched_bytes is None:
        return _BY_AREA.get(area, "network")
    threads = int(result.summary.params.get("threads", 1))
    return "core" if touched_bytes / threads <= _HELD * _l1_bytes(machine) else "memory"


def run_to_run(result: Result, machine: Machine | None) -> float:
    """Return the standard deviation of the logarithm of a capability between runs of an unchanged machine."""
    return RUN_TO_RUN[resource_of(result, machine)]


def _l1_bytes(machine: Machine | None) -> int:
    caches = machine.topology.caches if machine else []
    return min((cache.size_bytes for cache in caches if cache.level == 1 and cache.type != "instruction"), default=0)
