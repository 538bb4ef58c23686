"""Name the kind of memory that an experiment really used."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.probes import ResolvedExperiment
from nameplate.records.model import Value


def kind_of(params: Mapping[str, Value]) -> str:
    """Return the kind for a table's title; empty for ordinary memory."""
    if params.get("memory", "dram") == "dram":
        return ""
    return ", ".join(f"{name}={params[name]}" for name in ("memory", "path", "persist") if name in params)


def mount_remarks(experiment: ResolvedExperiment) -> list[str]:
    """Return what a mount is, and whether stores to it are durable."""
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
