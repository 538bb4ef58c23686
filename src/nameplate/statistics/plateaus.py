"""Fit plateaus and the ramps between them to a curve. Pure functions.

Between two plateaus is a step or a ramp: victim caches, sliced caches and random replacement give ramps of two octaves
and more. All computations use log value against log2 size, where noise is equally large on every plateau, with the sign
that makes the curve rise.

1. The median over the rounds represents each size; one or two outlying sizes are replaced.
2. An exact dynamic programme fits plateaus, with ramps between them, for each number of levels. Each step has a
   minimum size, and plateaus are flatter than the adjacent ramps: a piece of a ramp is not a level.
3. The number of levels minimises squared residuals plus Schwarz's penalty, among those whose every step passes a
   permutation test with p < 0.01 (as mt4g accepts a change point, but against a lean instead of a constant).
4. The end of a plateau is averaged over all possible ramps, weighted by how well they fit (``find_knee``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics.constants import MAD_TO_SD
from nameplate.statistics.stats import median

Array = NDArray[np.float64]
Plateau = tuple[int, int]  # the indices of its first and last size

# Rates of adjacent levels differ by as little as 15-25 %; a smaller step is more often a prefetcher's or a TLB's.
MIN_STEP = math.log(1.15)
# The maximum slope of a plateau per octave: an L3 was seen to rise from 13 to 25 ns over four octaves. Ramps are
# steeper.
MAX_LEAN = 0.15
MAX_LEAN_TO_RAMP = 0.35
LEAN_DEVIATIONS = 2
MIN_SIZES = 3
# Half an octave, minus the rounding of a grid.
MIN_OCTAVES = 0.45
MAX_RAMP_OCTAVES = 4
MAX_LEVELS = 7
# The parameters of a level: its value, its lean, where it ends and where the next one begins.
PARAMETERS_PER_LEVEL = 4
SIGNIFICANCE = 0.01
PERMUTATIONS = 999
# A smaller spread between rounds is coincidence.
NOISE_FLOOR = 0.01
NOISE_WINDOW = 12
OUTLIER_DEVIATIONS = 4
OUTLIERS_ADJACENT = 2
KNEE_WINDOW_OCTAVES = 1.5
KNEE_GRID_OCTAVES = 1 / 32
KNEE_RAMP_OCTAVES = np.arange(0, 3.5, 1 / 16)


def running_median(y: Array, reach: int) -> Array:
    """Return the running median of ``y`` over windows of ``2 * reach + 1`` values, in the same order.

    Near the ends the window is smaller but still symmetric, so that the first and the last value are unchanged. A
    monotone curve, including its steps, is unchanged. An empty ``y`` gives an empty array.
    """
    reaches = [min(reach, i, len(y) - 1 - i) for i in range(len(y))]
    return np.array([median(y[i - r : i + r + 1].tolist()) for i, r in enumerate(reaches)])


@dataclass(frozen=True)
class LogCurve:
    """The input of the search for plateaus: a curve in logarithms, with the sign that makes it rise.

    ``x`` has log2 of each size in bytes, ascending. ``values`` has for each size the natural logarithms of its values
    by round, negated for a rate. ``y`` has their median for each size, and ``error`` the standard error of that median,
    at least 0.01.
    """

    x: Array
    values: list[Array]
    y: Array
    error: Array

    @classmethod
    def of(cls, size_bytes: Sequence[int], rounds: Sequence[Sequence[float]], rising: bool) -> LogCurve:
        """Return the curve of measured values, with outlying sizes replaced by the running median of their neighbours.

        ``size_bytes`` ascend strictly, and there is at least one. ``rounds[i]`` has one value above 0 per round for
        ``size_bytes[i]``, for at least one round. ``rising`` is True if values grow with the size (a latency), False if
        they fall (a rate).
        """
        x = np.log2(np.array(size_bytes, dtype=np.float64))
        values = [np.log(of) * (1 if rising else -1) for of in rounds]
        y = np.array([median(of.tolist()) for of in values])
        error = _noise(x, y)
        off = y - running_median(y, OUTLIERS_ADJACENT)
        off[abs(off) <= OUTLIER_DEVIATIONS * error] = 0
        return cls(x, [of - by for of, by in zip(values, off, strict=True)], y - off, error)


def _noise(x: Array, y: Array) -> Array:
    """Return the standard error of each size's median, from the distances of nearby sizes from the line through their
    neighbours.

    On straight plateaus and ramps these distances are noise, and their median ignores steps. The noise is local, since
    memory is noisier than a cache.
    """
    if len(x) < 3:
        return np.full(len(x), NOISE_FLOOR)
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    off = abs(y[1:-1] - (1 - share) * y[:-2] - share * y[2:]) / np.sqrt(1 + share**2 + (1 - share) ** 2)
    around = (off[max(0, i - NOISE_WINDOW) : i + NOISE_WINDOW].tolist() for i in range(len(x)))
    return np.array([max(NOISE_FLOOR, MAD_TO_SD * median(part)) for part in around])


@dataclass(frozen=True)
class _Pieces:
    """Every possible piece [from, to]: a plateau from its first to its last size, or a ramp from the last size of a
    plateau to the first of the next. Costs are squared residuals in units of the noise, infinite where a piece is not
    allowed. Leans and slopes are per octave.
    """

    plateau_cost: Array
    lean: Array
    ramp_cost: Array
    slope: Array

    @classmethod
    def of(cls, line: LogCurve) -> _Pieces:
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls(*_plateaus(line), *_ramps(line))


def _plateaus(line: LogCurve) -> tuple[Array, Array]:
    """Return the costs of lines with a limited lean from one size to another, and their leans without the limit."""
    x, y, count = line.x - line.x.mean(), line.y, len(line.x)
    terms = np.stack([np.ones(count), x, y, x * x, x * y, y * y]) / line.error**2
    running = np.concatenate([np.zeros((len(terms), 1)), np.cumsum(terms, axis=1)], axis=1)
    first, last = np.arange(count)[:, None], np.arange(count)[None, :]
    w, wx, wy, wxx, wxy, wyy = running[:, last + 1] - running[:, first]
    xx, xy, yy = wxx - wx * wx / w, wxy - wx * wy / w, wyy - wy * wy / w
    lean = np.where(last > first, xy / xx, 0)
    bounded = np.clip(lean, -MAX_LEAN, MAX_LEAN)
    cost = np.where(last > first, yy - 2 * bounded * xy + bounded**2 * xx, 0)
    # The measured range truncates the first and last plateau, and the last may be the start of a ramp.
    allowed = (first == 0) | (last == count - 1) | (x[None, :] - x[:, None] >= MIN_OCTAVES)
    allowed &= (last == count - 1) | (lean <= MAX_LEAN + LEAN_DEVIATIONS / np.sqrt(xx))
    allowed &= last - first + 1 >= MIN_SIZES
    allowed[0, -1] = True
    return np.where(allowed, cost, np.inf), lean


def _ramps(line: LogCurve) -> tuple[Array, Array]:
    """Return the costs of the sizes strictly between two plateaus on the best of several bent ramps, and the slopes.

    A ramp joins the medians of the three outermost sizes of the adjacent plateaus, so that its cost depends only on its
    ends. (These medians wrap around at the curve's ends, which is harmless: no plateau of three sizes ends or begins
    there.) The cost of a size is limited, since real ramps have any shape.
    """
    x, y, count = line.x, line.y, len(line.x)
    around = running_median(y, 1)
    low, high = np.roll(around, 1), np.roll(around, -1)
    cost = np.full((count, count), np.inf)
    slope = (high[None, :] - low[:, None]) / (x[None, :] - x[:, None])
    for last in range(count - 1):
        end = max(last + 2, int(np.searchsorted(x, x[last] + MAX_RAMP_OCTAVES, side="right")))
        first = np.arange(last + 1, end)[:, None]
        between = np.arange(last + 1, end)[None, :]
        along = (x[between] - x[last]) / (x[first] - x[last])
        fitted = low[last] + (high[first] - low[last]) * _bent(np.clip(along, 0, 1))
        squares = np.minimum(((y[between] - fitted) / line.error[between]) ** 2, OUTLIER_DEVIATIONS**2)
        cost[last, last + 1 : end] = np.where(between < first, squares, 0).sum(axis=2).min(axis=0)
        rise = high[last + 1 : end] - low[last]
        cost[last, last + 1 : end][(rise < MIN_STEP) | (slope[last, last + 1 : end] <= MAX_LEAN)] = np.inf
    return cost, slope


def _bent(along: Array) -> Array:
    """Return shapes of ramps, from 0 to 1 as ``along`` goes from 0 to 1: straight, slow at first, and slow at last.

    Random replacement makes ramps that end slowly; a cache shared with other guests makes ramps that start slowly.
    """
    return np.stack([along, along**2, 1 - (1 - along) ** 2])


def _cheapest(pieces: _Pieces) -> list[tuple[float, list[Plateau]]]:
    """Return the minimum cost for 1, 2, 3 … levels, up to the possible number, and the plateaus that reach it. Exact.

    A plateau must lean clearly less than the adjacent ramps; otherwise it is a piece of them.
    """
    count = len(pieces.lean)
    min_slope = pieces.lean / MAX_LEAN_TO_RAMP
    min_slope[:, -1] = -np.inf  # the last plateau may be the start of a ramp
    costs = np.full((count, count), np.inf)  # [first, last] of the last plateau so far
    costs[0] = pieces.plateau_cost[0]
    came_from: list[NDArray[np.intp]] = []  # for each further level, [first, last] of the previous plateau
    result = []
    while len(came_from) < MAX_LEVELS and np.isfinite(costs).any():
        if np.isfinite(costs[:, -1]).any():
            result.append((float(costs[:, -1].min()), _path(came_from, int(costs[:, -1].argmin()), count - 1)))
        left = np.full((2, count, count), np.inf)  # [last, first] across a ramp: the cost, and where its plateau began
        for last in range(count - 1):
            steep = min_slope[: last + 1, last, None] <= pieces.slope[last, None, last + 1 :]
            options = np.where(steep, costs[: last + 1, last, None], np.inf)
            left[:, last, last + 1 :] = options.min(axis=0) + pieces.ramp_cost[last, last + 1 :], options.argmin(axis=0)
        costs = np.full((count, count), np.inf)
        origin = np.zeros((2, count, count), dtype=np.intp)
        for first in range(1, count):
            steep = min_slope[first, None, first:] <= pieces.slope[:first, first, None]
            options = np.where(steep, left[0, :first, first, None], np.inf)
            last = options.argmin(axis=0)
            costs[first, first:] = options.min(axis=0) + pieces.plateau_cost[first, first:]
            origin[:, first, first:] = left[1, last, first], last
        came_from.append(origin)
    return result


def _path(came_from: Sequence[NDArray[np.intp]], first: int, last: int) -> list[Plateau]:
    """Return the plateaus up to the given one, by following ``came_from``."""
    path = [(first, last)]
    for origin in reversed(came_from):
        first, last = (int(index) for index in origin[:, first, last])
        path.insert(0, (first, last))
    return path


def choose_plateaus(line: LogCurve, source: np.random.Generator) -> tuple[list[Plateau], list[float]]:
    """Return the plateaus of a curve in ascending order of size, and the p-value of each step between two.

    Each plateau is the pair of the indices of its first and last size, both included. There is one p-value fewer than
    plateaus. The plateaus are those with the lowest penalised cost whose steps all pass the permutation test with p <
    0.01. If there are none, one plateau has all sizes. ``source`` is the random generator for the permutations.
    """
    penalty = PARAMETERS_PER_LEVEL * math.log(len(line.x))
    for _, plateaus in sorted(_cheapest(_Pieces.of(line)), key=lambda fit: fit[0] + penalty * len(fit[1])):
        p_values = [_permutation_p(line, before, after, source) for before, after in pairwise(plateaus)]
        if all(p < SIGNIFICANCE for p in p_values):
            return plateaus, p_values
    return [(0, len(line.x) - 1)], []


def _permutation_p(line: LogCurve, before: Plateau, after: Plateau, source: np.random.Generator) -> float:
    """Return the p-value of the step between two plateaus, whichever size it is at.

    The statistic is the largest standardised difference of sums over all sizes at which to split, after subtracting a
    common lean that a plateau may have. Its distribution comes from permutations of the residuals from each plateau's
    own line (residuals of the full model: ter Braak 1992), for which few values are enough.
    """
    plateaus = [range(first, last + 1) for first, last in (before, after)]
    x = [np.repeat(line.x[sizes], [len(line.values[i]) for i in sizes]) for sizes in plateaus]
    y = [np.concatenate([line.values[i] for i in sizes]) for sizes in plateaus]
    seen = _off_line(np.concatenate(x), np.concatenate(y), MAX_LEAN)
    count = len(seen)
    noise = np.concatenate([_off_line(*plateau, math.inf) for plateau in zip(x, y, strict=True)])
    noise *= math.sqrt(count / (count - PARAMETERS_PER_LEVEL))
    places = np.cumsum([len(line.values[i]) for sizes in plateaus for i in sizes])[:-1]
    orders = np.vstack([seen, source.permuted(np.tile(noise, (PERMUTATIONS, 1)), axis=1)])
    clearest = (-orders.cumsum(axis=1)[:, places - 1] / np.sqrt(places * (count - places))).max(axis=1)
    return float((clearest >= clearest[0]).mean())


def _off_line(x: Array, y: Array, steepest: float) -> Array:
    """Return the residuals of values from their straight line, whose slope is limited to ``steepest``."""
    left: Array = y - y.mean() - _lean(x, y, steepest) * (x - x.mean())
    return left


def _lean(x: Array, y: Array, steepest: float) -> float:
    """Return the slope of the straight line through values, limited to ``steepest``."""
    off = x - x.mean()
    return float(np.clip(off @ y / (off @ off), -steepest, steepest))


def find_knee(line: LogCurve, before: Plateau, after: Plateau) -> tuple[float, tuple[float, float]]:
    """Return the size in bytes at which the curve leaves a plateau, and the 95 % interval of this size.

    The result is (size, (lower, upper)), rounded to whole bytes: the median and interval of the posterior. ``before``
    and ``after`` are two adjacent plateaus, as ``choose_plateaus`` returns them for ``line``.

    Each possible ramp (its begin, its length, straight or bent) is weighted by how well it fits the ends of both
    plateaus after subtracting their leans. Heights and noise are integrated out of the regression under flat priors (as
    in Smith 1975 for a change point); a step and a ramp are equally likely a priori. A bootstrap over rounds would be
    undefined for one round and would ignore noise that belongs to a size; here, a sharp step makes all positions
    between two sizes equally likely. The interval is never narrower than the gap between the measured sizes on both
    sides.
    """
    x, last, first = line.x, before[1], after[0]
    low = max(before[0], min(last - 1, int(np.searchsorted(x, x[last] - KNEE_WINDOW_OCTAVES))))
    high = min(after[1], max(first + 1, int(np.searchsorted(x, x[first] + KNEE_WINDOW_OCTAVES))))
    leans = [_lean(x[a : b + 1], line.y[a : b + 1], MAX_LEAN) for a, b in (before, after)]
    y = line.y - leans[0] * np.minimum(x - x[last], 0) - leans[1] * np.maximum(x - x[first], 0)
    # Half a step away from the measured sizes, which often are on the same grid.
    begins = np.arange(x[low + 1] + KNEE_GRID_OCTAVES / 2, x[first], KNEE_GRID_OCTAVES)
    x, y = x[low : high + 1], y[low : high + 1] - y[low : high + 1].mean()
    grid = np.meshgrid(begins, KNEE_RAMP_OCTAVES, indexing="ij")
    start, length = (of[grid[0] + grid[1] <= x[-2], None] for of in grid)
    shapes = _bent(np.clip((x - start) / np.maximum(length, 1e-9), 0, 1))
    shapes -= shapes.mean(axis=2, keepdims=True)
    squares = (shapes**2).sum(axis=2)
    residual = y @ y - (shapes @ y) ** 2 / squares + len(y) * NOISE_FLOOR**2
    log_weight = -(len(y) - 2) / 2 * np.log(residual) - np.log(squares) / 2
    log_weight[:, length[:, 0] == 0] += math.log(len(KNEE_RAMP_OCTAVES))
    cumulated = np.exp(log_weight - log_weight.max()).sum(axis=0).cumsum()
    at = np.searchsorted(cumulated, np.array([0.025, 0.5, 0.975]) * cumulated[-1])
    bottom, middle, top = start[at, 0] + np.array([-0.5, 0, 0.5]) * KNEE_GRID_OCTAVES
    next_size = int(np.searchsorted(x, middle, side="right"))
    around = min(bottom, x[next_size - 1]), middle, max(top, x[next_size])
    smallest, size, largest = (float(round(2**octaves)) for octaves in around)
    return size, (smallest, largest)
