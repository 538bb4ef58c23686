"""Name the kind of memory that an experiment really used."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.probes import ResolvedExperiment
from nameplate.records.plan_record import Value


def kind_of(params: Mapping[str, Value]) -> str:
    """Return the kind of memory for a table's title, such as ``memory=pmem, path=/mnt/pmem``; "" for ordinary memory.

    It has those of the parameters ``memory``, ``path`` and ``persist`` that are present, in this order. Memory is
    ordinary with ``memory=dram``, or without that parameter.
    """
    if params.get("memory", "dram") == "dram":
        return ""
    return ", ".join(f"{name}={params[name]}" for name in ("memory", "path", "persist") if name in params)


def mount_remarks(experiment: ResolvedExperiment) -> list[str]:
    """Return remarks on what an experiment's mount is, and on the durability of stores to it if that is in doubt.

    It reads the labels ``filesystem``, ``path`` and ``mount``, which is "dax", "memory" or "file", and raises KeyError
    if one is missing or ``mount`` is another word. The label ``durability`` may be missing; "forced" and "none" add a
    remark, and "none" needs the parameter ``persist``.
    """
    return [_mount(experiment.labels), *_durability(experiment)]


def _mount(labels: Mapping[str, str]) -> str:
    system, path = labels["filesystem"], labels["path"]
    return {
        "dax": f"{system} with DAX on {path}: loads and stores reach the device",
        "memory": f"{system} on {path}: ordinary memory, not persistent memory",
        "file": f"an ordinary file of {system} on {path}, through the page cache: not persistent memory",
    }[labels["mount"]]


def _durability(experiment: ResolvedExperiment) -> list[str]:
    durability = experiment.labels.get("durability")
    if durability == "forced":
        return ["PMEM_IS_PMEM_FORCE=1 makes libpmem treat it as persistent, whatever it is"]
    if durability != "none":
        return []
    return [
        "not persistent according to libpmem"
        if experiment.params["persist"] == "none"
        else "not persistent: flushed by msync"
    ]
