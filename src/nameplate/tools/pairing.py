"""Measure two programs in pairs, and compare what the pairs give. ``versus`` and ``script/bench`` both use this."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from nameplate.statistics.stats import median_interval

Ours = TypeVar("Ours")
Theirs = TypeVar("Theirs")


def measure_pair(ours: Callable[[], Ours], theirs: Callable[[], Theirs], ours_first: bool) -> tuple[Ours, Theirs]:
    """Run both programs one after the other and return their results, that of ``ours`` first whichever ran first.

    Whatever slows the machine for longer than a pair slows both sides of it. Alternate ``ours_first`` from pair to
    pair, so that a machine that warms up favours neither.
    """
    if ours_first:
        own = ours()
        return own, theirs()
    other = theirs()
    return ours(), other


def measure_pairs(
    number: int, ours: Callable[[], Ours], theirs: Callable[[], Theirs]
) -> tuple[list[Ours], list[Theirs]]:
    """Run ``number`` pairs and return the results of ``ours`` and of ``theirs``, each in the order of the pairs.

    ``ours`` runs first in the first pair, and the order alternates from pair to pair. With ``number`` 0 nothing runs,
    and both lists are empty.
    """
    pairs = [measure_pair(ours, theirs, ours_first=index % 2 == 0) for index in range(number)]
    return [own for own, _ in pairs], [other for _, other in pairs]


@dataclass(frozen=True)
class PairedRatio:
    """The median of the ratios of pairs, and its 95 % interval (low, high), which is None with fewer than six pairs."""

    median: float
    ci: tuple[float, float] | None


def paired_ratio(ratios: Sequence[float]) -> PairedRatio:
    """Return the median of the ratios of pairs with its exact 95 % interval.

    ``ratios`` has one ratio per pair, at least one, in any order. The interval is the order-statistic one of
    ``median_interval``. Raises ValueError if there are no ratios.
    """
    interval = median_interval(ratios)
    return PairedRatio(statistics.median(ratios), (interval.low, interval.high) if interval else None)
