"""Read the MPI job of a run from the machine in its header."""

from __future__ import annotations

from collections import Counter

from nameplate.records.machine_record import Machine


def nodes_of(machine: Machine | None) -> list[str]:
    """Return the names of the job's nodes, in the order of ``Sample.nodes``; empty without job or machine."""
    return machine.job.nodes if machine and machine.job else []


def hardware_of(machine: Machine) -> list[str]:
    """Return the name of each node's hardware class, in the order of ``nodes_of``; empty without an MPI job.

    If no classes were recorded, all names are "".
    """
    job = machine.job
    if job is None:
        return []
    return [name for name, nodes in job.hardware or [("", len(job.nodes))] for _ in range(nodes)]


def node_names(machine: Machine) -> list[str]:
    """Return the name of the node that each rank runs on, by rank; empty without an MPI job."""
    job = machine.job
    return [job.nodes[node] for node, ranks in job.placement for _ in range(ranks)] if job else []


def placement_remark(pairs: int, between_nodes: int) -> str:
    """Return a remark whether the messages of pairs of ranks go between nodes or stay within one.

    ``between_nodes`` is the number of pairs, out of ``pairs``, whose ranks are on different nodes. The remark is
    ``within one node`` for 0, ``between nodes`` for all, or ``2 of 4 pairs between nodes``.
    """
    if between_nodes == 0:
        return "within one node"
    return "between nodes" if between_nodes == pairs else f"{between_nodes} of {pairs} pairs between nodes"


def party_names(machine: Machine | None, between: str, parties: int) -> list[str]:
    """Return the names of the parties between which messages were measured, in the order of their indices.

    ``between`` is "nodes" or "ranks", and ``parties`` their number. A node has its name, with its index as in ``node17
    [3]`` if several have the same name. A rank is ``3 (node17)``. If the job is not known or has a different number of
    parties, the names are the indices from 0.
    """
    nodes, job = nodes_of(machine), machine.job if machine else None
    if parties != (job.ranks if job and between == "ranks" else len(nodes)):
        return [str(index) for index in range(parties)]
    if machine and between == "ranks":
        return [f"{rank} ({node})" for rank, node in enumerate(node_names(machine))]
    counts = Counter(nodes)
    return [f"{node} [{index}]" if counts[node] > 1 else node for index, node in enumerate(nodes)]
