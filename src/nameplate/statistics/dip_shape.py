"""Fit the period, length and depth of recurring dips that may begin and end within a step. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# The grid of begins and lengths in steps: everywhere, around the best, and for whole steps.
_COARSE, _FINE, _FINEST = 0.5, 0.1, 0.02

# If no step is completely within a dip, deeper and shorter dips fit as well as shallower and longer ones. Dips of two
# whole steps, and then of one, are preferred if their residual is at most 1 + this / sqrt(n) times the minimum for n
# steps.
_AS_GOOD = 0.65


@dataclass(frozen=True)
class DipShape:
    """Dips that recur with a fixed period in a series of steps, all of the same length and depth.

    The first dip begins ``begin`` steps after the begin of the series; it is negative if that dip began before the
    series, by at most ``length`` − 0.5. A dip begins every ``period`` steps and lasts ``length`` steps. None of the
    three needs to be a whole number. ``depth`` is the share of the level that is lost within a dip.
    """

    period: float
    begin: float
    length: float
    depth: float

    def begins(self, count: int) -> list[float]:
        """Return the begin of each dip in a series of ``count`` steps, in steps, ascending.

        Dips that begin within the last half step are left out. The first begin is that of the shape, which may be
        negative. The list is empty if the shape begins after the series.
        """
        number = math.ceil((count - 0.5 - self.begin) / self.period)
        return [self.begin + k * self.period for k in range(number)]

    def stretches(self, count: int) -> list[tuple[int, int]]:
        """Return for each dip the steps that it covers, as pairs (first, end) of indices, end exclusive.

        ``count`` is the number of steps of the series, at least 1. The dips are those of ``begins``. The begin and the
        end of each are rounded to whole steps and limited to the series; each pair has at least one step.
        """
        found = []
        for begin in self.begins(count):
            first = min(max(0, round(begin)), count - 1)
            found.append((first, min(count, max(first + 1, round(begin + self.length)))))
        return found

    def cover(self, count: int) -> Array:
        """Return for each of the ``count`` steps of a series the share of it, 0 to 1, that is within a dip.

        Dips that would precede the one at ``begin`` are covered as well.
        """
        cycles, within = np.divmod(np.arange(count + 1) - self.begin, self.period)
        cover: Array = np.diff(cycles * self.length + np.minimum(within, self.length))
        return cover


def fit_shape(residual: Array, period: float, begin: int, width: int) -> DipShape:
    """Return the dips that explain the residuals best, searched near a known period and position.

    ``residual`` has one difference from the trend for each step, as a share of the level, negative in a dip. ``period``
    and ``width`` are the known period and length of the dips in steps; the length is from 1 to half the period.
    ``begin`` is the index of the step at which one of them begins. Begin, length and period of the result are refined
    to fractions of a step. Its first dip is the first one of which at least half a step is within the series. Its depth
    is 0 or negative if the residuals at the known places are not lower than elsewhere.

    Like a search for transits (Kovács, Zucker and Mazeh 2002), this fits a box, but with partly covered steps, and to
    absolute deviations, which single disturbed steps do not affect. A dip lasts at least one step, since a shorter one
    cannot be distinguished from a shallower one, and at most half of the period.
    """
    anchor = begin + period * round((len(residual) / 2 - begin) / period)
    longest = period / 2
    lengths = np.arange(1.0, min(longest, 2 * width + 2) + 1e-9, _COARSE)
    near = np.arange(-width - 1.0, width + 1.0, _COARSE)
    best = _best(residual, (DipShape(period, anchor + a, b, 0) for b in lengths for a in near))
    best = _best(residual, _around(best, longest))
    best = _best(residual, _with_periods_near(best, len(residual)))
    return _from_first(best if best.length >= 2 else _of_whole_steps(residual, best))


def _around(shape: DipShape, longest: float) -> Iterable[DipShape]:
    offsets = np.arange(-_COARSE, _COARSE + 1e-9, _FINE)
    lengths = [shape.length + b for b in offsets if 1 <= shape.length + b <= longest]
    return (DipShape(shape.period, shape.begin + a, b, 0) for b in lengths for a in offsets)


def _with_periods_near(shape: DipShape, count: int) -> Iterable[DipShape]:
    """Return shapes whose phase shifts over the whole series by at most one step."""
    periods = shape.period * (1 + np.linspace(-1, 1, 41) / count)
    begins = shape.begin + np.arange(-0.2, 0.2 + 1e-9, _FINE / 2)
    return (DipShape(p, a, shape.length, 0) for p in periods for a in begins)


def _of_whole_steps(residual: Array, best: DipShape) -> DipShape:
    """Return dips of one or two whole steps if they fit as well as the best, otherwise the best."""
    for length in (2.0, 1.0):
        begins = np.arange(best.begin - 1, best.begin + best.length, _FINEST)
        whole = _best(residual, (DipShape(best.period, begin, length, 0) for begin in begins))
        touched = (whole.cover(len(residual)) + best.cover(len(residual))) > 1e-9
        left, least = (float(_fitted(residual, shape)[0][touched].sum()) for shape in (whole, best))
        if left <= least * (1 + _AS_GOOD / math.sqrt(touched.sum())):
            return whole
    return best


def _best(residual: Array, shapes: Iterable[DipShape]) -> DipShape:
    """Return the first shape with the smallest residual, with its depth."""
    return min((_fitted(residual, shape) for shape in shapes), key=lambda fit: float(fit[0].sum()))[1]


def _fitted(residual: Array, shape: DipShape) -> tuple[Array, DipShape]:
    """Return the residuals of a shape at its best depth, and the shape with that depth."""
    cover = shape.cover(len(residual))
    touched = cover > 1e-9
    level = 0.0 if touched.all() else float(np.median(residual[~touched]))
    lost = level - residual
    depth = _weighted_median(lost[touched] / cover[touched], cover[touched])
    return np.abs(lost - depth * cover), DipShape(shape.period, shape.begin, shape.length, depth)


def _weighted_median(values: Array, weights: Array) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


def _from_first(shape: DipShape) -> DipShape:
    """Return the same dips, starting with the first one of which half a step is within the series."""
    earliest = 0.5 - shape.length
    begin = earliest + (shape.begin - earliest) % shape.period
    return DipShape(float(shape.period), float(begin), float(shape.length), shape.depth)
