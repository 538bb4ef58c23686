"""Name the kind of memory that an experiment used, and what is special about its mount."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.probes import ResolvedExperiment
from nameplate.records.plan_record import Value


def kind_of(params: Mapping[str, Value]) -> str:
    """Return the kind of memory for a table's title, such as ``memory=pmem, path=/mnt/pmem``; "" for ordinary memory.

    ``params`` are the parameters of an experiment. The result lists ``memory``, ``path`` and ``persist``, without
    parameters that are missing. Memory is ordinary if ``memory`` is ``dram`` or missing.
    """
    if params.get("memory", "dram") == "dram":
        return ""
    return ", ".join(f"{name}={params[name]}" for name in ("memory", "path", "persist") if name in params)


def mount_remarks(experiment: ResolvedExperiment) -> list[str]:
    """Return remarks on the kind of file system that an experiment used as memory, and on doubts about its durability.

    The first remark depends on the labels ``filesystem``, ``path`` and ``mount``, which is "dax", "memory" or "file". A
    second one follows if the label ``durability``, which may be missing, is "forced" or "none". Raises KeyError if one
    of the other labels is missing, if ``mount`` has another value, or if ``durability`` is "none" and the parameter
    ``persist`` is missing.
    """
    labels = experiment.labels
    system, path = labels["filesystem"], labels["path"]
    mount = {
        "dax": f"{system} with DAX on {path}: loads and stores reach the device",
        "memory": f"{system} on {path}: ordinary memory, not persistent memory",
        "file": f"an ordinary file of {system} on {path}, through the page cache: not persistent memory",
    }[labels["mount"]]
    durability = labels.get("durability")
    if durability == "forced":
        return [mount, "PMEM_IS_PMEM_FORCE=1 makes libpmem treat it as persistent, whatever it is"]
    if durability != "none":
        return [mount]
    by_msync = experiment.params["persist"] != "none"
    return [mount, "not persistent: flushed by msync" if by_msync else "not persistent according to libpmem"]
