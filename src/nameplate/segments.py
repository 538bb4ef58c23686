"""Straight lines with breaks between them: a message's time over its size, t = t_s + t_w · size between breaks.

Which points belong together is found by an exact dynamic programme over independent weighted lines (as Bellman and
Roth, 1969), since continuous fits bias both sides of a jump. How many lines there are, and whether they meet at a break
or jump there, is chosen by the Bayesian information criterion (Schwarz 1978). Noise is taken as proportional to the
value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nameplate.bootstrap import percentile_interval

FEWEST_POINTS = 5
MOST_LINES = 5
BOOTSTRAPS = 200
# What a break costs in the criterion: where it is was searched for, which is more than one fitted number.
_OF_PLACE, _OF_SLOPE, _OF_JUMP = 2.0, 1.0, 1.0
# A break where lines meet is placed between points, by so many steps from one to the next.
_STEPS = 8
_REACH = 20
_SMALLEST = 1e-300
# No message is timed more closely than to this share: what lines leave below it says nothing.
_CLOSEST_FIT = 1e-3


@dataclass(frozen=True)
class Line:
    """t_s and t_w, by the last and the first point that they hold for."""

    startup_s: float
    per_byte_s: float
    first_bytes: float
    last_bytes: float


@dataclass(frozen=True)
class Break:
    """Between two lines, in bytes: where they meet, or halfway between the points around a jump."""

    at_bytes: float
    is_jump: bool
    jump_s: float


@dataclass(frozen=True)
class Lines:
    """Lines from the smallest size to the largest, and the breaks between them."""

    lines: tuple[Line, ...]
    breaks: tuple[Break, ...]


@dataclass(frozen=True)
class Bounds:
    """95 % intervals of what ``Lines`` has, in the same order: (t_s, t_w) of lines, places of breaks."""

    lines: tuple[tuple[tuple[float, float], tuple[float, float]], ...]
    breaks: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class _Points:
    sizes: Any
    times: Any
    weights: Any  # the inverse of each point's relative noise, up to a common factor

    @classmethod
    def of(cls, sizes: Sequence[float], times: Any) -> _Points:
        padded = np.pad(times, 1, mode="edge")
        smooth = np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)
        return cls(np.asarray(sizes, float), np.asarray(times, float), 1 / np.maximum(smooth, _SMALLEST))


def fit_lines(sizes: Sequence[float], times: Sequence[float]) -> Lines:
    """The lines that explain the times best. ``sizes`` ascend and differ; fewer than ten points give one line."""
    points = _Points.of(sizes, np.asarray(times, float))
    cost = _line_costs(points)
    most = min(MOST_LINES, max(1, len(sizes) // FEWEST_POINTS))
    tried = [_best_kinds(points, cuts) for cuts in _partitions(cost, most)]
    best = min(tried, key=lambda model: model.score)
    return _described(points, best.places, best.jumps)


def bound_lines(sizes: Sequence[float], rounds: Sequence[Sequence[float]], found: Lines, seed: int = 0) -> Bounds:
    """95 % intervals by a bootstrap over each size's rounds.

    A break's is that of the nearest one when as many lines are fitted again; t_s and t_w are fitted again between the
    breaks as they were found.
    """
    source = np.random.default_rng(seed)
    jumps = tuple(each.is_jump for each in found.breaks)
    places = tuple(each.at_bytes for each in found.breaks)
    again: list[Lines] = []
    drawn_places: list[tuple[float, ...]] = []
    for _ in range(BOOTSTRAPS):
        times = np.array([np.median(source.choice(values, len(values))) for values in rounds])
        points = _Points.of(sizes, times)
        again.append(_described(points, places, jumps))
        cuts = _partitions(_line_costs(points), len(found.lines))[-1]
        drawn_places.append(_placed(points, cuts, jumps if len(cuts) == len(jumps) else (True,) * len(cuts)))
    lines = tuple(
        (
            percentile_interval([each.lines[i].startup_s for each in again], line.startup_s),
            percentile_interval([each.lines[i].per_byte_s for each in again], line.per_byte_s),
        )
        for i, line in enumerate(found.lines)
    )
    return Bounds(lines, tuple(_place_interval(sizes, drawn_places, at) for at in found.breaks))


def _place_interval(sizes: Sequence[float], drawn: Sequence[tuple[float, ...]], at: Break) -> tuple[float, float]:
    nearest = [min(places, key=lambda place: abs(place - at.at_bytes)) for places in drawn if places]
    return _with_neighbours(sizes, percentile_interval(nearest, at.at_bytes), at)


def _with_neighbours(sizes: Sequence[float], interval: tuple[float, float], at: Break) -> tuple[float, float]:
    """A jump may be anywhere between the two points around it."""
    if not at.is_jump:
        return interval
    below = max(size for size in sizes if size <= at.at_bytes)
    above = min(size for size in sizes if size > at.at_bytes)
    return min(interval[0], below), max(interval[1], above)


def halve_jumps(candidates: Sequence[int], medians: Mapping[int, float]) -> set[int]:
    """Of sizes that could be measured too, the one in the middle of each jump."""
    known = sorted(medians)
    wanted = set()
    for found in fit_lines(known, [medians[size] for size in known]).breaks:
        below = max(size for size in known if size <= found.at_bytes)
        above = min(size for size in known if size > found.at_bytes)
        between = [size for size in candidates if below < size < above]
        if found.is_jump and between:
            wanted.add(min(between, key=lambda size: abs(2 * size - below - above)))
    return wanted


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
    """Each break a jump, or, one after the other, a place where lines meet if that explains as much."""
    best = _Model.of(points, cuts, (True,) * len(cuts))
    for index in range(len(cuts)):
        jumps = (*best.jumps[:index], False, *best.jumps[index + 1 :])
        meeting = _Model.of(points, cuts, jumps)
        best = min(best, meeting, key=lambda model: model.score)
    return best


def _line_costs(points: _Points) -> Any:
    """cost[i, j]: the weighted squares that a line through the points i to j leaves; infinite for too few."""
    w = points.weights**2
    x, y = points.sizes / points.sizes[-1], points.times
    sums = [np.concatenate([[0.0], np.cumsum(each)]) for each in (w, w * x, w * y, w * x * x, w * x * y, w * y * y)]
    count = len(x)
    first, last = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    s, sx, sy, sxx, sxy, syy = (each[last + 1] - each[np.minimum(first, last + 1)] for each in sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        vxx, vxy, vyy = sxx - sx * sx / s, sxy - sx * sy / s, syy - sy * sy / s
        left = np.where(vxx > 0, vyy - vxy * vxy / vxx, vyy)
    return np.where(last - first + 1 >= min(FEWEST_POINTS, count), np.maximum(left, 0.0), np.inf)


def _partitions(cost: Any, most: int) -> list[tuple[int, ...]]:
    """For one line, two, and so on: the index of each further line's first point, the cheapest."""
    count = len(cost)
    best = cost[0].copy()
    came_from: list[Any] = []
    result: list[tuple[int, ...]] = [()]
    for lines in range(2, most + 1):
        # total[i, j]: the lines before end with the point i - 1, the last one goes from i to j.
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


def _design(points: _Points, places: Sequence[float], jumps: Sequence[bool]) -> Any:
    columns = [np.ones_like(points.sizes), points.sizes]
    for place, is_jump in zip(places, jumps, strict=True):
        beyond = points.sizes > place
        columns.append(np.where(beyond, points.sizes - place, 0.0))
        if is_jump:
            columns.append(beyond.astype(float))
    return np.column_stack(columns)


def _solve(points: _Points, places: Sequence[float], jumps: Sequence[bool]) -> tuple[Any, float]:
    """The coefficients, and the weighted squares that they leave."""
    design = _design(points, places, jumps) * points.weights[:, None]
    scale = np.maximum(np.abs(design).max(axis=0), _SMALLEST)
    target = points.times * points.weights
    solution = np.linalg.lstsq(design / scale, target, rcond=None)[0] / scale
    left = target - design @ solution
    return solution, float(left @ left)


def _placed(points: _Points, cuts: Sequence[int], jumps: Sequence[bool]) -> tuple[float, ...]:
    """A jump lies halfway between two points; where lines meet is tried out around the cut."""
    places = [float(points.sizes[cut - 1] + points.sizes[cut]) / 2 for cut in cuts]
    for index, (cut, is_jump) in enumerate(zip(cuts, jumps, strict=True)):
        if is_jump:
            continue

        def left(place: float, index: int = index) -> float:
            return _solve(points, [*places[:index], place, *places[index + 1 :]], jumps)[1]

        at_points = _candidates(points.sizes, cut, places, index, _REACH, 1)
        nearest = min(at_points, key=left)
        around = int(np.searchsorted(points.sizes, nearest))
        places[index] = min([nearest, *_candidates(points.sizes, around, places, index, 1, _STEPS)], key=left)
    return tuple(places)


def _candidates(  # noqa: PLR0913, PLR0917 (what a place lies between)
    sizes: Any, cut: int, places: Sequence[float], index: int, reach: int, steps: int
) -> list[float]:
    """Places up to ``reach`` points from a cut that leave points enough to either side, up to the next breaks."""
    before = int(np.searchsorted(sizes, places[index - 1], side="right")) if index > 0 else 0
    after = int(np.searchsorted(sizes, places[index + 1])) if index + 1 < len(places) else len(sizes)
    low = max(before + FEWEST_POINTS - 1, cut - reach)
    high = min(after - FEWEST_POINTS, cut + reach)
    tried = [
        float(place) for i in range(low, high) for place in np.linspace(sizes[i], sizes[i + 1], steps, endpoint=False)
    ]
    return tried or [places[index]]


def _criterion(points: _Points, places: Sequence[float], jumps: Sequence[bool]) -> float:
    count = len(points.sizes)
    left = max(_solve(points, places, jumps)[1], count * _CLOSEST_FIT**2)
    fitted = 2 + sum(_OF_PLACE + _OF_SLOPE + (_OF_JUMP if is_jump else 0) for is_jump in jumps)
    return count * math.log(left / count) + fitted * math.log(count)


def _described(points: _Points, places: Sequence[float], jumps: Sequence[bool]) -> Lines:
    solution = _solve(points, places, jumps)[0]
    start, slope = float(solution[0]), float(solution[1])
    edges = [float(points.sizes[0]), *places, float(points.sizes[-1])]
    lines = [(start, slope)]
    breaks = []
    index = 2
    for place, is_jump in zip(places, jumps, strict=True):
        turn = float(solution[index])
        jump = float(solution[index + 1]) if is_jump else 0.0
        index += 2 if is_jump else 1
        start, slope = start + jump - turn * place, slope + turn
        lines.append((start, slope))
        breaks.append(Break(float(place), is_jump, jump))
    # A later line may begin below zero: what came before its first byte cost less than these do, as behind a token
    # bucket. It has no start-up time then, and its slope stands.
    later = [(max(0.0, start), slope) for start, slope in lines[1:]]
    found = [
        Line(start, slope, first_bytes=first, last_bytes=last)
        for (start, slope), first, last in zip(
            [_not_negative(points, lines[0], edges[1]), *later], edges[:-1], edges[1:], strict=True
        )
    ]
    return Lines(tuple(found), tuple(breaks))


def _not_negative(points: _Points, line: tuple[float, float], last: float) -> tuple[float, float]:
    """A start-up time below zero is none: the first line then goes through the origin."""
    start, slope = line
    if start >= 0:
        return start, slope
    inside = points.sizes <= last
    x, y, w = points.sizes[inside], points.times[inside], points.weights[inside]
    return 0.0, float((w * w * x) @ y / ((w * w * x) @ x))
