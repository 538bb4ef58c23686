"""Predict a further value from similar values; most but not all of them are close together.

Source: Hahn and Meeker, "Statistical Intervals", 1991, section 4.7 (an interval for one further value). Each side has a
spread of its own, since slow machines are further from the middle than fast ones. The spread is combined with a prior
spread, weighted like further values (Smyth, "Linear models and empirical Bayes methods", 2004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from nameplate.statistics.student_t import student_t


def prediction_interval(
    logs: Sequence[float], outside: float, prior: tuple[float, float], center: float | None = None, error: float = 0.0
) -> tuple[float, float, float]:
    """Return the low end, the middle and the high end of an interval for one further value, all as logarithms.

    ``logs`` has the logarithms of the known values, at least one; all logarithms have the same base. A further value
    is below the interval with the probability ``outside`` (0 to 0.5), and above the interval with the same probability.
    ``prior`` is (standard deviation of the logarithms, the number of values for which it counts), both above 0.
    ``center`` is the middle of the interval, the logarithm of the known value that should be most like the further one;
    None uses the median of ``logs``. ``error`` is an additional, known standard deviation of the logarithm, such as
    that of a conversion.
    """
    median_log = median(logs)
    middle = median_log if center is None else center
    spread, weight = prior
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
