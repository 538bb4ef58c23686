"""This probe runs STREAM on all nodes of an MPI job at once, with MPI ranks and OpenMP threads, and names the
slowest rank and node.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Metric, ParameterSweep, Probe, Ratio, ResolvedExperiment, elapsed, moved_bytes, one
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import ScreenLine
from nameplate.probes.shared.memory import ARRAYS, is_beyond_caches, rated_bandwidth, remarks
from nameplate.probes.shared.memory_kind import kind_of, mount_remarks
from nameplate.probes.shared.node_times import times_of_nodes
from nameplate.probes.shared.stream_levels import level_evidence, node_times
from nameplate.probes.shared.stream_tables import stream_tables
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample


def _of_all_nodes(_: ResolvedExperiment, sample: Sample) -> float:
    return float(sum(node.bytes_in_repeat * node.repeats for node in node_times(sample)))


def _node_seconds(_: ResolvedExperiment, sample: Sample) -> float:
    return sum(node.window.average_s * node.repeats for node in node_times(sample))


def _rank_seconds(_: ResolvedExperiment, sample: Sample) -> float:
    return sum(node.rank.average_s * node.repeats * node.ranks for node in node_times(sample))


def _mean_rank_seconds(_: ResolvedExperiment, sample: Sample) -> float:
    return sum(node.rank.average_s * node.repeats for node in node_times(sample))


def _start_skew(_: ResolvedExperiment, sample: Sample) -> float:
    return max((node.start_skew_s for node in node_times(sample)), default=0.0)


def _rated(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> Rated:
    if metric.name != "node_bandwidth":
        reason = "only a node's memory has a reference value, not a rank's share or the job's sum"
        return Rated(None, reason, can_be_given=False)
    if kind_of(experiment.params):
        return Rated(None, "the reference value is that of the installed memory, not of a mount", can_be_given=False)
    return rated_bandwidth(metric, experiment, samples)


def _remarks(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    if kind_of(experiment.params):
        return [*mount_remarks(experiment), *([] if is_beyond_caches(experiment) else ["may fit the caches"])]
    return remarks(experiment, samples)


def _by_node(metric: Metric, _: ResolvedExperiment, samples: Sequence[Sample]) -> dict[int, float]:
    if metric.name != "node_bandwidth":
        return {}
    times = [node_times(sample) for sample in samples]
    return {
        index: sum(node.bytes_in_repeat * node.repeats for node in times_of_node)
        / sum(node.window.average_s * node.repeats for node in times_of_node)
        for index, times_of_node in enumerate(zip(*times, strict=True))
    }


def _extremes_by_node(metric: Metric, samples: Sequence[Sample]) -> dict[int, tuple[float, float]]:
    if metric.name != "node_bandwidth":
        return {}
    return {
        index: (node.bytes_in_repeat / node.window.maximum_s, node.bytes_in_repeat / node.window.minimum_s)
        for index, node in enumerate(times_of_nodes(samples))
    }


PROBE = Probe(
    name="mpi_stream",
    title="Memory bandwidth of all nodes",
    metrics=(
        Ratio("node_bandwidth", "B/s", "higher", _of_all_nodes, _node_seconds),
        Ratio("bandwidth", "B/s", "higher", _of_all_nodes, _rank_seconds),
        Ratio("job_bandwidth", "B/s", "higher", moved_bytes, elapsed,
              when=lambda experiment: experiment.facts["nodes"] > 1),
        Ratio("rank_sum_bandwidth", "B/s", "higher", _of_all_nodes, _mean_rank_seconds, is_detail=True),
        Ratio("start_skew", "s", "lower", _start_skew, one),
    ),
    recorded=Recorded(
        params=("op", "size", "threads", "repeats"), facts=(*ARRAYS, "ranks", "nodes", "bus_bytes_per_byte"),
        divisors=("ranks", "nodes"),
    ),
    defining=("op", "threads"),
    rated=_rated,
    screen=(ScreenLine("MPI triad per node", ("node_bandwidth",), {"op": "triad"}),),
    full=(
        ParameterSweep({"op": "copy,scale,add,triad"}, slice_s=0.3),
    ),
    sweep=(
        ParameterSweep({"op": "copy,scale,add,triad"}, slice_s=0.5),
    ),
    overhead_s=1.0,
    # The disk behind a mount may write out every repeat.
    longest_setup_s=lambda params: 120.0 if kind_of(params) else 0.0,
    remarks=_remarks,
    evidence=lambda _, samples: level_evidence(samples),
    tables=stream_tables,
    by_node=_by_node,
    extremes_by_node=_extremes_by_node,
)  # fmt: skip
