"""Read the MPI job of a run from the machine in its header."""

from __future__ import annotations

from collections import Counter

from nameplate.records.machine_record import Machine


def nodes_of(machine: Machine) -> list[str]:
    """Return the job's nodes, in the order of a sample's nodes."""
    return machine.job.nodes if machine.job else []


def hardware_of(machine: Machine) -> list[str]:
    """Return each node's hardware class, in the same order; all equal if none was recorded."""
    job = machine.job
    if job is None:
        return []
    return [name for name, nodes in job.hardware or [("", len(job.nodes))] for _ in range(nodes)]


def node_names(machine: Machine) -> list[str]:
    """Return each rank's node; empty if there is no job."""
    job = machine.job
    return [job.nodes[node] for node, ranks in job.placement for _ in range(ranks)] if job else []


def placement_remark(pairs: int, between_nodes: int) -> str:
    """Return whether messages went between nodes or stayed within one."""
    if between_nodes == 0:
        return "within one node"
    return "between nodes" if between_nodes == pairs else f"{between_nodes} of {pairs} pairs between nodes"


def party_names(machine: Machine | None, between: str, parties: int) -> list[str]:
    """Return the names of a job's nodes, or its ranks as ``3 (node17)``; equal names are distinguished by their number.

    If the job is not known or has a different number of parties, the names are numbers.
    """
    job = machine.job if machine else None
    nodes = job.nodes if job else []
    if parties != (job.ranks if job and between == "ranks" else len(nodes)):
        return [str(index) for index in range(parties)]
    if machine and between == "ranks":
        return [f"{rank} ({node})" for rank, node in enumerate(node_names(machine))]
    counts = Counter(nodes)
    return [f"{node} [{index}]" if counts[node] > 1 else node for index, node in enumerate(nodes)]
