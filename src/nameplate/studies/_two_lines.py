"""Fit a line to the times of messages by least squares, as the study of a network of workstations does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression
from typing import TypeAlias

from nameplate.statistics.stats import median_interval

# Points (size in bytes, time in seconds) of one pair of processes, or of one round, in ascending order of size.
Curve: TypeAlias = list[tuple[float, float]]

# Two points give a line, but no measure of whether one fits.
_MIN_SIZES = 3


@dataclass(frozen=True)
class LeastSquares:
    """A line t = ``startup_s`` + ``per_byte_s`` × size, with sizes in bytes.

    ``startup_ci`` and ``per_byte_ci`` are the 95 % intervals (lower, upper) of the median of the curves' own lines,
    None with fewer than six curves.
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
    lines = [
        linear_regression(*zip(*curve, strict=True))
        for curve in curves if len({size for size, _ in curve}) >= _MIN_SIZES
    ]  # fmt: skip
    startups = median_interval([line.intercept for line in lines])
    slopes = median_interval([line.slope for line in lines])
    return LeastSquares(
        startup, per_byte, (startups.low, startups.high) if startups else None,
        (slopes.low, slopes.high) if slopes else None,
    )  # fmt: skip
