"""Measure two programs in pairs, and compare what the pairs give. ``versus`` and ``script/bench`` both use this."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from nameplate.statistics.stats import median_interval

Ours = TypeVar("Ours")
Theirs = TypeVar("Theirs")
Item = TypeVar("Item")


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

    ``ratios`` has one ratio per pair, at least one, in any order, all above 0. The median of an even number is the
    geometric mean of the two in the middle. The interval is the order-statistic one of ``median_interval``. Raises
    ValueError if there are no ratios.
    """
    interval = median_interval(ratios)
    return PairedRatio(_geometric_mean(_middle(sorted(ratios))), (interval.low, interval.high) if interval else None)


def middle_pair(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return the values of the pair that has the median ratio, that of ``ours`` first.

    The ratio of the two is the one that ``paired_ratio`` returns, which that of both sides' medians need not be. Both
    arguments are in the order of the pairs, of which there is at least one; all values are above 0. With an even number
    of pairs, the values are the geometric means of the two pairs in the middle. Raises ValueError if there are no
    pairs, or the numbers of values differ.
    """
    pairs = _middle(sorted(zip(ours, theirs, strict=True), key=lambda pair: pair[0] / pair[1]))
    return _geometric_mean([own for own, _ in pairs]), _geometric_mean([other for _, other in pairs])


def _middle(items: Sequence[Item]) -> Sequence[Item]:
    if not items:
        raise ValueError("no pairs")
    return items[(len(items) - 1) // 2 : len(items) // 2 + 1]


def _geometric_mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else math.sqrt(values[0]) * math.sqrt(values[1])
