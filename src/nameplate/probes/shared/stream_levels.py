"""Compute the bandwidth of mpi_stream's ranks and nodes over all repeats, by each of its definitions."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.run_record import NodeTimes, Sample, Spread

# A node's times: those of every rank, from the first start to the last finish, and those of the slowest rank.
LEVELS = ("rank", "window", "longest")
# DistributedStream's average of a node: the sum of its ranks' bandwidths, computed from their mean time.
RANK_SUM = "rank_sum"


def node_times(sample: Sample) -> list[NodeTimes]:
    """Return the times of a sample's nodes, in job order; empty if the sample does not distinguish nodes."""
    return sample.nodes if isinstance(sample.nodes, list) else []


def level_evidence(samples: Sequence[Sample]) -> dict[str, float]:
    """Return rates in B/s and times in s over all nodes and repeats, by name.

    Each of ``LEVELS``, such as ``window``, has ``window_average``, ``window_best``, ``window_worst``, the time of each
    with the suffix ``_s``, and ``window_worst_node``, an index into the job's nodes. The rates are those of one rank
    for the level rank, and of one node for the others. An average rate is the bytes of a repeat divided by the average
    time. ``rank_sum_average``, with its time ``rank_sum_average_s``, is DistributedStream's average of a node; it can
    exceed ``longest_best``. At least one sample must have nodes, or ValueError is raised.
    """
    taken = [(place, node) for sample in samples for place, node in enumerate(node_times(sample))]
    nodes = [node for _, node in taken]
    found: dict[str, float] = {}
    for level in LEVELS:
        best = max((_rate(node, level, _times(node, level).minimum_s), place) for place, node in taken)
        worst = min((_rate(node, level, _times(node, level).maximum_s), place) for place, node in taken)
        found |= _average(nodes, level)
        found |= {f"{level}_best": best[0], f"{level}_worst": worst[0], f"{level}_worst_node": float(worst[1])}
        found[f"{level}_best_s"] = min(_times(node, level).minimum_s for node in nodes)
        found[f"{level}_worst_s"] = max(_times(node, level).maximum_s for node in nodes)
    return found | _average(nodes, RANK_SUM)


def _times(node: NodeTimes, level: str) -> Spread:
    times: Spread = getattr(node, "rank" if level == RANK_SUM else level)
    return times


def _parts(node: NodeTimes, level: str) -> int:
    """Return the number of parts into which a repeat's bytes are divided."""
    return node.ranks if level == "rank" else 1


def _rate(node: NodeTimes, level: str, seconds: float) -> float:
    return node.bytes_in_repeat / _parts(node, level) / seconds


def _average(nodes: Sequence[NodeTimes], level: str) -> dict[str, float]:
    moved = sum(node.bytes_in_repeat * node.repeats for node in nodes)
    repeats = sum(node.repeats * _parts(node, level) for node in nodes)
    seconds = sum(_times(node, level).average_s * node.repeats * _parts(node, level) for node in nodes)
    return {f"{level}_average": moved / seconds, f"{level}_average_s": seconds / repeats}
