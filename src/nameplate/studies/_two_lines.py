"""Fit a line to the times of messages by least squares, as the study of a network of workstations does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression
from typing import TypeAlias

# Points (size in bytes, time in seconds) of one pair of processes, or of one round, in ascending order of size.
Curve: TypeAlias = list[tuple[float, float]]

# Two points give a line, but no measure of whether one fits.
_MIN_SIZES = 3


# Resamples of an interval, of which 2.5 % lie on each side outside of it.
_N_RESAMPLES = 1000
_MIN_CURVES = 6


@dataclass(frozen=True)
class LeastSquares:
    """A line t = ``startup_s`` + ``per_byte_s`` × size, with sizes in bytes.

    ``startup_ci`` and ``per_byte_ci`` are the 95 % intervals (lower, upper), None with fewer than six curves. They are
    those of the line if other pairs of the same kind had been measured: the curves are resampled (Efron's percentile
    bootstrap, with a fixed seed).
    """

    startup_s: float
    per_byte_s: float
    startup_ci: tuple[float, float] | None
    per_byte_ci: tuple[float, float] | None

    @property
    def bandwidth(self) -> float | None:
        """Return 1/t_w in B/s; None if the time does not grow with the size."""
        return 1 / self.per_byte_s if self.per_byte_s > 0 else None


def fit_line(curves: Sequence[Curve]) -> LeastSquares | None:
    """Return the line that fits the points of all curves best, each point with the same weight.

    The result is None with fewer than three different sizes.
    """
    points = [point for curve in curves for point in curve]
    if len({size for size, _ in points}) < _MIN_SIZES:
        return None
    per_byte, startup = linear_regression(*zip(*points, strict=True))
    lines = _resampled_lines(curves) if len(curves) >= _MIN_CURVES else []
    return LeastSquares(startup, per_byte, _middle([line[0] for line in lines]), _middle([line[1] for line in lines]))


def _resampled_lines(curves: Sequence[Curve]) -> list[tuple[float, float]]:
    """Return the intercept and the slope of the lines of ``_N_RESAMPLES`` selections of as many curves."""
    # A line is a function of these sums, which can be added for each selection.
    sums = [
        (len(curve), sum(x for x, _ in curve), sum(y for _, y in curve), sum(x * x for x, _ in curve),
         sum(x * y for x, y in curve))
        for curve in curves
    ]  # fmt: skip
    rng = random.Random(1)
    lines = []
    for _ in range(_N_RESAMPLES):
        n, x, y, xx, xy = (sum(column) for column in zip(*rng.choices(sums, k=len(sums)), strict=True))
        spread = n * xx - x * x
        if spread > 0:
            slope = (n * xy - x * y) / spread
            lines.append(((y - slope * x) / n, slope))
    return lines


def _middle(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the bounds of the middle 95 % of values, None without values."""
    ordered = sorted(values)
    outside = len(ordered) // 40
    return (ordered[outside], ordered[-1 - outside]) if ordered else None
