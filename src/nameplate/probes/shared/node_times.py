"""Combine a node's times over all samples of all rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nameplate.records.run_record import NodeTimes, Sample, Spread


def times_of_nodes(samples: Sequence[Sample]) -> list[NodeTimes]:
    """Return the times of each node over all samples, in job order; empty if the samples do not distinguish nodes.

    For each node, the numbers of repeats are added up, averages are weighted by the number of repeats, and the lowest
    minimum, the highest maximum and the largest skew of the samples are taken. Samples without nodes are ignored. The
    other samples must have the same nodes, ranks and bytes in a repeat. Raises ValueError if their numbers of nodes
    differ.
    """
    times_by_sample = [sample.nodes for sample in samples if isinstance(sample.nodes, list)]
    return [_merged(times_of_node) for times_of_node in zip(*times_by_sample, strict=True)]


def _merged(times: Sequence[NodeTimes]) -> NodeTimes:
    return NodeTimes(
        ranks=times[0].ranks,
        repeats=sum(part.repeats for part in times),
        bytes_in_repeat=times[0].bytes_in_repeat,
        window=_spread((part.window, part.repeats) for part in times),
        longest=_spread((part.longest, part.repeats) for part in times),
        rank=_spread((part.rank, part.repeats) for part in times),
        start_skew_s=max(part.start_skew_s for part in times),
    )


def _spread(parts: Iterable[tuple[Spread, int]]) -> Spread:
    """Return the minimum, maximum and average time over all repeats, given each part with its number of repeats."""
    weighted = list(parts)
    repeats = sum([number for _, number in weighted])
    return Spread(
        average_s=sum([spread.average_s * number for spread, number in weighted]) / repeats,
        minimum_s=min([spread.minimum_s for spread, _ in weighted]),
        maximum_s=max([spread.maximum_s for spread, _ in weighted]),
    )
