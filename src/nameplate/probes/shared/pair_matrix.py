"""Figures of all pairs of a job's nodes or ranks: the upper triangle of a matrix, row by row (0-1, 0-2, …, 1-2, …)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from nameplate.records.model import Quantity, Sample, Value
from nameplate.statistics.stats import median

# Below this a message's time is all start-up, and a rate says nothing.
SMALLEST_BULK = 4096


def parties_of(values: Sequence[float]) -> int:
    """How many parties have so many pairs."""
    return (1 + math.isqrt(1 + 8 * len(values))) // 2


def pairs_of(parties: int) -> Iterator[tuple[int, int]]:
    """Every pair in the order of the triangle, the lower index first."""
    return combinations(range(parties), 2)


def pair_times(samples: Iterable[Sample]) -> list[float]:
    """Each pair's median over samples: one-way seconds of a message. Empty where no sample has pairs."""
    return middles([sample.pairs for sample in samples if isinstance(sample.pairs, list)])


def middles(matrices: Sequence[Sequence[float]]) -> list[float]:
    """Each pair's median over several matrices. Empty where they are none, or not all of the same parties."""
    lengths = {len(matrix) for matrix in matrices}
    if len(lengths) != 1 or math.comb(parties_of(matrices[0]), 2) not in lengths:
        return []
    return [median(own) for own in zip(*matrices, strict=True)]


def party_medians(values: Sequence[float]) -> list[float]:
    """Each party's median over its partners, in the order of the parties.

    A party whose link is slow is slow with everyone, while a partner of slow ones is not: as long as fewer than half
    of its partners are slow, its median is that of the others.
    """
    parties = parties_of(values)
    rows: list[list[float]] = [[] for _ in range(parties)]
    for (one, other), value in zip(pairs_of(parties), values, strict=True):
        rows[one].append(value)
        rows[other].append(value)
    return [median(row) for row in rows]


def is_bulk(params: Mapping[str, Value]) -> bool:
    """Whether a cell's messages are so large that they have a bandwidth."""
    return int(params["size"]) >= SMALLEST_BULK


def message_figure(params: Mapping[str, Value], time_s: float) -> Quantity:
    """What a pair is told by: the bandwidth of large messages, the one-way time of small ones."""
    return Quantity(int(params["size"]) / time_s, "B/s") if is_bulk(params) else Quantity(time_s, "s")


def figure_name(params: Mapping[str, Value]) -> str:
    """In words what ``message_figure`` gives."""
    return "bandwidth" if is_bulk(params) else "time of a message"
