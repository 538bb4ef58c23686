"""This probe exchanges messages between all pairs of nodes or ranks of an MPI job, to find slow nodes and slow
links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from nameplate.probes import Metric, ParameterSweep, Probe, ResolvedExperiment
from nameplate.probes.interface.pair_matrix import PairMatrix, Party, PartyKind
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.shared.job import node_names, nodes_of, placement_remark, rated_messages
from nameplate.probes.shared.median_pair import MedianPair
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Result
from nameplate.records.run_record import Sample
from nameplate.statistics.stats import percentile
from nameplate.units import size_text

# An upper limit for one tournament of 1,024 nodes; some tournaments precede the first sample.
LONGEST_CALIBRATION_S = 600.0
# Smaller messages are dominated by the start-up time, so that a rate would say nothing.
SMALLEST_BULK = 4096

_NODES = PartyKind(
    singular="node", plural="nodes", group="",
    slow_party="its network card, its cable or its processor", slow_pair="a slow link between two nodes",
    slow_squares="groups that communicate across a slower switch",
)  # fmt: skip
_RANKS = PartyKind(
    singular="rank", plural="ranks", group="node",
    slow_party="its core is busy or slow, or all links of its node are", slow_pair="a slow link between two ranks",
    slow_squares="groups that communicate across a slower link, such as that between two nodes or sockets",
)  # fmt: skip


def _parties(result: Result, machine: Machine | None) -> list[Party]:
    """Return the nodes or ranks of the job; empty without a job.

    A node has its name; if several nodes have the same name, the index is appended, as in ``node17 [3]``. A rank is ``3
    (node17)``, and its group is its node.
    """
    if machine and result.summary.params["between"] == "ranks":
        return [Party(f"{rank} ({node})", node) for rank, node in enumerate(node_names(machine))]
    nodes = nodes_of(machine)
    counts = Counter(nodes)
    return [Party(f"{node} [{index}]" if counts[node] > 1 else node) for index, node in enumerate(nodes)]


def _is_bulk(params: Mapping[str, Value]) -> bool:
    """Return whether messages are so large that a bandwidth is shown instead of a time."""
    return int(params["size"]) >= SMALLEST_BULK


def _displayed(params: Mapping[str, Value], time_s: float) -> tuple[str, Quantity]:
    if _is_bulk(params):
        return "bandwidth", Quantity(int(params["size"]) / time_s, "B/s")
    return "message time", Quantity(time_s, "s")


_MATRIX = PairMatrix(
    kind=lambda params: _RANKS if params["between"] == "ranks" else _NODES,
    parties=_parties,
    work=lambda params: f"messages of {size_text(float(params['size']))}",
    displayed=_displayed,
)


def _remarks(experiment: ResolvedExperiment, _: Sequence[Sample]) -> list[str]:
    parties = int(experiment.facts["parties"])
    return [placement_remark(parties * (parties - 1) // 2, int(experiment.facts["pairs_between_nodes"]))]


def _evidence(_: ResolvedExperiment, samples: Sequence[Sample]) -> dict[str, float]:
    """Return the 95th percentile and the maximum of the pairs' one-way times in seconds."""
    times = _MATRIX.between_two(_MATRIX.sample_medians(samples))
    return {"pair_p95_s": percentile(times, 0.95), "pair_worst_s": max(times)}


def _by_node(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> dict[int, float]:
    """Return the metric by node, computed from each node's median over its partners; empty unless nodes were paired."""
    if experiment.params.get("between") != "nodes" or not isinstance(metric, MedianPair) or not metric.when(experiment):
        return {}
    times = _MATRIX.party_medians(_MATRIX.sample_medians(samples))
    return {node: metric.from_value(experiment, time_s) for node, time_s in enumerate(times) if time_s is not None}


PROBE = Probe(
    name="mpi_pairs",
    title="MPI messages between all pairs",
    metrics=(
        MedianPair("latency", "s", "lower", _MATRIX),
        MedianPair("bandwidth", "B/s", "higher", _MATRIX,
                   lambda experiment, time_s: int(experiment.params["size"]) / time_s,
                   when=lambda experiment: _is_bulk(experiment.params)),
    ),
    recorded=Recorded(params=("size", "between"), facts=("parties", "pairs_between_nodes")),
    rated=partial(rated_messages, "mpi_pairs"),
    full=(
        ParameterSweep({"size": "8,1MiB"}, slice_s=0.02),
    ),
    sweep=(
        ParameterSweep({"size": "8,1MiB"}, slice_s=0.02),
    ),
    overhead_s=0.5,
    longest_setup_s=lambda _: LONGEST_CALIBRATION_S,
    remarks=_remarks,
    evidence=_evidence,
    network_use=lambda experiments, rounds: (
        f"at least {rounds * len(experiments)} tournaments of messages between all pairs"
    ),
    pair_matrix=_MATRIX,
    by_node=_by_node,
)  # fmt: skip
