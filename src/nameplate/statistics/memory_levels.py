"""What a curve of measured values tells: the levels of a memory hierarchy, and the MTU of a path. Pure functions.

A level is a plateau of the curve (``plateaus.py`` lays them). Its effective size is where the curve leaves the plateau.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from nameplate.statistics.plateaus import MINIMUM_STEP, LogCurve, choose_plateaus, find_knee, running_median
from nameplate.statistics.stats import median, median_interval


@dataclass(frozen=True)
class Curve:
    """Measured values against working-set size: ``values[i]`` are those of ``size_bytes[i]``, one per round.

    Sizes ascend, evenly or not. Rounds may be missing at a size, not all of them; values are above 0. ``best[i]``,
    where it is known, is the best single sample of all rounds: whatever disturbs a sample makes it worse, so that
    levels show in these where another program takes its share of a cache in one round and not in the next.
    """

    size_bytes: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]
    best: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for what is no curve."""
        if len(self.size_bytes) != len(self.values):
            raise ValueError("a curve needs the values of each of its sizes")
        if self.best and len(self.best) != len(self.values):
            raise ValueError("a curve needs the best value of each of its sizes, or of none")
        if any(size >= larger for size, larger in pairwise((0, *self.size_bytes))):
            raise ValueError("a curve's sizes must ascend from above 0")
        if not all(values and min(values) > 0 for values in (*self.values, *zip(self.best))):
            raise ValueError("a curve needs values above 0 at each of its sizes")


@dataclass(frozen=True)
class MemoryLevel:
    """One level of the hierarchy: a plateau of the curve, and where it ends.

    ``size_bytes`` is the effective capacity, the largest working set still served by the level, with its 95 % interval;
    None for the last level, whose end was not measured. ``value`` is the plateau's median in the curve's unit, with its
    95 % interval over rounds, ``best`` that of the best values. The plateau was measured from ``first_bytes`` to
    ``last_bytes``. ``p_value`` is that of the permutation test for the step at its end.
    """

    size_bytes: float | None
    size_ci: tuple[float, float] | None
    value: float
    value_ci: tuple[float, float]
    best: float
    first_bytes: int
    last_bytes: int
    p_value: float | None


def find_levels(curve: Curve, *, rising: bool, seed: int = 0) -> list[MemoryLevel]:
    """The levels from the smallest to the largest; none for an empty curve. Where they end is told by the best values.

    ``rising`` says which way the curve goes: True for a latency, False for a rate. ``seed`` is the permutations'.
    """
    if not curve.size_bytes:
        return []
    best = undisturbed(curve)
    line = LogCurve.of(best.size_bytes, best.values, rising)
    plateaus, p_values = choose_plateaus(line, np.random.default_rng(seed))
    line = LogCurve.of(best.size_bytes, undisturbed(bounded(curve, rising=rising)).values, rising)
    knees = [find_knee(line, before, after) for before, after in pairwise(plateaus)]
    levels = []
    for plateau, knee, p_value in zip(plateaus, [*knees, None], [*p_values, None], strict=True):
        first, last = plateau
        if knee is not None:
            last = max(first, int(np.searchsorted(curve.size_bytes, knee[0], side="right")) - 1)
        size, size_ci = knee or (None, None)
        value, value_ci = _over_rounds(curve.values[first : last + 1])
        sizes = curve.size_bytes[first], curve.size_bytes[last]
        levels.append(
            MemoryLevel(size, size_ci, value, value_ci, _over_rounds(best.values[first : last + 1])[0], *sizes, p_value)
        )
    return levels


def undisturbed(curve: Curve) -> Curve:
    """The curve of the best values alone, where they are known."""
    return Curve(curve.size_bytes, tuple((value,) for value in curve.best)) if curve.best else curve


def bounded(curve: Curve, *, rising: bool) -> Curve:
    """The curve with best values, where they are known, of which none is worse than a larger size's by a step or more.

    What a larger region was served in, a smaller one would have been as well, had nothing disturbed it. A larger one
    counts by the median of three sizes, lest a single lucky one bound all smaller ones. Plateaus are not looked for in
    these, since stairs have no noise.
    """
    if len(curve.best) < 3:
        return curve
    best = np.array(curve.best)
    possible = (np.minimum if rising else np.maximum).accumulate(running_median(best, 1)[::-1])[::-1]
    worse = np.log(best / possible) * (1 if rising else -1) >= MINIMUM_STEP
    return replace(curve, best=tuple(map(float, np.where(worse, possible, best))))


def level_values(levels: Sequence[MemoryLevel], curve: Curve) -> list[tuple[float, tuple[float, float]] | None]:
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


@dataclass(frozen=True)
class Mtu:
    """The MTU that explains the times of datagrams best, in bytes, and those that explain them as well."""

    mtu_bytes: float
    interval: tuple[float, float]


# Headers of IPv4 and UDP (RFC 791, RFC 768); every fragment but the last holds a multiple of eight bytes.
_IP_HEADER, _UDP_HEADER, _FRAGMENT_UNIT = 20, 8, 8
_SMALLEST_MTU = 576
_PERMUTATIONS = 500
# Times without spikes are a little alike between neighbours: at 1 % about 3 % of curves without fragments had an MTU.
_MTU_P = 0.003
_WIDEST_MTU = 0.1
_MIN_OF_A_KIND = 5
_NEGLIGIBLE = 1e-9
# A standard deviation by the median absolute deviation, and three of them.
_ROBUST = 1.4826
_SPIKE = 3 * _ROBUST
# The 95th percentile of chi-squared with three degrees of freedom, since two costs and a place are fitted.
_MTU_LIMIT = 7.81
# In standard deviations. Truncated at less than the limit, no single payload could exclude an MTU.
_TRUNCATED = 4.0
_REFITS = 15


def fragments_of(payload: int, mtu: int) -> int:
    """How many IPv4 packets a datagram with so many bytes of payload takes."""
    whole = (mtu - _IP_HEADER) // _FRAGMENT_UNIT * _FRAGMENT_UNIT
    beyond_last = payload + _UDP_HEADER - (mtu - _IP_HEADER)
    return 1 + max(0, math.ceil(beyond_last / whole))


def find_mtu(payloads: Sequence[int], rounds: Sequence[Sequence[float]], seed: int = 0) -> Mtu | None:
    """Return the MTU that explains best what datagrams of each payload take, and every MTU that the times allow.

    Fits time = a + b · payload + c · fragments + d · (more than one) for every MTU by least squares over the shortest
    time of each payload: whatever disturbs a round makes it longer. Spikes are cut off, since fragments make none.

    The interval holds every MTU whose residuals are hardly larger than the best one's (a likelihood-ratio set). A
    square counts up to that of four robust standard deviations (truncated squares), so that a payload that was
    disturbed in all rounds excludes no MTU. The interval also holds every MTU that cuts the same payloads at all. The
    number of further cuts chooses among these, but does not exclude any: such a cut costs so little that a step of
    another cause, which all rounds share, can be taken for it.

    Returns None where fragments explain no more than chance would, by a permutation test of the straight line's
    residuals at 0.3 %, and where the interval is wider than a tenth of the MTU.
    """
    alike = _alike(payloads)
    if not alike:
        return None
    line = np.linalg.qr(np.column_stack([np.ones(len(payloads)), payloads]))[0]
    costs = _Costs.of(line, np.array(list(alike), dtype=float))
    shortest = np.array([min(values) for values in rounds])
    times = _without_spikes(shortest)
    residuals = times - line @ (line.T @ times)
    explained = costs.explained(residuals)
    source = np.random.default_rng(seed)
    shuffled = (source.permutation(residuals) for _ in range(_PERMUTATIONS))
    by_chance = sum(costs.explained(rest).max() >= explained.max() for rest in shuffled)
    if (by_chance + 1) / (_PERMUTATIONS + 1) >= _MTU_P:
        return None
    best = int(explained.argmax())
    allowed = _hardly_worse(costs, line, shortest, best)
    whole = np.array([cut.count(1) for cut in alike])
    mtus = list(alike.values())
    held = [mtus[index] for index in np.flatnonzero(allowed | (whole == whole[best]))]
    low, high = min(each[0] for each in held), max(each[-1] for each in held)
    middle = _middle(mtus[best])
    return None if high - low > _WIDEST_MTU * middle else Mtu(middle, (low, high))


def _hardly_worse(costs: _Costs, line: Any, times: Any, best: int) -> Any:
    """Return which ways to cut leave truncated squares that add up to hardly more than the smallest sum.

    Each way is fitted again to times whose residuals are cut off (Huber's winsorised residuals), since a payload that
    was disturbed would draw the costs of the right way towards itself. The deviation is that of the way ``best``.
    """
    fitted_to = times[None, :]
    for _ in range(_REFITS):
        left = costs.left(fitted_to - fitted_to @ line @ line.T)
        residuals = times - fitted_to + left
        deviation = _ROBUST * np.median(np.abs(residuals[best]))
        bounded = np.clip(residuals, -_TRUNCATED * deviation, _TRUNCATED * deviation)
        fitted_to = times - residuals + bounded
    squares = np.sum(bounded**2, axis=1)
    return squares <= squares.min() + _MTU_LIMIT * deviation**2


def _without_spikes(times: Any) -> Any:
    """Return the times, none of which exceeds the running median of five by more than three robust deviations."""
    middle = running_median(times, 2)
    return np.minimum(times, middle + _SPIKE * np.median(np.abs(times - middle)))


def _alike(payloads: Sequence[int]) -> dict[tuple[int, ...], list[int]]:
    """Return the MTUs by the numbers of fragments of all payloads, where both whole and cut ones are several."""
    cuts: dict[tuple[int, ...], list[int]] = {}
    for mtu in range(_SMALLEST_MTU, max(payloads) + _IP_HEADER + _UDP_HEADER):
        cuts.setdefault(tuple(fragments_of(payload, mtu) for payload in payloads), []).append(mtu)
    return {cut: mtus for cut, mtus in cuts.items() if _MIN_OF_A_KIND <= cut.count(1) <= len(cut) - _MIN_OF_A_KIND}


@dataclass(frozen=True)
class _Costs:
    """What the number of fragments, and their being more than one, add to a straight line for each way to cut."""

    columns: Any  # [way to cut, payload, more than one or number]
    solutions: Any

    @classmethod
    def of(cls, line: Any, fragments: Any) -> _Costs:
        """Take ``fragments[i, j]`` of the payload j in the i-th way to cut."""
        columns = np.stack([fragments > 1, fragments], axis=2).astype(float)
        columns -= line @ (line.T @ columns)
        return cls(columns, np.linalg.pinv(columns))

    def explained(self, rest: Any) -> Any:
        """Return how much of the squares of what the line leaves each way explains, where neither saves any time."""
        return np.sum((rest @ self.columns) * self._weights(rest), axis=1)

    def left(self, rest: Any) -> Any:
        """Return what each way leaves of what the line leaves; ``rest`` has a row for each way, or one for all."""
        return rest - (self.columns @ self._weights(rest)[..., None])[..., 0]

    def _weights(self, rest: Any) -> Any:
        """Return the two costs in each way: both, or if one would save time, the one that explains more by itself."""
        both = (self.solutions @ rest[..., None])[..., 0]
        products = np.maximum((rest[..., None, :] @ self.columns)[..., 0, :], 0.0)
        squares = np.sum(self.columns**2, axis=1)
        alone = np.divide(products, squares, out=np.zeros_like(squares), where=squares > _NEGLIGIBLE)
        gains = alone * products
        alone[gains < gains.max(axis=1, keepdims=True)] = 0.0
        return np.where(both.min(axis=1, keepdims=True) >= 0, both, alone)


def _middle(mtus: Sequence[int]) -> float:
    """Of MTUs that cut the same payloads alike."""
    return (mtus[0] + mtus[-1]) / 2
