"""STREAM on all nodes of an MPI job at once: MPI ranks with OpenMP threads, the slowest rank and node by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nameplate.model import NodeTimes, Quantity, Rated, Result, Sample, Spread, Table, Value
from nameplate.probes import ByProbe, Cell, Cells, Metric, Probe, Ratio, elapsed, moved_bytes
from nameplate.probes._grid import Row
from nameplate.probes._job import nodes_of
from nameplate.probes._memory import is_beyond_caches, rated_bandwidth, remarks
from nameplate.probes._memory_kind import kind_of, mount_remarks

_FUNCTIONS = {"copy": "Copy", "scale": "Scale", "add": "Add", "triad": "Triad"}
# What is told of a node, or of a rank: its times, and how many share the node's bytes.
_LEVELS = ("rank", "window", "longest")


def _nodes(sample: Sample) -> list[NodeTimes]:
    return sample.nodes if isinstance(sample.nodes, list) else []


def _of_all_nodes(_: Cell, sample: Sample) -> float:
    return float(sum(node.bytes_in_repeat * node.repeats for node in _nodes(sample)))


def _node_seconds(_: Cell, sample: Sample) -> float:
    return sum(node.window.average_s * node.repeats for node in _nodes(sample))


def _rank_seconds(_: Cell, sample: Sample) -> float:
    return sum(node.rank.average_s * node.repeats * node.ranks for node in _nodes(sample))


def _start_skew(_: Cell, sample: Sample) -> float:
    return max((node.start_skew_s for node in _nodes(sample)), default=0.0)


def _one(_: Cell, __: Sample) -> float:
    return 1.0


def _several_nodes(cell: Cell) -> bool:
    return cell.facts["nodes"] > 1


def _rated(metric: Metric, cell: Cell, samples: Sequence[Sample]) -> Rated:
    if metric.name != "node_bandwidth":
        return Rated(None, "a node's memory has a nameplate, not a rank's share or a job's sum", can_be_given=False)
    if kind_of(cell.params):
        return Rated(None, "the nameplate is of the memory in the machine's slots, not of a mount", can_be_given=False)
    return rated_bandwidth(metric, cell, samples)


def _remarks(cell: Cell, samples: Sequence[Sample]) -> list[str]:
    if kind_of(cell.params):
        return [*mount_remarks(cell), *([] if is_beyond_caches(cell) else ["may fit the caches"])]
    return remarks(cell, samples)


def _rates(level: str, node: NodeTimes) -> tuple[float, float, float]:
    """Average, best and worst in B/s: of each rank, or of the node by its window or by its longest rank."""
    times: Spread = getattr(node, level)
    moved = node.bytes_in_repeat / (node.ranks if level == "rank" else 1)
    return moved / times.average_s, moved / times.minimum_s, moved / times.maximum_s


def _evidence(_: Cell, samples: Sequence[Sample]) -> dict[str, float]:
    """Of each level the average, best and worst rate and time of all repeats, and which node (its index) was worst."""
    found: dict[str, float] = {}
    for level in _LEVELS:
        rates = [(_rates(level, node), index) for sample in samples for index, node in enumerate(_nodes(sample))]
        worst, slowest = min((rate[2], index) for rate, index in rates)
        found[f"{level}_average"] = sum(rate[0] for rate, _ in rates) / len(rates)
        found[f"{level}_best"] = max(rate[1] for rate, _ in rates)
        found[f"{level}_worst"] = worst
        found[f"{level}_worst_node"] = float(slowest)
        times: list[Spread] = [getattr(node, level) for sample in samples for node in _nodes(sample)]
        found[f"{level}_average_s"] = sum([each.average_s for each in times]) / len(times)
        found[f"{level}_best_s"] = min([each.minimum_s for each in times])
        found[f"{level}_worst_s"] = max([each.maximum_s for each in times])
    return found


def _tables(by_probe: ByProbe, machine: Mapping[str, Any]) -> list[Table]:
    names = nodes_of(machine)
    own: dict[str, list[Result]] = {}
    for result in by_probe["mpi_stream"]:
        if result.summary.metric == "node_bandwidth" and result.evidence and result.summary.params["op"] in _FUNCTIONS:
            own.setdefault(kind_of(result.summary.params), []).append(result)
    titles = {
        "rank": "Each rank",
        "window": "Each node, from its first rank's start to its last one's finish",
        "longest": "Each node by the time of its slowest rank, as DistributedStream has it",
    }
    headings = ["Function", "average", "time", "best", "time", "worst", "time", "worst on"]
    return [
        Table("mpi_stream", f"{title}{_placing(results, kind)}", headings, [*_rows(results, level, names)],
              ["of all repeats in all rounds; the user's bytes"])
        for kind, results in own.items() for level, title in titles.items()
    ]  # fmt: skip


def _placing(results: Sequence[Result], kind: str) -> str:
    ranks, nodes = (int(results[0].facts[name]) for name in ("ranks", "nodes"))
    place = f"{ranks} ranks on {nodes} node{'s' if nodes > 1 else ''}, {results[0].summary.params['threads']} threads"
    return f" ({place}{f'; {kind}' if kind else ''})"


def _rows(results: Sequence[Result], level: str, names: Sequence[str]) -> Iterator[Row]:
    for function, shown in _FUNCTIONS.items():
        for result in (each for each in results if each.summary.params["op"] == function):
            figures = [
                Quantity(result.evidence[f"{level}_{which}{ending}"], unit)
                for which in ("average", "best", "worst")
                for ending, unit in (("", "B/s"), ("_s", "s"))
            ]
            yield [shown, *figures, names[int(result.evidence[f"{level}_worst_node"])]]


def _by_node(metric: Metric, _: Cell, samples: Sequence[Sample]) -> dict[int, float]:
    if metric.name != "node_bandwidth":
        return {}
    times = [_nodes(sample) for sample in samples]
    return {
        place: sum(node.bytes_in_repeat * node.repeats for node in own)
        / sum(node.window.average_s * node.repeats for node in own)
        for place, own in enumerate(zip(*times, strict=True))
    }


def _longest_setup_s(params: Mapping[str, Value]) -> float:
    """An ordinary disk may write each repeat out."""
    return 120.0 if kind_of(params) else 0.0


PROBE = Probe(
    name="mpi_stream",
    title="Memory bandwidth of all nodes",
    metrics=(
        Ratio("node_bandwidth", "B/s", "higher", _of_all_nodes, _node_seconds),
        Ratio("bandwidth", "B/s", "higher", _of_all_nodes, _rank_seconds),
        Ratio("job_bandwidth", "B/s", "higher", moved_bytes, elapsed, when=_several_nodes),
        Ratio("start_skew", "s", "lower", _start_skew, _one),
    ),
    rated=_rated,
    full=(
        Cells({"op": "copy,scale,add,triad"}, slice_s=0.3),
    ),
    sweep=(
        Cells({"op": "copy,scale,add,triad"}, slice_s=0.5),
    ),
    overhead_s=1.0,
    longest_setup_s=_longest_setup_s,
    remarks=_remarks,
    evidence=_evidence,
    tables=_tables,
    by_node=_by_node,
)  # fmt: skip
