"""State how much the capability of an unchanged machine varies from run to run, by the resource that limits it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from nameplate.records.machine_record import Machine
from nameplate.records.result import Result

Resource: TypeAlias = Literal["core", "cores", "memory", "disk", "network"]

# The standard deviation of the logarithm of a capability between runs of an unchanged machine. It is so large that few
# comparisons of a guest with itself at another time fail the gate (docs/measurements/comparison.md).
RUN_TO_RUN: dict[Resource, float] = {"core": 0.010, "cores": 0.02, "memory": 0.06, "disk": 0.13, "network": 0.1}
# The smallest loss that fails the gate, as a share: unchanged guests had larger differences than their variation
# from run to run explains, since hosts place memory and virtual disks anew.
MIN_LOSS: dict[Resource, float] = {"core": 0.03, "cores": 0.05, "memory": 0.10, "disk": 0.20, "network": 0.20}

# The resources that a program on another CPU does not use.
CORES: tuple[Resource, ...] = ("core", "cores")
_BY_AREA: dict[str, Resource] = {"cpu": "core", "null": "core", "memory": "memory", "disk": "disk"}
# Other data also occupies the cache.
_HELD = 0.5


def resource_of(result: Result, machine: Machine | None) -> Resource:
    """Return the resource that limits a metric: "core", "cores", "memory", "disk" or "network".

    ``result`` is a result of the metric. "core" includes the L1 cache, and "memory" the other caches. Several threads
    are limited by "cores", which vary more from run to run: the CPUs of a guest may share cores with other guests. An
    array counts as "core" or "cores" if the part of each thread is at most half of the L1 data cache. The L2 cache
    counts as "memory", since another guest may run on the other hardware thread of a core. ``machine`` lists the
    caches; with None, every array counts as "memory".
    """
    area = result.summary.probe.partition("_")[0]
    touched_bytes = result.facts.get("touched_bytes")
    threads = int(result.summary.params.get("threads", 1))
    of_cores: Resource = "core" if threads == 1 else "cores"
    if area not in ("cpu", "memory") or touched_bytes is None:
        resource = _BY_AREA.get(area, "network")
        return of_cores if resource == "core" else resource
    caches = machine.topology.caches if machine else []
    l1_bytes = min(
        (cache.size_bytes for cache in caches if cache.level == 1 and cache.type != "instruction"), default=0
    )
    return of_cores if touched_bytes / threads <= _HELD * l1_bytes else "memory"


def least_repeatable(resources: Iterable[Resource]) -> Resource:
    """Return the resource, of one or more, whose capability varies most between runs (``RUN_TO_RUN``)."""
    return max(resources, key=RUN_TO_RUN.__getitem__)
