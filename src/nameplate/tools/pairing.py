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
    """Run both programs one after the other and return what they gave, ours first whatever the order.

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
    """Run this number of pairs in alternating order and return what both programs gave, in the order of the pairs."""
    pairs = [measure_pair(ours, theirs, ours_first=index % 2 == 0) for index in range(number)]
    return [own for own, _ in pairs], [other for _, other in pairs]


@dataclass(frozen=True)
class PairedRatio:
    """The median of the ratios of pairs, and its 95 % interval, which needs six pairs."""

    median: float
    ci: tuple[float, float] | None


def paired_ratio(ratios: Sequence[float]) -> PairedRatio:
    """Return the ratio of two programs from the ratio of each pair, of which there is at least one."""
    interval = median_interval(ratios)
    return PairedRatio(statistics.median(ratios), (interval.low, interval.high) if interval else None)
