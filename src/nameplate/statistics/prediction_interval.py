"""Predict a further value from similar ones, most of which are close together and some of which are not.

Source: Hahn and Meeker, "Statistical Intervals", 1991, section 4.7 (an interval for one further value). Each side has a
spread of its own, since slow machines are further from the middle than fast ones. The spread is combined with one that
is usual elsewhere, weighted like further values (Smyth, "Linear models and empirical Bayes methods", 2004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from nameplate.statistics.student_t import student_t


def prediction_interval(
    logs: Sequence[float], outside: float, usual: tuple[float, float], center: float | None = None, error: float = 0.0
) -> tuple[float, float, float]:
    """Return the low end, the middle and the high end of an interval for one further value, in logarithms.

    ``logs`` are the known values, at least one. A further value is below the interval with the probability ``outside``,
    and above it with the same. ``usual`` is a standard deviation and the number of values that it counts like, above 0.
    ``center`` is the middle if one of the values is known to be closest; default: the median. ``error`` is a standard
    deviation that is certain and added, such as that of a conversion.
    """
    median_log = median(logs)
    middle = median_log if center is None else center
    spread, weight = usual
    freedom = weight + len(logs) - 1
    times = student_t(freedom, 1 - outside)
    # A single value as the middle is as far from the true one as the further value is.
    share = 1.0 if center is not None else 1.0 / len(logs)
    reaches = []
    for side in (-1, 1):
        squares = math.fsum(max(side * (value - median_log), 0.0) ** 2 for value in logs)
        # Half of the values are on one side.
        variance = (weight * spread**2 + 2 * squares) / freedom
        reaches.append(times * math.sqrt(variance * (1 + share) + error**2))
    return middle - reaches[0], middle, middle + reaches[1]
