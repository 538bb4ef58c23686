"""Find periodic dips in a long series by epoch folding of rank scores. Pure functions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from nameplate.statistics.change_points import MIN_EFFECT, MIN_SAMPLES, Array
from nameplate.statistics.dip_shape import DipShape, fit_shape

# Lengths of dips in steps; a dip lasts at most half of its period.
_WIDTHS = (1, 2, 3, 5, 8)
MIN_DIPS = 4
_MIN_PERIOD = 4.0

# Residuals are rounded to the first resolution, or to the second if a pattern too faint to matter hides smaller ones.
_GRAINS = (MIN_EFFECT / 2, 3 * MIN_EFFECT)

# Numbers of steps, and the score that the best period of independent steps exceeds in one of two hundred series. The
# scores up to 120 steps were simulated. Those of 240 and 600 were chosen and verified: 3 of 917 and 0 of 185 simulated
# series exceeded them. That of 1,500 is extrapolated.
_CRITICAL = ((20, 3.15), (30, 3.6), (60, 4.25), (120, 4.7), (240, 5.0), (600, 5.4), (1500, 5.65))

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Dips:
    """The periodic dips of a series and their significance.

    ``score`` says how far the rank scores within the dips are below 0, in standard deviations under the null
    hypothesis. Dips are significant if ``score`` is at least ``critical_score(count)`` for the number of steps.
    """

    shape: DipShape
    score: float


def periodic_dips(residual: Array) -> Dips | None:
    """Return the most significant periodic dips of a series, or None if no period is significant.

    ``residual`` has one difference from the trend for each step, as a share of the level, negative in a dip (as
    ``change_points.residuals`` returns them). The result is also None for fewer than 20 steps, for residuals that are
    all within ±0.25 % of the level, and for dips of less than 1 % of the level. Periods from 4 steps to a quarter of
    the series are tested.

    Epoch folding (Leahy et al. 1983): for each period the normal scores of the residuals are summed by phase, and the
    lowest sum is the statistic, in standard deviations. Since scores depend only on ranks, the critical values hold for
    heavy-tailed noise as well.
    """
    for grain in _GRAINS:
        dips = _dips(residual, np.round(residual / grain))
        if dips is None or dips.shape.depth >= MIN_EFFECT:
            return dips
    return None


def _dips(residual: Array, rounded: Array) -> Dips | None:
    count = len(residual)
    best = _best_period(normal_scores(rounded)) if count >= MIN_SAMPLES and rounded.any() else None
    if best is None or best[0] < critical_score(count):
        return None
    score, period, width, phase = best
    start = int(np.argmax(_phases(count, np.array([period]), int(period))[0] == phase))
    return Dips(fit_shape(residual, period, start, width), score)


def scores_of(residual: Array) -> Array:
    """Return the normal scores in which ``periodic_dips`` searches first, one for each residual.

    ``residual`` has differences from the trend as shares of the level. They are rounded to 0.5 % before they are
    ranked, so that smaller differences have no effect.
    """
    return normal_scores(np.round(residual / _GRAINS[0]))


def normal_scores(values: Array) -> Array:
    """Return for each value the quantile of the standard normal distribution at its rank, in the same order.

    A value of rank r among n values (r = 1 for the lowest) has the quantile at the probability (r − 0.5) / n. Equal
    values get the mean of their scores.
    """
    count = len(values)
    quantiles: Array = special.ndtri((np.arange(1, count + 1) - 0.5) / count)
    sums = np.concatenate([[0.0], np.cumsum(quantiles)])
    lowest = stats.rankdata(values, method="min").astype(int) - 1
    highest = stats.rankdata(values, method="max").astype(int)
    scores: Array = (sums[highest] - sums[lowest]) / (highest - lowest)
    return scores


def critical_score(count: int) -> float:
    """Return the score from which periodic dips in a series of ``count`` steps, one or more, are significant.

    In about one of two hundred series of independent steps, the best period exceeds this score. The score is
    interpolated between simulations of 20 to 1,500 steps; for shorter and longer series, the score of the nearest
    simulated length is returned.
    """
    counts, scores = zip(*_CRITICAL, strict=True)
    return float(np.interp(math.log(count), np.log(counts), scores))


def strength(scores: Array, inside: Mask, width: int) -> float:
    """Return how far the scores within dips are below 0, in standard deviations of their sum; negative if above 0.

    ``scores`` has the normal score of each step, ``inside`` is True for the steps within dips, and ``width`` is the
    length of a dip in steps. The standard deviation is computed for sampling without replacement, and multiplied by the
    excess variation of sums of ``width`` neighbours outside the dips. Fewer than four dips count as four.
    """
    number = np.array([max(int(inside.sum()), MIN_DIPS * width)], dtype=np.float64)
    deviation = float(_deviation_of_sum(number, len(scores))[0]) * _spread_of_sums(scores, inside, width)
    return -float(scores[inside].sum()) / deviation


def _best_period(scores: Array) -> tuple[float, float, int, int] | None:
    """Return the highest score with its period, width and phase; None if the series is too short for any period."""
    best: dict[int, tuple[float, float, int]] = {}
    periods = _periods(len(scores))
    for bins in sorted(set(periods.astype(int))):
        candidates = periods[periods.astype(int) == bins]
        sums, counts = _folded(scores, candidates, bins)
        for width in (width for width in _WIDTHS if width <= bins / 2):
            number = np.maximum(_circular(counts, width), MIN_DIPS * width)
            lowness = -_circular(sums, width) / _deviation_of_sum(number, len(scores))
            row, phase = divmod(int(np.argmax(lowness)), bins)
            best[width] = max(
                best.get(width, (-math.inf, 0.0, 0)), (float(lowness[row, phase]), float(candidates[row]), phase)
            )
    scored = [
        (strength(scores, _inside(len(scores), period, phase, width), width), period, width, phase)
        for width, (_, period, phase) in best.items()
    ]
    return max(scored, default=None)


def _inside(count: int, period: float, phase: int, width: int) -> Mask:
    bins = int(period)
    inside: Mask = (_phases(count, np.array([period]), bins)[0] - phase) % bins < width
    return inside


def _deviation_of_sum(number: Array, count: int) -> Array:
    """Return the standard deviation of a sum of ``number`` scores drawn without replacement."""
    deviation: Array = np.sqrt(number * np.maximum(1 - number / count, 0.25))
    return deviation


def _phases(count: int, periods: Array, bins: int) -> npt.NDArray[np.int64]:
    """Return for each period (rows) the phase of each step, as one of ``bins`` bins."""
    cycles = np.arange(count)[None, :] / periods[:, None]
    return ((cycles - np.floor(cycles)) * bins).astype(np.int64)


def _folded(scores: Array, periods: Array, bins: int) -> tuple[Array, Array]:
    """Return for each period (rows) the sum and the number of the steps in each bin."""
    flat = (np.arange(len(periods))[:, None] * bins + _phases(len(scores), periods, bins)).ravel()
    size = len(periods) * bins
    sums = np.bincount(flat, weights=np.tile(scores, len(periods)), minlength=size)
    counts = np.bincount(flat, minlength=size)
    shape = (len(periods), bins)
    return np.asarray(sums, dtype=np.float64).reshape(shape), np.asarray(counts, dtype=np.float64).reshape(shape)


def _circular(rows: Array, width: int) -> Array:
    """Return the sums of ``width`` neighbours; the first and last column are neighbours."""
    around = np.concatenate([rows, rows[:, : width - 1]], axis=1)
    total: Array = np.lib.stride_tricks.sliding_window_view(around, width, axis=1).sum(axis=2)
    return total


def _spread_of_sums(scores: Array, inside: Mask, width: int) -> float:
    """Return the ratio, at least 1, of the variation of sums of neighbours outside the dips to that of independent
    scores.
    """
    window = np.ones(width)
    is_outside = np.convolve(inside, window, mode="valid") < 0.5
    alone, sums = scores[~inside], np.convolve(scores, window, mode="valid")[is_outside]
    if len(sums) < 2 or np.ptp(alone) == 0:
        return 1.0
    return max(1.0, float(np.std(sums) / np.std(alone)) / math.sqrt(width))


def _periods(count: int) -> Array:
    """Return the periods, spaced so that the phases of neighbours differ by half a step over the whole series."""
    longest = count / MIN_DIPS
    if longest <= _MIN_PERIOD:
        return np.empty(0)
    steps = math.ceil(math.log(longest / _MIN_PERIOD) * 2 * count)
    return np.asarray(_MIN_PERIOD * np.exp(np.arange(steps + 1) / (2 * count)))
