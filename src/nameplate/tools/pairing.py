"""Measure two programs in pairs, and compute the ratio of their values.

The command ``versus`` and ``script/bench`` both use this module.
"""

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
    """Call ``ours`` and ``theirs`` one after the other, and return (result of ``ours``, result of ``theirs``).

    ``ours_first`` decides which function is called first, not the order of the results. Alternate it from pair to pair,
    so that a machine that warms up favours neither program. An interference that lasts longer than a pair slows both.
    """
    if ours_first:
        value = ours()
        return value, theirs()
    other = theirs()
    return ours(), other


def measure_pairs(
    number: int, ours: Callable[[], Ours], theirs: Callable[[], Theirs]
) -> tuple[list[Ours], list[Theirs]]:
    """Measure ``number`` pairs, and return (results of ``ours``, results of ``theirs``) in the order of the pairs.

    ``ours`` runs first in the first pair, and the order alternates from pair to pair. With ``number`` 0, nothing runs
    and both lists are empty.
    """
    pairs = [measure_pair(ours, theirs, ours_first=index % 2 == 0) for index in range(number)]
    return [first for first, _ in pairs], [second for _, second in pairs]


@dataclass(frozen=True)
class PairedRatio:
    """The median of the ratios that were given to ``paired_ratio``, and its 95 % interval ``ci`` (low, high).

    ``ci`` is None with fewer than six pairs.
    """

    median: float
    ci: tuple[float, float] | None


def paired_ratio(ratios: Sequence[float]) -> PairedRatio:
    """Return the median of the ratios of several pairs, with its exact 95 % interval.

    ``ratios`` has one ratio above 0 per pair, in any order, such as the first program's value ÷ the second program's
    value. With an even number of ratios, the median is the geometric mean of the two middle ratios. The interval is the
    order-statistic interval of ``median_interval``.

    Raises:
        ValueError: ``ratios`` is empty.
    """
    interval = median_interval(ratios)
    return PairedRatio(_geometric_mean(_middle(sorted(ratios))), (interval.low, interval.high) if interval else None)


def middle_pair(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return the values (ours, theirs) of the pair with the median ratio ours ÷ theirs.

    Their ratio equals the median that ``paired_ratio`` returns; the ratio of the two sides' medians may differ from it.
    ``ours[i]`` and ``theirs[i]`` are the values of pair i, all above 0. With an even number of pairs, each returned
    value is the geometric mean of the values of the two middle pairs.

    Raises:
        ValueError: there are no pairs, or the lengths of ``ours`` and ``theirs`` differ.
    """
    pairs = _middle(sorted(zip(ours, theirs, strict=True), key=lambda pair: pair[0] / pair[1]))
    return _geometric_mean([first for first, _ in pairs]), _geometric_mean([second for _, second in pairs])


def _middle(items: Sequence[Item]) -> Sequence[Item]:
    if not items:
        raise ValueError("no pairs")
    return items[(len(items) - 1) // 2 : len(items) // 2 + 1]


def _geometric_mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else math.sqrt(values[0]) * math.sqrt(values[1])
