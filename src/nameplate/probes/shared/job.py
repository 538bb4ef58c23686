"""The MPI job that a run was measured in, as the header's machine has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any


def nodes_of(machine: Mapping[str, Any]) -> list[str]:
    """The job's nodes, in the order of a sample's."""
    job = machine.get("job")
    return [str(node) for node in job["nodes"]] if job else []


def hardware_of(machine: Mapping[str, Any]) -> list[str]:
    """Each node's hardware class, in the same order; one class where none was recorded."""
    runs = machine["job"].get("hardware", [("", len(machine["job"]["nodes"]))])
    return [str(name) for name, nodes in runs for _ in range(nodes)]


def node_names(machine: Mapping[str, Any]) -> list[str]:
    """Each rank's node; none without a job."""
    nodes = nodes_of(machine)
    return [nodes[node] for node, ranks in machine["job"]["placement"] for _ in range(ranks)] if nodes else []


def placement_remark(pairs: int, between_nodes: int) -> str:
    """Whether messages went between nodes, or within one."""
    if between_nodes == 0:
        return "within one node"
    return "between nodes" if between_nodes == pairs else f"{between_nodes} of {pairs} pairs between nodes"


def party_names(machine: Mapping[str, Any], between: str, parties: int) -> list[str]:
    """The nodes of a job, or its ranks as ``3 (node17)``; nodes of the same name are told apart by their number.

    Numbers alone, where the job is not known or has not so many.
    """
    nodes = nodes_of(machine)
    if parties != (machine["job"]["ranks"] if nodes and between == "ranks" else len(nodes)):
        return [str(index) for index in range(parties)]
    if between == "ranks":
        return [f"{rank} ({node})" for rank, node in enumerate(node_names(machine))]
    counts = Counter(nodes)
    return [f"{node} [{index}]" if counts[node] > 1 else node for index, node in enumerate(nodes)]
