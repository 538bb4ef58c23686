"""The machines on which made-up runs were measured."""

from __future__ import annotations

from typing import Any

import msgspec

from nameplate.records.machine_record import Machine, job_of

HOST = "secret-host-17"


def machine_with(base: Machine | None = None, **parts: Any) -> Machine:
    """Return a machine with some of its parts changed: ``machine_with(cpu={"model": "X"}, job={"nodes": ["a", "b"]})``.

    A part that is a mapping changes only the fields that it names. A job's missing fields are filled in: one rank per
    node.
    """
    complete = msgspec.to_builtins(base or MACHINE)
    if parts.get("job"):
        parts["job"] = _full_job(parts["job"])
    return msgspec.convert(_merged(complete, parts), Machine)


def _merged(complete: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    for name, part in parts.items():
        is_nested = isinstance(part, dict) and isinstance(complete.get(name), dict) and name != "job"
        complete[name] = _merged(complete[name], part) if is_nested else part
    return complete


def _full_job(job: dict[str, Any]) -> dict[str, Any]:
    n_nodes = len(job.get("nodes", [])) or 1 + max((node for node, _ in job.get("placement", [])), default=0)
    ranks = job.get("ranks") or sum(n for _, n in job.get("placement", [])) or n_nodes
    return {**msgspec.to_builtins(job_of(ranks, n_nodes)), **job}


_BARE: dict[str, Any] = {
    "hostname": "secret-host", "kernel": "6.1", "distribution": "Debian", "hypervisor": None, "product": None,
    "vulnerable_to": [], "load_1min": 0.0, "default_threads": 2,
    "cpu": {"architecture": "x86_64", "vendor": "V", "model": "M", "flags": [], "listed_frequency_hz": 2e9,
            "base_frequency_hz": None, "maximum_frequency_hz": None, "governor": None, "turbo": None, "smt": None},
    "memory": {"total_bytes": 2**33, "available_bytes": 2**32, "swap_bytes": 0, "transparent_huge_pages": "madvise"},
    "topology": {"packages": 1, "cores": 2, "threads": 2, "caches": [], "numa_nodes": [], "core_kinds": [],
                 "allowed_cpus": [0, 1], "allowed_cores": 2},
    "limits": {"cgroup_version": 0, "cpus": None, "memory_bytes": None},
}  # fmt: skip

MACHINE = msgspec.convert(_BARE, Machine)

# A guest with a cache, a NUMA node and limits.
GUEST = machine_with(
    cpu={"model": "Example CPU 9000", "base_frequency_hz": 2.0e9, "listed_frequency_hz": None},
    distribution="Debian GNU/Linux 12", hostname=HOST, hypervisor="kvm", kernel="6.1.0",
    limits={"cgroup_version": 2, "cpus": 1.5, "memory_bytes": 2 * 2**30},
    memory={"total_bytes": 8 * 2**30},
    topology={
        "caches": [{"count": 2, "level": 1, "shared_by": 1, "size_bytes": 32768, "type": "data", "line_bytes": 64}],
        "numa_nodes": [{"cpus": "0-1", "index": 0}],
    },
)  # fmt: skip
