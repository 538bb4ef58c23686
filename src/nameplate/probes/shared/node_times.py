"""Combine a node's times over all samples of all rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nameplate.records.run_record import NodeTimes, Sample, Spread


def times_of_nodes(samples: Sequence[Sample]) -> list[NodeTimes]:
    """Return the times of each node over all samples, in job order; empty if the samples do not distinguish nodes.

    The repeats are added up, an average is weighted by their number, minimum and maximum are those of any sample, and
    the skew is the largest. Samples without nodes are ignored. The others must have the same nodes, ranks and bytes in
    a repeat; a different number of nodes raises ValueError.
    """
    found = [sample.nodes for sample in samples if isinstance(sample.nodes, list)]
    return [_merged(own) for own in zip(*found, strict=True)]


def _merged(times: Sequence[NodeTimes]) -> NodeTimes:
    return NodeTimes(
        ranks=times[0].ranks,
        repeats=sum(each.repeats for each in times),
        bytes_in_repeat=times[0].bytes_in_repeat,
        window=_spread((each.window, each.repeats) for each in times),
        longest=_spread((each.longest, each.repeats) for each in times),
        rank=_spread((each.rank, each.repeats) for each in times),
        start_skew_s=max(each.start_skew_s for each in times),
    )


def _spread(parts: Iterable[tuple[Spread, int]]) -> Spread:
    """Return the spread over all repeats; averages are weighted by their number of repeats."""
    own = list(parts)
    repeats = sum([number for _, number in own])
    return Spread(
        average_s=sum([spread.average_s * number for spread, number in own]) / repeats,
        minimum_s=min([spread.minimum_s for spread, _ in own]),
        maximum_s=max([spread.maximum_s for spread, _ in own]),
    )
