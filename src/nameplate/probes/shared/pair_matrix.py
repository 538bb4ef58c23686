"""Handle values of all pairs of a job's nodes or ranks: an upper triangle, row by row (0-1, 0-2, …, 1-2, …)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity
from nameplate.records.run_record import Sample
from nameplate.statistics.stats import median

# Smaller messages are dominated by the start-up time, so that a rate would say nothing.
SMALLEST_BULK = 4096


def parties_of(values: Sequence[float]) -> int:
    """Return the number of parties of a triangle: n for n·(n−1)/2 ``values``, one for each pair; 1 for no values.

    For any other length, it is the number of parties of the largest triangle with at most as many values.
    """
    return (1 + math.isqrt(1 + 8 * len(values))) // 2


def pairs_of(parties: int) -> Iterator[tuple[int, int]]:
    """Yield every pair of the indices 0 to ``parties`` − 1 in the order of the triangle, the lower index first."""
    return combinations(range(parties), 2)


def pair_times(samples: Iterable[Sample]) -> list[float]:
    """Return the triangle of each pair's median over samples: the one-way seconds of a message.

    Samples without pairs are ignored. The list is empty if no sample has pairs, or their numbers differ.
    """
    return middles([sample.pairs for sample in samples if isinstance(sample.pairs, list)])


def middles(matrices: Sequence[Sequence[float]]) -> list[float]:
    """Return the triangle of each pair's median over several triangles of the same parties.

    The list is empty if there are no triangles, their lengths differ, or the length is not a number of pairs.
    """
    lengths = {len(matrix) for matrix in matrices}
    if len(lengths) != 1 or math.comb(parties_of(matrices[0]), 2) not in lengths:
        return []
    return [median(own) for own in zip(*matrices, strict=True)]


def party_medians(values: Sequence[float]) -> list[float]:
    """Return each party's median over its partners, in the order of the parties.

    ``values`` is a triangle of at least one pair, such as ``pair_times`` returns; any other length raises ValueError. A
    party with a slow link is slow with every partner, while a partner of slow parties is not: its median stays normal
    as long as fewer than half of its partners are slow.
    """
    parties = parties_of(values)
    rows: list[list[float]] = [[] for _ in range(parties)]
    for (one, other), value in zip(pairs_of(parties), values, strict=True):
        rows[one].append(value)
        rows[other].append(value)
    return [median(row) for row in rows]


def is_bulk(params: Mapping[str, Value]) -> bool:
    """Return whether messages are described by a bandwidth: their ``size`` is ``SMALLEST_BULK`` bytes or more.

    ``params`` are those of an experiment whose probe has the parameter ``size``, a whole number of bytes. Raises
    KeyError if there is none.
    """
    return int(params["size"]) >= SMALLEST_BULK


def message_metric(params: Mapping[str, Value], time_s: float) -> Quantity:
    """Return the metric value of a pair with the one-way time ``time_s``, above 0, of its messages.

    It is a bandwidth in B/s for large messages (see ``is_bulk``), and the time in s for small ones. ``params`` are
    those of the experiment, whose ``size`` is in bytes; without it, KeyError is raised.
    """
    return Quantity(int(params["size"]) / time_s, "B/s") if is_bulk(params) else Quantity(time_s, "s")


def message_metric_name(params: Mapping[str, Value]) -> str:
    """Return the name of the value that ``message_metric`` returns for ``params``: "bandwidth" or "message time".

    ``params`` are those of an experiment, as for ``is_bulk``.
    """
    return "bandwidth" if is_bulk(params) else "message time"
