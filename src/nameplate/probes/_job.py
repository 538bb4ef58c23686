"""The MPI job that a run was measured in, as the header's machine has it."""

from __future__ import annotations

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
