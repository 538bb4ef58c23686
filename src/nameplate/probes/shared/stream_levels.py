"""Compute the bandwidth of mpi_stream's ranks and nodes over all repeats, by each of its definitions."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.run_record import NodeTimes, Sample, Spread

# Three times of a node: of every rank, from the first start to the last finish, and of the slowest rank.
LEVELS = ("rank", "window", "longest")
# DistributedStream's average of a node: the sum of its ranks' bandwidths, computed from their mean time.
RANK_SUM = "rank_sum"


def node_times(sample: Sample) -> list[NodeTimes]:
    """Return the times of a sample's nodes, in job order; empty if the sample does not distinguish nodes."""
    return sample.nodes if isinstance(sample.nodes, list) else []


def level_evidence(samples: Sequence[Sample]) -> dict[str, float]:
    """Return rates in B/s and times in s over all nodes and repeats, by name.

    For each level in ``LEVELS``, such as ``window``, the rates are ``window_average``, ``window_best`` and
    ``window_worst``. ``_s`` is appended for the time of each rate, and ``window_worst_node`` is the index of the worst
    node in the job's nodes. The rates of the level rank are of one rank, and the rates of the other levels of one node.
    An average rate is the bytes of a repeat divided by the average time.

    ``rank_sum_average``, with its time ``rank_sum_average_s``, is DistributedStream's average of a node; it can exceed
    ``longest_best``. Raises ValueError if no sample has nodes.
    """
    taken = [(index, node) for sample in samples for index, node in enumerate(node_times(sample))]
    nodes = [node for _, node in taken]
    evidence: dict[str, float] = {}
    for level in LEVELS:
        best = max((_rate(node, level, _times(node, level).minimum_s), index) for index, node in taken)
        worst = min((_rate(node, level, _times(node, level).maximum_s), index) for index, node in taken)
        evidence |= _average(nodes, level)
        evidence |= {f"{level}_best": best[0], f"{level}_worst": worst[0], f"{level}_worst_node": float(worst[1])}
        evidence[f"{level}_best_s"] = min(_times(node, level).minimum_s for node in nodes)
        evidence[f"{level}_worst_s"] = max(_times(node, level).maximum_s for node in nodes)
    return evidence | _average(nodes, RANK_SUM)


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
