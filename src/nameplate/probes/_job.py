"""The MPI job that a run was measured in, as the header's machine has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def nodes_of(machine: Mapping[str, Any]) -> list[str]:
    """The job's nodes, in the order of a sample's."""
    job = machine.get("job")
    return [str(node) for node in job["nodes"]] if job else []


def node_names(machine: Mapping[str, Any]) -> list[str]:
    """Each rank's node; none without a job."""
    nodes = nodes_of(machine)
    return [nodes[node] for node, ranks in machine["job"]["placement"] for _ in range(ranks)] if nodes else []
