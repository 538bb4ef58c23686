"""Find the levels of a memory hierarchy in a curve of latency or rate, and the MTU of a path. Pure functions.

A level is a plateau of the curve (see ``plateaus.py``). Its effective size is where the curve leaves the plateau.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from nameplate.statistics.constants import MAD_TO_SD
from nameplate.statistics.plateaus import MIN_STEP, LogCurve, choose_plateaus, find_knee, running_median
from nameplate.statistics.stats import median, median_interval


@dataclass(frozen=True)
class Curve:
    """A metric by working-set size, such as a latency or a rate, with one value per size and round.

    ``values[i]`` has the values of ``size_bytes[i]`` in the order of the rounds, in any one unit and above 0. Sizes
    ascend strictly; they need not be evenly spaced. A size may have fewer rounds than others, but at least one.
    ``best[i]`` is the best single sample of ``size_bytes[i]`` in all rounds; ``best`` is empty if the best samples are
    unknown. Disturbances only make samples worse, so the best samples show levels even if another program occupies part
    of a cache in some rounds.
    """

    size_bytes: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]
    best: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Check the curve.

        Raises:
            ValueError: the lengths differ, sizes are not above 0 or do not ascend, or a value is missing or not above
                0.
        """
        if len(self.size_bytes) != len(self.values):
            raise ValueError("a curve needs values for each of its sizes")
        if self.best and len(self.best) != len(self.values):
            raise ValueError("a curve needs the best value for each of its sizes, or for none")
        if any(size >= larger for size, larger in pairwise((0, *self.size_bytes))):
            raise ValueError("the sizes of a curve must be above 0 and ascend")
        if not all(values and min(values) > 0 for values in (*self.values, *zip(self.best))):
            raise ValueError("the values of a curve must be above 0, and each size needs at least one")


@dataclass(frozen=True)
class MemoryLevel:
    """One level of the memory hierarchy: a plateau of the curve, and the size at which it ends.

    ``size_bytes`` is the effective capacity, the largest working set that the level still serves, and ``size_ci`` its
    95 % interval (lower, upper) in bytes; both are None for the last level, whose end was not measured. ``value`` is
    the plateau's median in the curve's unit, and ``value_ci`` its 95 % interval (lower, upper) over rounds, or the
    range of all values with fewer than six rounds. ``best`` is the median of the best samples of the plateau's sizes,
    or equals ``value`` if the best samples are unknown. ``first_bytes`` and ``last_bytes`` are the smallest and the
    largest measured size of the plateau. ``p_value`` is the p-value of the permutation test for the step to the next
    level, None for the last level.
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
    """Return the levels in ascending order of size, located from the best samples if they are known.

    An empty curve has no level, and a curve without steps has one. ``rising`` says in which direction larger working
    sets are worse: True for a latency, False for a rate. ``seed`` is the seed of the permutations; the same seed gives
    the same levels. See ``plateaus.py`` for the method.
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
    """Return a curve whose only value of each size is its best sample, or ``curve`` itself if ``best`` is empty.

    The ``best`` of the new curve is empty.
    """
    return Curve(curve.size_bytes, tuple((value,) for value in curve.best)) if curve.best else curve


def bounded(curve: Curve, *, rising: bool) -> Curve:
    """Return the curve with best samples limited to at most 1.15 times worse than at larger sizes.

    The memory that served a larger working set could have served a smaller one as well. ``rising`` is True if larger
    values are worse (a latency), False if they are better (a rate). A worse best sample is replaced by the best running
    median over three sizes, among its own and all larger sizes, so that one lucky sample does not limit all smaller
    sizes. ``values`` do not change. The curve is returned unchanged if the best samples are unknown or there are fewer
    than three sizes. Do not search the result for plateaus: its replaced values have no noise.
    """
    if len(curve.best) < 3:
        return curve
    best = np.array(curve.best)
    possible = (np.minimum if rising else np.maximum).accumulate(running_median(best, 1)[::-1])[::-1]
    worse = np.log(best / possible) * (1 if rising else -1) >= MIN_STEP
    return replace(curve, best=tuple(map(float, np.where(worse, possible, best))))


def level_values(levels: Sequence[MemoryLevel], curve: Curve) -> list[tuple[float, tuple[float, float]] | None]:
    """Return the median of another curve within each level, with its 95 % interval (lower, upper).

    ``levels`` are in ascending order, as ``find_levels`` returns them; ``curve`` is any other metric of the same
    machine. The result has an entry for each level in the curve's unit, None for a level in which ``curve`` has no
    size. With fewer than six rounds the interval is the range of all values. A sixth of the plateau's octaves is left
    out next to each ramp, since the ramps of another curve may be displaced.
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
    """Return the median values of a curve (just below, just above) a size, or None if either was not measured.

    The sizes just below are 0.35 to 0.85 times ``size_bytes``, those just above 1.4 to 3 times. Each of the two values
    is the median over sizes of the medians over rounds, in the curve's unit.
    """
    pairs = [(size / size_bytes, median(values)) for size, values in zip(curve.size_bytes, curve.values, strict=True)]
    below = [value for ratio, value in pairs if 0.35 <= ratio <= 0.85]
    above = [value for ratio, value in pairs if 1.4 <= ratio <= 3]
    return (median(below), median(above)) if below and above else None


def refine(size_bytes: Sequence[int], medians: Mapping[int, float], threshold: float = 0.08) -> set[int]:
    """Return the sizes of a dense grid to measure next, given the medians of the sizes measured so far.

    ``size_bytes`` is the dense grid in any order; ``medians`` maps each measured size in bytes to its value, above 0
    and in any unit. Two neighbouring measured sizes differ if the larger value exceeds the smaller one by more than the
    share ``threshold`` (0.08 is 8 %). The result has the sizes of the grid between such neighbours, and between the
    smaller neighbour and the measured size before it, so that the plateau before a knee is dense as well. Measured
    sizes are left out. The result is empty if no neighbours differ, or with fewer than two measured sizes. Values are
    compared after a running median of three, which ignores single outliers and keeps steps.
    """
    known = sorted(medians)
    logs = running_median(np.log([medians[size] for size in known]), 1)
    requested: set[int] = set()
    for index in map(int, np.flatnonzero(abs(np.diff(logs)) > math.log1p(threshold))):
        requested |= {size for size in size_bytes if known[max(0, index - 1)] < size < known[index + 1]}
    return requested - set(known)


def _over_rounds(values: Sequence[Sequence[float]]) -> tuple[float, tuple[float, float]]:
    """Return the median over rounds of each round's median over sizes, and its 95 % interval.

    With fewer than six rounds no order-statistic interval covers 95 %; the wider range of all values is returned
    instead.
    """
    rounds = [median([of[index] for of in values if index < len(of)]) for index in range(max(map(len, values)))]
    interval = median_interval(rounds)
    if interval is None:
        return median(rounds), (min(map(min, values)), max(map(max, values)))
    return median(rounds), (interval.low, interval.high)


@dataclass(frozen=True)
class Mtu:
    """The MTU of a path, estimated from the times of datagrams.

    ``mtu_bytes`` is the MTU that explains the times best: the middle of the MTUs that split all payloads alike.
    ``interval`` has the lowest and the highest MTU in bytes that explain the times about as well.
    """

    mtu_bytes: float
    interval: tuple[float, float]


# Headers of IPv4 and UDP (RFC 791, RFC 768); every fragment except the last has a multiple of eight bytes.
_IP_HEADER, _UDP_HEADER, _FRAGMENT_UNIT = 20, 8, 8
_SMALLEST_MTU = 576
_PERMUTATIONS = 500
# Neighbouring times are slightly correlated: at a level of 1 %, about 3 % of curves without fragments had an MTU.
_MTU_P = 0.003
_WIDEST_MTU = 0.1
_MIN_OF_A_KIND = 5
_NEGLIGIBLE = 1e-9
# Three standard deviations, in median absolute deviations.
_SPIKE = 3 * MAD_TO_SD
# The 95th percentile of chi-squared with three degrees of freedom: two costs and a position are fitted.
_MTU_LIMIT = 7.81
# In standard deviations. Truncated at less than the limit, no single payload could exclude an MTU.
_TRUNCATED = 4.0
_REFITS = 15


def fragments_of(payload: int, mtu: int) -> int:
    """Return the number of IPv4 packets into which a UDP datagram is split.

    ``payload`` is the payload of the datagram in bytes, without headers. ``mtu`` is the maximum size of a packet in
    bytes, including the IPv4 header, and at least 28. The headers are those of IPv4 without options (RFC 791) and UDP
    (RFC 768). The result is at least 1, even for an empty payload.
    """
    payload_bytes = (mtu - _IP_HEADER) // _FRAGMENT_UNIT * _FRAGMENT_UNIT
    beyond_last = payload + _UDP_HEADER - (mtu - _IP_HEADER)
    return 1 + max(0, math.ceil(beyond_last / payload_bytes))


def find_mtu(payloads: Sequence[int], rounds: Sequence[Sequence[float]], seed: int = 0) -> Mtu | None:
    """Return the MTU that explains best how long datagrams of each payload take, and the interval of possible MTUs.

    ``payloads`` are the payloads of UDP datagrams over IPv4, in bytes without headers, strictly ascending; at least
    one. ``rounds[i]`` has the time of ``payloads[i]`` in each round, in seconds, for at least one round. ``seed`` is
    the seed of the permutations. The MTU includes the IPv4 header, as in ``fragments_of``, which splits the datagrams.

    Fits time = a + b · payload + c · fragments + d · (more than one) for every MTU from 576 bytes by least squares to
    the minimum time of each payload, since disturbances only make a round longer. Spikes are clipped, since fragments
    do not cause any.

    The interval contains every MTU whose residuals are hardly larger than those of the best MTU (a likelihood-ratio
    set). Squared residuals are truncated at four robust standard deviations, so that a payload that was disturbed in
    all rounds excludes no MTU. The interval also contains every MTU that splits the same payloads as the best MTU. The
    numbers of their fragments help to decide which of these MTUs is the best, but exclude none of them: a third or
    later fragment costs so little that a common step of another cause can be mistaken for it.

    The result is None if fragments explain no more than chance at 0.3 %, by a permutation test of the straight line's
    residuals, if the interval is wider than a tenth of the MTU, or if no MTU leaves at least five payloads whole and
    splits at least five.
    """
    alike = _alike(payloads)
    if not alike:
        return None
    line = np.linalg.qr(np.column_stack([np.ones(len(payloads)), payloads]))[0]
    costs = _Costs.of(line, np.array(list(alike), dtype=float))
    shortest = np.array([min(values) for values in rounds])
    trend = running_median(shortest, 2)
    times = np.minimum(shortest, trend + _SPIKE * np.median(np.abs(shortest - trend)))
    residuals = times - line @ (line.T @ times)
    explained = costs.explained(residuals)
    source = np.random.default_rng(seed)
    shuffled = (source.permutation(residuals) for _ in range(_PERMUTATIONS))
    by_chance = sum(costs.explained(rest).max() >= explained.max() for rest in shuffled)
    if (by_chance + 1) / (_PERMUTATIONS + 1) >= _MTU_P:
        return None
    best = int(explained.argmax())
    allowed = _hardly_worse(costs, line, shortest, best)
    counts = np.array([cut.count(1) for cut in alike])
    mtus = list(alike.values())
    held = [mtus[index] for index in np.flatnonzero(allowed | (counts == counts[best]))]
    low, high = min(group[0] for group in held), max(group[-1] for group in held)
    middle = (mtus[best][0] + mtus[best][-1]) / 2
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
        deviation = MAD_TO_SD * np.median(np.abs(residuals[best]))
        bounded = np.clip(residuals, -_TRUNCATED * deviation, _TRUNCATED * deviation)
        fitted_to = times - residuals + bounded
    squares = np.sum(bounded**2, axis=1)
    return squares <= squares.min() + _MTU_LIMIT * deviation**2


def _alike(payloads: Sequence[int]) -> dict[tuple[int, ...], list[int]]:
    """Return the MTUs by the number of fragments of every payload, if several payloads are whole and several are
    split.
    """
    cuts: dict[tuple[int, ...], list[int]] = {}
    for mtu in range(_SMALLEST_MTU, max(payloads) + _IP_HEADER + _UDP_HEADER):
        cuts.setdefault(tuple(fragments_of(payload, mtu) for payload in payloads), []).append(mtu)
    return {cut: mtus for cut, mtus in cuts.items() if _MIN_OF_A_KIND <= cut.count(1) <= len(cut) - _MIN_OF_A_KIND}


@dataclass(frozen=True)
class _Costs:
    """The columns that each way of splitting adds to a straight line: more than one fragment, and their number."""

    columns: Any  # [way of splitting, payload, more than one or number]
    solutions: Any

    @classmethod
    def of(cls, line: Any, fragments: Any) -> _Costs:
        """Return the columns for ``fragments[i, j]``, the number for payload j in the i-th way of splitting.

        ``line`` has orthonormal columns, one row per payload, that span the straight lines.
        """
        columns = np.stack([fragments > 1, fragments], axis=2).astype(float)
        columns -= line @ (line.T @ columns)
        return cls(columns, np.linalg.pinv(columns))

    def explained(self, rest: Any) -> Any:
        """Return the part of the line's squared residuals that each way of splitting explains, as an array.

        ``rest`` has the residual of each payload from the straight line. Costs are not negative.
        """
        return np.sum((rest @ self.columns) * self._weights(rest), axis=1)

    def left(self, rest: Any) -> Any:
        """Return the residuals that each way of splitting leaves, as an array [way, payload].

        ``rest`` has the residuals from the straight line, in a row for each way, or one row for all.
        """
        return rest - (self.columns @ self._weights(rest)[..., None])[..., 0]

    def _weights(self, rest: Any) -> Any:
        """Return the two costs of each way: both, or if one would be negative, only the one that explains more."""
        both = (self.solutions @ rest[..., None])[..., 0]
        products = np.maximum((rest[..., None, :] @ self.columns)[..., 0, :], 0.0)
        squares = np.sum(self.columns**2, axis=1)
        alone = np.divide(products, squares, out=np.zeros_like(squares), where=squares > _NEGLIGIBLE)
        gains = alone * products
        alone[gains < gains.max(axis=1, keepdims=True)] = 0.0
        return np.where(both.min(axis=1, keepdims=True) >= 0, both, alone)
