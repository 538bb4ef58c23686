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

    The first dip begins ``start`` steps after the start of the series; ``start`` is negative, at least 0.5 −
    ``length``, if the dip began before the series. A dip begins every ``period`` steps and lasts ``length`` steps.
    These three numbers need not be whole. ``depth`` is the share (0.05 is 5 %) of the level that is lost within a dip.
    """

    period: float
    start: float
    length: float
    depth: float

    def begins(self, count: int) -> list[float]:
        """Return the start of each dip in a series of ``count`` steps, in steps from its start, ascending.

        Dips that begin within the last half step are left out. The first entry is ``start``, which may be negative. The
        list is empty if ``start`` is after the end of the series.
        """
        number = math.ceil((count - 0.5 - self.start) / self.period)
        return [self.start + k * self.period for k in range(number)]

    def stretches(self, count: int) -> list[tuple[int, int]]:
        """Return for each dip the steps that it covers, as pairs (first, end) of indices, end exclusive.

        ``count`` is the number of steps of the series, at least 1. The dips are those of ``begins``. The start and the
        end of each dip are rounded to whole steps and limited to the series; each pair has at least one step.
        """
        result = []
        for start in self.begins(count):
            first = min(max(0, round(start)), count - 1)
            result.append((first, min(count, max(first + 1, round(start + self.length)))))
        return result

    def cover(self, count: int) -> Array:
        """Return for each of the ``count`` steps of a series the share of the step, 0 to 1, that is within a dip.

        Dips that would precede the dip at ``start`` count as well.
        """
        cycles, within = np.divmod(np.arange(count + 1) - self.start, self.period)
        cover: Array = np.diff(cycles * self.length + np.minimum(within, self.length))
        return cover


def fit_shape(residual: Array, period: float, start: int, width: int) -> DipShape:
    """Return the dips that explain the residuals best, searched near a known period and position.

    ``residual`` has one difference from the trend for each step, as a share of the level, negative in a dip. ``period``
    and ``width`` are the known period and length of the dips in steps; the length is from 1 to half the period.
    ``start`` is the index of the step at which one of them begins. The start, length and period of the result are
    refined to fractions of a step. The first dip of the result is the first one with at least half a step within the
    series. Its depth is 0 or negative if the residuals at the known positions are not lower than elsewhere.

    Like a search for transits (Kovács, Zucker and Mazeh 2002), this fits a box, but with partly covered steps, and to
    absolute deviations, which single disturbed steps do not affect. A dip lasts at least one step, since a shorter one
    cannot be distinguished from a shallower one, and at most half of the period.
    """
    anchor = start + period * round((len(residual) / 2 - start) / period)
    longest = period / 2
    lengths = np.arange(1.0, min(longest, 2 * width + 2) + 1e-9, _COARSE)
    near = np.arange(-width - 1.0, width + 1.0, _COARSE)
    best = _best(residual, (DipShape(period, anchor + a, b, 0) for b in lengths for a in near))
    offsets = np.arange(-_COARSE, _COARSE + 1e-9, _FINE)
    finer = [best.length + offset for offset in offsets if 1 <= best.length + offset <= longest]
    best = _best(residual, (DipShape(period, best.start + a, b, 0) for b in finer for a in offsets))
    # With these periods, the phase shifts over the whole series by at most one step.
    periods = best.period * (1 + np.linspace(-1, 1, 41) / len(residual))
    starts = best.start + np.arange(-0.2, 0.2 + 1e-9, _FINE / 2)
    best = _best(residual, (DipShape(p, a, best.length, 0) for p in periods for a in starts))
    if best.length < 2:
        best = _with_integer_steps(residual, best)
    # The first dip of which half a step is within the series.
    earliest = 0.5 - best.length
    first = earliest + (best.start - earliest) % best.period
    return DipShape(float(best.period), float(first), float(best.length), best.depth)


def _with_integer_steps(residual: Array, best: DipShape) -> DipShape:
    """Return dips of one or two whole steps if they fit as well as the best, otherwise the best."""
    for length in (2.0, 1.0):
        begins = np.arange(best.start - 1, best.start + best.length, _FINEST)
        stepped = _best(residual, (DipShape(best.period, start, length, 0) for start in begins))
        touched = (stepped.cover(len(residual)) + best.cover(len(residual))) > 1e-9
        left, least = (float(_fitted(residual, shape)[0][touched].sum()) for shape in (stepped, best))
        if left <= least * (1 + _AS_GOOD / math.sqrt(touched.sum())):
            return stepped
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
    return np.abs(lost - depth * cover), DipShape(shape.period, shape.start, shape.length, depth)


def _weighted_median(values: Array, weights: Array) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])
