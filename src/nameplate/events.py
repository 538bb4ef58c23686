"""What happened in a long series: levels, dips that come again and again, single dips and bursts. Pure functions.

Everything is looked for in values relative to their level; a probability below ``SIGNIFICANT`` is that of finding
anything of the kind in a whole series in which nothing happens. docs/series.md has the rates that were measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import ruptures
from scipy import ndimage, special, stats

SIGNIFICANT = 0.01

# Below this a change is of no interest, however sure it is.
LEAST_EFFECT = 0.01

FEWEST_SAMPLES = 20

# A longer series is looked at in so many steps, each the mean of its samples.
MOST_STEPS = 1500

# A dip that comes again and again lasts so many steps, and half of its period at most.
WIDTHS = (1, 2, 3, 5, 8)
_FEWEST_DIPS = 4
_SHORTEST_PERIOD = 4.0

# A robust standard deviation of normal noise is so many median absolute deviations.
_NORMAL_MAD = 1.4826

# In at least 99 of 100 steady series no proposed change differs more from what is usual there, as measured.
_CRITICAL_JUMP = 5.2

_LONGEST_WINDOW = 30
_SHORTEST_WINDOW = 5
_TREND_STEPS = 41

# A condition that differs within an event by chance does so with this probability, all of an event's together. A single
# step can be the most unusual of 600 by chance in one case of 600, so less could not be asked for.
_MOVED = 0.05
_PLACEMENTS = 4999

# Residuals are looked at in such steps; in the larger ones, where a pattern too faint to matter hides what is below it.
_GRAINS = (LEAST_EFFECT / 2, 3 * LEAST_EFFECT)

# Steps, and the score that their best period exceeds in one of two hundred series of nothing but chance.
_CRITICAL = ((20, 2.85), (30, 3.25), (60, 3.9), (120, 4.4), (240, 4.8), (600, 5.3), (1500, 5.55))

Array = npt.NDArray[np.float64]

_FREEDOMS = np.append(1 / np.arange(1.0, 0.02, -0.02), math.inf)


@dataclass(frozen=True)
class Level:
    """Steps ``begin`` to ``end`` (exclusive), about whose median ``value`` the others vary."""

    begin: int
    end: int
    value: float


@dataclass(frozen=True)
class Dips:
    """Every ``period`` steps the value is ``depth`` (a share of its level) worse for ``width`` steps.

    ``begins`` are the first steps of those that were seen; ``score`` is in standard deviations.
    """

    period: float
    width: int
    depth: float
    begins: tuple[int, ...]
    score: float


@dataclass(frozen=True)
class Run:
    """Steps ``begin`` to ``end`` (exclusive) that stand out: ``change`` is a share of the level, negative: worse."""

    begin: int
    end: int
    change: float


def levels(goodness: Array) -> list[Level]:
    """The levels between lasting changes; a single one where there is none.

    Proposed by PELT (Killick, Fearnhead and Eckley 2012; ``ruptures``) with a penalty by the noise. A change is
    accepted if the means of the steps on both sides of it differ by more than such means do elsewhere in the series,
    so that a slow drift, which differs from place to place, has no levels.
    """
    count = len(goodness)
    cuts = _proposed(goodness) if count >= FEWEST_SAMPLES else []
    while cuts:
        scores = [_jump_score(goodness, before, cut, after) for before, cut, after in _around(cuts, count)]
        effects = [_effect(goodness, before, cut, after) for before, cut, after in _around(cuts, count)]
        weakest = min(range(len(cuts)), key=lambda i: scores[i] if effects[i] >= LEAST_EFFECT else 0.0)
        if scores[weakest] > _CRITICAL_JUMP and effects[weakest] >= LEAST_EFFECT:
            break
        del cuts[weakest]
    ends = [*cuts, count]
    return [Level(a, b, float(np.median(goodness[a:b]))) for a, b in zip([0, *cuts], ends, strict=True)]


def _around(cuts: Sequence[int], count: int) -> list[tuple[int, int, int]]:
    ends = [0, *cuts, count]
    return list(zip(ends[:-2], cuts, ends[2:], strict=True))


def _window(count: int) -> int:
    return max(_SHORTEST_WINDOW, min(_LONGEST_WINDOW, count // 8))


def _proposed(goodness: Array) -> list[int]:
    """Where PELT finds changes in the mean, outliers being clipped. The penalty is low: each is tested afterwards."""
    noise = _deviation(np.diff(goodness)) / math.sqrt(2)
    if noise == 0:
        noise = float(np.std(goodness)) or 1.0
    clipped = ndimage.median_filter(goodness, 5, mode="nearest") / noise
    penalty = 3 * math.log(len(goodness))
    found = ruptures.KernelCPD(kernel="linear", min_size=_window(len(goodness)) // 2).fit(clipped).predict(pen=penalty)
    return [int(cut) for cut in found[:-1]]


def _deviation(values: Array) -> float:
    return float(np.median(np.abs(values - np.median(values)))) * _NORMAL_MAD


def _jump_score(goodness: Array, before: int, cut: int, after: int) -> float:
    """How far the means on both sides of a cut differ, beside how far such means differ everywhere."""
    width = min(_window(len(goodness)), cut - before, after - cut)
    means = np.convolve(goodness, np.ones(width) / width, mode="valid")
    jumps = means[width:] - means[:-width]
    usual = _deviation(jumps)
    own = abs(float(jumps[cut - width]))
    if usual == 0:
        return math.inf if own > 0 else 0.0
    return own / usual


def _effect(goodness: Array, before: int, cut: int, after: int) -> float:
    first, second = float(np.median(goodness[before:cut])), float(np.median(goodness[cut:after]))
    return abs(second - first) / max(abs(first), abs(second), 1e-300)


def residuals(goodness: Array, found: Sequence[Level]) -> Array:
    """Of each level the values relative to it, a slow drift taken off."""
    result = np.empty_like(goodness)
    for level in found:
        part = goodness[level.begin : level.end]
        trend = ndimage.median_filter(part, min(_TREND_STEPS, 2 * (len(part) // 2) + 1), mode="nearest")
        scale = max(abs(level.value), 1e-300)
        result[level.begin : level.end] = (part - trend) / scale
    return result


def periodic_dips(residual: Array) -> Dips | None:
    """The dips that come again and again, or None where no period stands out.

    Epoch folding: at each period the normal scores of the residuals are added up by phase, and the lowest sum counts,
    in standard deviations. Scores of ranks have the same distribution whatever that of the residuals is, so the
    greatest sum that chance brings depends on the number of steps only.
    """
    for grain in _GRAINS:
        found = _dips(residual, np.round(residual / grain))
        if found is None or found.depth >= LEAST_EFFECT:
            return found
    return None


def _dips(residual: Array, rounded: Array) -> Dips | None:
    count = len(residual)
    best = _best_period(_normal_scores(rounded)) if count >= FEWEST_SAMPLES and rounded.any() else None
    if best is None or best[0] < critical_score(count):
        return None
    score, period, width, begins = best
    mask = np.zeros(count, dtype=bool)
    mask[[index for begin in begins for index in range(begin, begin + width)]] = True
    depth = float(np.median(residual[~mask]) - np.median(residual[mask]))
    return Dips(period, width, depth, tuple(begins), score)


def _normal_scores(values: Array) -> Array:
    ranks = stats.rankdata(values)
    scores: Array = special.ndtri((ranks - 0.5) / len(values))
    return scores


def critical_score(count: int) -> float:
    """What the best period of exchangeable steps reaches in one case of two hundred, by simulation."""
    counts, scores = zip(*_CRITICAL, strict=True)
    return float(np.interp(math.log(count), np.log(counts), scores))


def _best_period(scores: Array) -> tuple[float, float, int, list[int]] | None:
    """The highest score with its period, width and the first steps of its dips; None where no period fits in."""
    periods = _periods(len(scores))
    spread = {width: _spread_of_sums(scores, width) for width in WIDTHS}
    best: tuple[float, float, int, int] | None = None
    for bins in sorted(set(periods.astype(int))):
        own = periods[periods.astype(int) == bins]
        sums, counts = _folded(scores, own, bins)
        for width in (width for width in WIDTHS if width <= bins / 2):
            total, number = _circular(sums, width), np.maximum(_circular(counts, width), _FEWEST_DIPS * width)
            strength = -total / np.sqrt(number) / spread[width]
            row, phase = divmod(int(np.argmax(strength)), bins)
            if best is None or strength[row, phase] > best[0]:
                best = (float(strength[row, phase]), float(own[row]), width, phase)
    if best is None:
        return None
    score, period, width, phase = best
    bins = int(period)
    is_begin = _phases(len(scores), np.array([period]), bins)[0] == phase
    return score, period, width, [int(i) for i in np.flatnonzero(is_begin) if i + width <= len(scores)]


def _phases(count: int, periods: Array, bins: int) -> npt.NDArray[np.int64]:
    """For each period (rows) each step's phase, in ``bins`` parts."""
    return (np.mod(np.arange(count)[None, :], periods[:, None]) * (bins / periods[:, None])).astype(np.int64)


def _folded(scores: Array, periods: Array, bins: int) -> tuple[Array, Array]:
    """For each period (rows) the sums and numbers of the steps of each phase."""
    flat = (np.arange(len(periods))[:, None] * bins + _phases(len(scores), periods, bins)).ravel()
    size = len(periods) * bins
    sums = np.bincount(flat, weights=np.tile(scores, len(periods)), minlength=size)
    counts = np.bincount(flat, minlength=size)
    shape = (len(periods), bins)
    return np.asarray(sums, dtype=np.float64).reshape(shape), np.asarray(counts, dtype=np.float64).reshape(shape)


def _circular(rows: Array, width: int) -> Array:
    """Sums of ``width`` neighbours, the first being the last one's neighbour."""
    around = np.concatenate([rows, rows[:, : width - 1]], axis=1)
    total: Array = np.lib.stride_tricks.sliding_window_view(around, width, axis=1).sum(axis=2)
    return total


def _spread_of_sums(scores: Array, width: int) -> float:
    """Of sums of neighbours beside what it would be if they were independent."""
    sums = np.convolve(scores, np.ones(width), mode="valid")
    return float(np.std(sums) / np.std(scores)) / math.sqrt(width) or 1.0


def _periods(count: int) -> Array:
    """As close that over the whole series the phase of neighbouring ones differs by half a step."""
    longest = count / _FEWEST_DIPS
    if longest <= _SHORTEST_PERIOD:
        return np.empty(0)
    steps = math.ceil(math.log(longest / _SHORTEST_PERIOD) * 2 * count)
    return np.asarray(_SHORTEST_PERIOD * np.exp(np.arange(steps + 1) / (2 * count)))


def runs(residual: Array, apart: Sequence[int] = ()) -> list[Run]:
    """Steps that stand out of the noise, neighbours together; those ``apart``, which are known already, are left out.

    Noise is taken for Student's t, whose tails are read off the middle 95 %, so that what has heavy tails has no events
    in each of them.
    """
    size = float(np.median(np.abs(residual)))
    if len(residual) < FEWEST_SAMPLES or size == 0:
        return []
    # A standard error of this ratio more: tails that are thought too light have events that are none.
    ratio = float(np.quantile(np.abs(residual), 0.95)) / size * (1 + 1.5 / math.sqrt(len(residual)))
    freedom = _freedom(ratio)
    limit = stats.t.isf(SIGNIFICANT / 2 / len(residual), freedom) / stats.t.ppf(0.75, freedom) * size
    stands_out = np.abs(residual) > max(float(limit), LEAST_EFFECT)
    stands_out[list(apart)] = False
    signs = np.where(stands_out, np.sign(residual), 0)
    ends = np.flatnonzero(np.diff(signs, prepend=0, append=0))
    return [Run(int(a), int(b), float(np.mean(residual[a:b]))) for a, b in pairwise(ends) if signs[a] != 0]


def _freedom(ratio: float) -> float:
    """The degrees of freedom at which the 95th percentile of |t| is so many times its median."""
    usual = stats.t.ppf(0.975, _FREEDOMS) / stats.t.ppf(0.75, _FREEDOMS)
    return float(_FREEDOMS[int(np.argmin(np.abs(usual - ratio)))])


def moved(values: Array, inside: Sequence[tuple[int, int]], tests: int) -> bool:
    """Whether a condition differs within an event's steps from what it is elsewhere, ``tests`` being asked.

    A permutation test: as many stretches of the same lengths are put anywhere in the series.
    """
    count = len(values)
    if not np.ptp(values):
        return False
    total = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values]) - values.mean())])
    lengths = np.array([end - begin for begin, end in inside])
    begins = np.random.default_rng(count).integers(0, count, (_PLACEMENTS, len(inside)))
    by_chance = np.abs((total[begins + lengths] - total[begins]).sum(axis=1))
    own = abs(sum(float(total[end] - total[begin]) for begin, end in inside))
    as_far = int(np.sum(by_chance >= own * (1 - 1e-9)))
    return (1 + as_far) / (1 + _PLACEMENTS) < _MOVED / tests
