"""The levels of a memory hierarchy, from a curve of latency or rate against working-set size. Pure functions.

A level is a plateau of the curve (``plateaus.py`` lays them). Its effective size is where the curve leaves the plateau.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nameplate.plateaus import Line, choose_plateaus, find_knee, running_median
from nameplate.stats import median, median_interval


@dataclass(frozen=True)
class Curve:
    """Measured values against working-set size: ``values[i]`` are those of ``size_bytes[i]``, one per round.

    Sizes ascend, evenly or not. Rounds may be missing at a size, not all of them; values are above 0.
    """

    size_bytes: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Raises ValueError for what is no curve."""
        if len(self.size_bytes) != len(self.values):
            raise ValueError("a curve needs the values of each of its sizes")
        if any(size >= larger for size, larger in pairwise((0, *self.size_bytes))):
            raise ValueError("a curve's sizes must ascend from above 0")
        if not all(values and min(values) > 0 for values in self.values):
            raise ValueError("a curve needs values above 0 at each of its sizes")


@dataclass(frozen=True)
class Level:
    """One level of the hierarchy: a plateau of the curve, and where it ends.

    ``size_bytes`` is the effective capacity, the largest working set still served by the level, with its 95 % interval;
    None for the last level, whose end was not measured. ``value`` is the plateau's median in the curve's unit, with its
    95 % interval over rounds. The plateau was measured from ``first_bytes`` to ``last_bytes``. ``p_value`` is that of
    the permutation test for the step at its end.
    """

    size_bytes: float | None
    size_ci: tuple[float, float] | None
    value: float
    value_ci: tuple[float, float]
    first_bytes: int
    last_bytes: int
    p_value: float | None


def find_levels(curve: Curve, *, rising: bool, seed: int = 0) -> list[Level]:
    """The levels from the smallest to the largest; none for an empty curve.

    ``rising`` says which way the curve goes: True for a latency, False for a rate. ``seed`` is the permutations'.
    """
    if not curve.size_bytes:
        return []
    line = Line.of(curve.size_bytes, curve.values, rising)
    plateaus, p_values = choose_plateaus(line, np.random.default_rng(seed))
    knees = [find_knee(line, before, after) for before, after in pairwise(plateaus)]
    levels = []
    for plateau, knee, p_value in zip(plateaus, [*knees, None], [*p_values, None], strict=True):
        first, last = plateau
        if knee is not None:
            last = max(first, int(np.searchsorted(curve.size_bytes, knee[0], side="right")) - 1)
        size, size_ci = knee or (None, None)
        value, value_ci = _over_rounds(curve.values[first : last + 1])
        sizes = curve.size_bytes[first], curve.size_bytes[last]
        levels.append(Level(size, size_ci, value, value_ci, *sizes, p_value))
    return levels


def level_values(levels: Sequence[Level], curve: Curve) -> list[tuple[float, tuple[float, float]] | None]:
    """Another curve's median and 95 % interval at the sizes safely within each level; None where none was measured.

    A sixth of the plateau's octaves is left out beside each ramp: another curve may have its own a little apart.
    """
    result = []
    for index, level in enumerate(levels):
        margin = (level.last_bytes / level.first_bytes) ** (1 / 6)
        low = level.first_bytes * (margin if index > 0 else 1)
        high = math.inf if level.size_bytes is None else level.last_bytes / margin
        inside = [values for size, values in zip(curve.size_bytes, curve.values, strict=True) if low <= size <= high]
        result.append(_over_rounds(inside) if inside else None)
    return result


def step_across(curve: Curve, size_bytes: float) -> tuple[float, float] | None:
    """The curve's medians at 0.35 to 0.85 times a size and at 1.4 to 3 times it; None where either was not measured."""
    pairs = [(size / size_bytes, median(values)) for size, values in zip(curve.size_bytes, curve.values, strict=True)]
    below = [value for ratio, value in pairs if 0.35 <= ratio <= 0.85]
    above = [value for ratio, value in pairs if 1.4 <= ratio <= 3]
    return (median(below), median(above)) if below and above else None


def refine(size_bytes: Sequence[int], medians: Mapping[int, float], threshold: float = 0.08) -> set[int]:
    """The sizes of a dense grid worth measuring besides those in ``medians``, by what these came to.

    They lie between neighbours that differ by more than ``threshold``, and between the two before, so that the plateau
    before a knee is dense as well. A running median of three keeps single outlying sizes out, and steps in.
    """
    known = sorted(medians)
    logs = running_median(np.log([medians[size] for size in known]), 1)
    wanted: set[int] = set()
    for index in map(int, np.flatnonzero(abs(np.diff(logs)) > math.log1p(threshold))):
        wanted |= {size for size in size_bytes if known[max(0, index - 1)] < size < known[index + 1]}
    return wanted - set(known)


def _over_rounds(values: Sequence[Sequence[float]]) -> tuple[float, tuple[float, float]]:
    """The median over rounds of each round's median over sizes, and its 95 % interval.

    Below six rounds no interval of theirs covers 95 %: it is the range of all values then, which is wider.
    """
    rounds = [median([of[index] for of in values if index < len(of)]) for index in range(max(map(len, values)))]
    interval = median_interval(rounds)
    if interval is None:
        return median(rounds), (min(map(min, values)), max(map(max, values)))
    return median(rounds), (interval.low, interval.high)
