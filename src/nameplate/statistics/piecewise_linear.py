"""Fit piecewise linear functions: the time of a message by size, t = t_s + t_w · size between breaks.

An exact dynamic programme over independent weighted lines assigns the points (as in Bellman and Roth 1969), since
continuous fits are biased next to a jump. The Bayesian information criterion (Schwarz 1978) chooses the number of
lines, and whether they meet at a break or jump. Noise is assumed to be proportional to the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nameplate.statistics.bootstrap import expanded_interval, percentile_interval
from nameplate.statistics.stats import median

MIN_POINTS = 5
MAX_LINES = 5
# Bootstrap replicates of rounds, and the same number of sizes.
BOOTSTRAPS = 150
# The parameters that a break counts as: its position was searched for, which is more than one fitted number.
_OF_POSITION, _OF_SLOPE, _OF_JUMP = 2.0, 1.0, 1.0
# The position of a break where lines meet is searched with this number of steps between two points.
_STEPS = 8
_REACH = 20
_SMALLEST = 1e-300
# Keeps the normal equations solvable if two columns are equal, as for a single size.
_RIDGE = 1e-13
# A slope that adds a smaller share to the times is a rounding error.
_ROUNDING = 1e-9
# Times are not more accurate than this share, so that smaller residuals mean nothing.
_CLOSEST_FIT = 1e-3


@dataclass(frozen=True)
class FittedLine:
    """One line of a fit, t = ``startup_s`` + ``per_byte_s`` · size, with the range of sizes for which it holds.

    ``startup_s`` is t_s, the time at size 0 to which the line is extrapolated, and ``per_byte_s`` is t_w in seconds per
    byte; in a fit of ``fit_lines`` neither is negative. ``first_bytes`` and ``last_bytes`` are the ends of the range:
    the positions of the adjacent breaks, or the smallest and largest measured size.
    """

    startup_s: float
    per_byte_s: float
    first_bytes: float
    last_bytes: float


@dataclass(frozen=True)
class Break:
    """A break between two adjacent lines.

    ``at_bytes`` is the size at which the lines meet, or, for a jump, the size halfway between the measured sizes on
    both sides. ``jump_s`` is the time that is added at a jump, negative if the time falls, and 0 where the lines meet.
    """

    at_bytes: float
    is_jump: bool
    jump_s: float


@dataclass(frozen=True)
class Lines:
    """A fit: one or more lines in ascending order of size, and the breaks between them, one fewer than lines."""

    lines: tuple[FittedLine, ...]
    breaks: tuple[Break, ...]


@dataclass(frozen=True)
class Bounds:
    """The 95 % intervals of the lines and breaks of ``Lines``, in the same order.

    ``lines`` has two intervals for each line: (lower, upper) of t_s in seconds, then (lower, upper) of t_w in seconds
    per byte, all at least 0. ``breaks`` has (lower, upper) of each break's position in bytes, and is empty if there are
    no breaks.
    """

    lines: tuple[tuple[tuple[float, float], tuple[float, float]], ...]
    breaks: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class _Points:
    sizes: Any
    times: Any
    weights: Any  # 1 / the relative noise of each point, up to a common factor

    @classmethod
    def of(cls, sizes: Sequence[float], times: Any, counts: Any = 1.0) -> _Points:
        """Return points whose noise is proportional to their time, each weighted by ``counts``.

        ``sizes`` are in bytes, ascending, and ``times`` has the seconds of each. ``counts`` is one weight for each
        point, or one for all.
        """
        padded = np.pad(times, 1, mode="edge")
        smooth = np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)
        weights = np.sqrt(counts) / np.maximum(smooth, _SMALLEST)
        return cls(np.asarray(sizes, float), np.asarray(times, float), weights)


def fit_lines(sizes: Sequence[float], times: Sequence[float]) -> Lines:
    """Return the lines that explain the times of messages of each size best.

    ``sizes`` are in bytes and ascend strictly; there is at least one. ``times`` has the time of each size in seconds,
    above 0. Fewer than ten points give one line for all of them; otherwise each line has at least five points, and
    there are at most five lines. No slope is negative, and start-up times below zero are returned as zero. The module's
    docstring has the method.
    """
    points = _Points.of(sizes, np.asarray(times, float))
    cost = _line_costs(points)
    max_lines = min(MAX_LINES, max(1, len(sizes) // MIN_POINTS))
    tried = [_best_kinds(points, cuts) for cuts in _partitions(cost, max_lines)]
    best = min(tried, key=lambda model: model.score)
    lines = _fitted(points, best.places, best.jumps)
    return replace(lines, lines=tuple(replace(line, startup_s=max(0.0, line.startup_s)) for line in lines.lines))


def bound_lines(sizes: Sequence[float], rounds: Sequence[Sequence[float]], lines: Lines, seed: int = 0) -> Bounds:
    """Return the 95 % intervals of the lines and breaks that ``fit_lines`` found for the medians of ``rounds``.

    ``sizes`` are in bytes and ascend strictly. ``rounds[i]`` has the time of ``sizes[i]`` in each round, in seconds and
    in the order of the rounds; some sizes may have fewer rounds, but at least one. ``lines`` is the result of
    ``fit_lines`` for ``sizes`` and the medians. ``seed`` is the seed of the bootstraps; the same seed gives the same
    result.

    The errors of two bootstraps are added in quadrature; both search for the breaks again. Resampling whole rounds
    preserves errors that all sizes of a round have in common; its percentiles are expanded for few rounds (Hesterberg
    2015). Resampling sizes (with the weights of Rubin's Bayesian bootstrap, 1981) accounts for deviations from straight
    lines.
    """
    source = np.random.default_rng(seed)
    jumps = tuple(bend.is_jump for bend in lines.breaks)
    medians = [median(values) for values in rounds]
    by_round = [_Points.of(sizes, _drawn_medians(source, rounds)) for _ in range(BOOTSTRAPS)]
    by_size = [_Points.of(sizes, medians, source.exponential(1.0, len(sizes))) for _ in range(BOOTSTRAPS)]
    independent = round(median([len(values) for values in rounds]))
    refits = _Refits(
        np.asarray(sizes, float),
        [_refitted(points, jumps) for points in by_round],
        [_refitted(points, jumps) for points in by_size],
        independent,
    )
    refitted = _fitted(_Points.of(sizes, medians), [bend.at_bytes for bend in lines.breaks], jumps)
    return Bounds(tuple(map(refits.bound_line, refitted.lines)), tuple(map(refits.bound_break, refitted.breaks)))


def _drawn_medians(source: np.random.Generator, rounds: Sequence[Sequence[float]]) -> list[float]:
    """Return the medians of each size over rounds drawn with replacement, the same rounds for all sizes.

    A size with fewer rounds, because it rested or was added later, draws from the same relative positions.
    """
    drawn = source.random(max(map(len, rounds))).tolist()
    return [median([values[int(share * len(values))] for share in drawn[: len(values)]]) for values in rounds]


@dataclass(frozen=True)
class _Refits:
    """The fits of resampled rounds, of which ``independent`` were measured, and of resampled sizes."""

    sizes: Any
    by_round: Sequence[Lines]
    by_size: Sequence[Lines]
    independent: int

    def bound_line(self, line: FittedLine) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the intervals of t_s in seconds and of t_w in seconds per byte, each as (lower, upper), at least 0."""
        startup = self._interval(line.startup_s, lambda lines: self._counterpart(line, lines).startup_s)
        per_byte = self._interval(line.per_byte_s, lambda lines: self._counterpart(line, lines).per_byte_s)
        # A fit below zero only shows its error, so a start-up time of that size cannot be excluded.
        upper = startup[1] - min(0.0, line.startup_s)
        return (max(0.0, startup[0]), upper), (max(0.0, per_byte[0]), per_byte[1])

    def bound_break(self, at: Break) -> tuple[float, float]:
        """Return the interval (lower, upper) of a break's position in bytes, from the nearest break of each fit.

        A jump may be anywhere between the measured sizes on both sides, so that its interval ends at measured sizes.
        """

        def nearest(lines: Lines) -> float:
            return min((bend.at_bytes for bend in lines.breaks), key=lambda position: abs(position - at.at_bytes))

        low, high = self._interval(at.at_bytes, nearest)
        if not at.is_jump:
            return max(low, float(self.sizes[0])), min(high, float(self.sizes[-1]))
        below, above = self.sizes[self.sizes <= low], self.sizes[self.sizes >= high]
        return float(below.max(initial=self.sizes[0])), float(above.min(initial=self.sizes[-1]))

    def _interval(self, estimate: float, quantity: Callable[[Lines], float]) -> tuple[float, float]:
        of_rounds = expanded_interval(list(map(quantity, self.by_round)), estimate, self.independent)
        of_sizes = percentile_interval(list(map(quantity, self.by_size)), estimate)
        below = math.hypot(estimate - of_rounds[0], estimate - of_sizes[0])
        above = math.hypot(of_rounds[1] - estimate, of_sizes[1] - estimate)
        return estimate - below, estimate + above

    def _counterpart(self, line: FittedLine, lines: Lines) -> FittedLine:
        """Return the line of another fit that holds for most of the sizes of ``line``."""

        def shared(other: FittedLine) -> int:
            first, last = max(line.first_bytes, other.first_bytes), min(line.last_bytes, other.last_bytes)
            return int(np.count_nonzero((self.sizes >= first) & (self.sizes <= last)))

        return max(lines.lines, key=shared)


def _refitted(points: _Points, jumps: tuple[bool, ...]) -> Lines:
    cuts = _partitions(_line_costs(points), len(jumps) + 1)[-1]
    kinds = jumps if len(cuts) == len(jumps) else (True,) * len(cuts)
    return _fitted(points, _placed(points, cuts, kinds), kinds)


def halve_jumps(candidates: Sequence[int], medians: Mapping[int, float]) -> set[int]:
    """Return the sizes to measure next in order to locate each jump more closely.

    ``candidates`` are the sizes in bytes that could be measured, in any order. ``medians`` maps each measured size in
    bytes to its time in seconds, above 0. For each jump that ``fit_lines`` finds, the result has the candidate that is
    nearest to the middle between the measured sizes on both sides; a jump without a candidate in between adds nothing.
    The result is empty if there is no jump, and with fewer than ten measured sizes.
    """
    if not medians:
        return set()
    known = sorted(medians)
    sizes_to_add = set()
    for bend in fit_lines(known, [medians[size] for size in known]).breaks:
        below = max(size for size in known if size <= bend.at_bytes)
        above = min(size for size in known if size > bend.at_bytes)
        between = [size for size in candidates if below < size < above]
        if bend.is_jump and between:
            sizes_to_add.add(min(between, key=lambda size: abs(2 * size - below - above)))
    return sizes_to_add


@dataclass(frozen=True)
class _Model:
    places: tuple[float, ...]
    jumps: tuple[bool, ...]
    score: float

    @classmethod
    def of(cls, points: _Points, cuts: Sequence[int], jumps: tuple[bool, ...]) -> _Model:
        places = _placed(points, cuts, jumps)
        return cls(places, jumps, _criterion(points, places, jumps))


def _best_kinds(points: _Points, cuts: Sequence[int]) -> _Model:
    """Return the model in which each break is a jump, or, where that explains as much, a place where lines meet."""
    best = _Model.of(points, cuts, (True,) * len(cuts))
    for index in range(len(cuts)):
        jumps = (*best.jumps[:index], False, *best.jumps[index + 1 :])
        meeting = _Model.of(points, cuts, jumps)
        best = min(best, meeting, key=lambda model: model.score)
    return best


def _line_costs(points: _Points) -> Any:
    """Return cost[i, j], the weighted squared residuals of a line through points i to j; infinite for too few
    points.
    """
    w = points.weights**2
    x, y = points.sizes / points.sizes[-1], points.times
    sums = [np.concatenate([[0.0], np.cumsum(column)]) for column in (w, w * x, w * y, w * x * x, w * x * y, w * y * y)]
    count = len(x)
    n_points = np.arange(1, count + 1)[None, :] - np.arange(count)[:, None]
    s, sx, sy, sxx, sxy, syy = (column[None, 1:] - column[:-1, None] for column in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        vxx, vxy, vyy = sxx - sx * sx / s, sxy - sx * sy / s, syy - sy * sy / s
        left = np.where((vxx > 0) & (vxy > 0), vyy - vxy * vxy / vxx, vyy)
    return np.where(n_points >= min(MIN_POINTS, count), np.maximum(left, 0.0), np.inf)


def _partitions(cost: Any, max_lines: int) -> list[tuple[int, ...]]:
    """Return the cheapest partition into one line, two lines and so on: the indices of each further line's first
    point.
    """
    count = len(cost)
    best = cost[0].copy()
    came_from: list[Any] = []
    result: list[tuple[int, ...]] = [()]
    for lines in range(2, max_lines + 1):
        # total[i, j]: the preceding lines end at point i - 1, and the last one covers i to j.
        total = best[:-1, None] + cost[1:, :]
        came_from.append(1 + np.argmin(total, axis=0))
        best = np.min(total, axis=0)
        if not math.isfinite(best[-1]):
            break
        cuts: list[int] = []
        end = count - 1
        for step in range(lines - 2, -1, -1):
            cut = int(came_from[step][end])
            cuts.insert(0, cut)
            end = cut - 1
        result.append(tuple(cuts))
    return result


def _designs(sizes: Any, trials: Any, jumps: Sequence[bool]) -> Any:
    """Return a matrix for each trial: a column for t_s, one per line for the bytes on it, and one per jump."""
    edges = np.pad(trials, ((0, 0), (1, 1)), constant_values=((0, 0), (-math.inf, math.inf)))[:, None, :]
    column = sizes[None, :, None]
    on_line = np.clip(column, edges[..., :-1], edges[..., 1:]) - np.maximum(edges[..., :-1], 0.0)
    beyond = column > trials[:, None, list(np.flatnonzero(jumps))]
    return np.concatenate([np.ones_like(on_line[..., :1]), on_line, beyond], axis=2)


def _solve(points: _Points, trials: Any, jumps: Sequence[bool]) -> tuple[Any, Any]:
    """Return the coefficients for each trial, with no negative slope, and the weighted squared residuals.

    Solves the normal equations of all trials at once. If slopes are negative, the steepest is set to zero and the
    others are solved for again.
    """
    designs = _designs(points.sizes, trials, jumps) * points.weights[:, None]
    scale = np.maximum(np.linalg.norm(designs, axis=1), _SMALLEST)
    target = points.times * points.weights
    scaled = designs / scale[:, None, :]
    unit = np.eye(designs.shape[2])
    gram = scaled.transpose(0, 2, 1) @ scaled + _RIDGE * unit
    right = target @ scaled
    free = np.ones(right.shape, bool)
    slopes = slice(1, trials.shape[1] + 2)
    rounding = _ROUNDING * np.linalg.norm(target)
    while True:
        system = np.where(free[:, :, None] & free[:, None, :], gram, unit)
        solution = np.linalg.solve(system, np.where(free, right, 0.0)[..., None])[..., 0]
        remaining = np.where(free, solution, math.inf)[:, slopes]
        falls = np.flatnonzero(remaining.min(axis=1) < rounding)
        if not len(falls):
            break
        free[falls, 1 + np.argmin(remaining[falls], axis=1)] = False
    left = target - (scaled @ solution[..., None])[..., 0]
    return solution / scale, np.sum(left**2, axis=1)


def _placed(points: _Points, cuts: Sequence[int], jumps: Sequence[bool]) -> tuple[float, ...]:
    """Return the positions of breaks: halfway between points for a jump, else the best position near the cut."""
    places = [float(points.sizes[cut - 1] + points.sizes[cut]) / 2 for cut in cuts]
    for index, (cut, is_jump) in enumerate(zip(cuts, jumps, strict=True)):
        if is_jump:
            continue

        at_points = _candidates(points.sizes, cut, places, index, _REACH, 1)
        places[index] = _best_position(points, places, jumps, index, at_points)
        around = int(np.searchsorted(points.sizes, places[index]))
        between = [places[index], *_candidates(points.sizes, around, places, index, 1, _STEPS)]
        places[index] = _best_position(points, places, jumps, index, between)
    return tuple(places)


def _best_position(
    points: _Points, places: Sequence[float], jumps: Sequence[bool], index: int, tried: Sequence[float]
) -> float:
    trials = np.tile(np.asarray(places, float), (len(tried), 1))
    trials[:, index] = tried
    return tried[int(np.argmin(_solve(points, trials, jumps)[1]))]


def _candidates(sizes: Any, cut: int, places: Sequence[float], index: int, reach: int, steps: int) -> list[float]:
    """Return positions up to ``reach`` points from a cut that leave enough points between it and the next breaks."""
    before = int(np.searchsorted(sizes, places[index - 1], side="right")) if index > 0 else 0
    after = int(np.searchsorted(sizes, places[index + 1])) if index + 1 < len(places) else len(sizes)
    low = max(before + MIN_POINTS - 1, cut - reach)
    high = min(after - MIN_POINTS, cut + reach)
    tried = [
        float(position)
        for i in range(low, high)
        for position in np.linspace(sizes[i], sizes[i + 1], steps, endpoint=False)
    ]
    return tried or [places[index]]


def _criterion(points: _Points, places: Sequence[float], jumps: Sequence[bool]) -> float:
    count = len(points.sizes)
    left = max(float(_solve(points, np.array([places], float), jumps)[1][0]), count * _CLOSEST_FIT**2)
    fitted = 2 + sum(_OF_POSITION + _OF_SLOPE + (_OF_JUMP if is_jump else 0) for is_jump in jumps)
    return count * math.log(left / count) + fitted * math.log(count)


def _fitted(points: _Points, places: Sequence[float], jumps: Sequence[bool]) -> Lines:
    """Return the lines between given breaks. A later line may start below zero, as with a token bucket."""
    solution = _solve(points, np.array([places], float), jumps)[0][0]
    slopes = solution[1 : len(places) + 2]
    steps = iter(solution[len(places) + 2 :])
    edges = [float(points.sizes[0]), *map(float, places), float(points.sizes[-1])]
    start = float(solution[0])
    lines = [FittedLine(*_through_origin(points, (start, float(slopes[0])), edges[1]), edges[0], edges[1])]
    breaks = []
    for index, is_jump in enumerate(jumps):
        jump = float(next(steps)) if is_jump else 0.0
        position, slope = edges[index + 1], float(slopes[index + 1])
        start += jump + (float(slopes[index]) - slope) * position
        lines.append(FittedLine(start, slope, position, edges[index + 2]))
        breaks.append(Break(position, is_jump, jump))
    return Lines(tuple(lines), tuple(breaks))


def _through_origin(points: _Points, line: tuple[float, float], last: float) -> tuple[float, float]:
    """Return the first line, or the best line through the origin if it starts below zero."""
    start, slope = line
    if start >= 0:
        return start, slope
    inside = points.sizes <= last
    x, y, w = points.sizes[inside], points.times[inside], points.weights[inside]
    return 0.0, float((w * w * x) @ y / ((w * w * x) @ x))
