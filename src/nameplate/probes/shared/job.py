"""Read the MPI job of a run from the machine in its header, and describe the messages between its ranks."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Metric, ResolvedExperiment
from nameplate.records.machine_record import Machine
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample


def nodes_of(machine: Machine | None) -> list[str]:
    """Return the names of the job's nodes, in the order of ``Sample.nodes``; empty without a machine or an MPI job."""
    return machine.job.nodes if machine and machine.job else []


def hardware_of(machine: Machine) -> list[str]:
    """Return the name of each node's hardware class, in the order of ``nodes_of``; empty without an MPI job.

    If the run recorded no classes, each name is "".
    """
    job = machine.job
    if job is None:
        return []
    return [name for name, nodes in job.hardware or [("", len(job.nodes))] for _ in range(nodes)]


def node_names(machine: Machine) -> list[str]:
    """Return, for each rank, the name of the node on which it runs; empty without an MPI job."""
    job = machine.job
    return [job.nodes[node] for node, ranks in job.placement for _ in range(ranks)] if job else []


def placement_remark(pairs: int, between_nodes: int) -> str:
    """Return a remark that says whether pairs of ranks exchange messages between nodes or within one.

    ``pairs`` is the number of all pairs, and ``between_nodes`` the number of pairs whose ranks are on different nodes.
    The remark is ``within one node`` if that is 0, ``between nodes`` if it is all pairs, otherwise ``2 of 4 pairs
    between nodes``.
    """
    if between_nodes == 0:
        return "within one node"
    return "between nodes" if between_nodes == pairs else f"{between_nodes} of {pairs} pairs between nodes"


def rated_messages(probe: str, metric: Metric, _: ResolvedExperiment, __: Sequence[Sample]) -> Rated:
    """Return a ``Rated`` that has no value: its ``source`` says why, and for a bandwidth how to give one.

    ``probe`` is the name of a probe of MPI messages. With this argument bound, the function is that probe's
    ``Probe.rated``. The experiment and the samples are not used.
    """
    if metric.name == "latency":
        return Rated(None, "message times are not specified", can_be_given=False)
    return Rated(None, f"MPI does not report which link its messages use; give it with --rated {probe}=1Gbit/s")
