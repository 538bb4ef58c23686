"""Find how many users a shared resource serves at full speed: B(p) = min(p · b, B_max)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nameplate.statistics.bootstrap import percentile_interval

BOOTSTRAPS = 400
# If the knee is this close to the largest number, the resource is not saturated.
_BEYOND_KNEE = 1.1


@dataclass(frozen=True)
class Saturation:
    """The rate at which a shared resource saturates, and the number of users that reach it.

    The model is B(p) = min(p · b, B_max) for p users. ``maximum`` is B_max, in the unit of the measured rates. ``knee``
    is B_max / b, the number of users at which p · b reaches B_max: at least 1, and not rounded. Each ``_ci`` is the
    lower and upper end of the 95 % bootstrap interval.
    """

    maximum: float
    maximum_ci: tuple[float, float]
    knee: float
    knee_ci: tuple[float, float]


def find_saturation(counts: Sequence[int], rounds: Sequence[Sequence[float]], seed: int = 0) -> Saturation | None:
    """Return the saturation of a shared resource, or None if the rates do not show one.

    ``counts`` has three or more numbers of users, each at least 1, in ascending order. ``rounds[i]`` has the total rate
    of ``counts[i]`` users in each round, above 0 and in any one unit, for at least one round. These conditions are not
    checked. ``seed`` is the seed of the bootstrap over rounds.

    The model is fitted by least squares of the logarithms, over every split into counts that still scale and counts
    that no longer do. The result is None if the Bayesian information criterion prefers a rate that scales up to the
    largest count, or if the upper end of the knee's interval, plus 10 %, exceeds the largest count.
    """
    p = np.log(np.asarray(counts, float))
    values = np.log([float(np.median(values_of_step)) for values_of_step in rounds])
    split, left = _best_split(p, values)
    count = len(counts)
    growing = float(np.sum((values - p - np.mean(values - p)) ** 2))
    if count * math.log(max(growing, 1e-12) / max(left, 1e-12)) < math.log(count):
        return None
    source = np.random.default_rng(seed)
    drawn = []
    for _ in range(BOOTSTRAPS):
        resampled = np.log(
            [float(np.median(source.choice(values_of_step, len(values_of_step)))) for values_of_step in rounds]
        )
        drawn.append(_described(p, resampled, _best_split(p, resampled)[0]))
    maximum, knee = _described(p, values, split)
    maximum_ci, knee_ci = (
        percentile_interval([values_of_step[i] for values_of_step in drawn], middle)
        for i, middle in enumerate((maximum, knee))
    )
    if knee_ci[1] * _BEYOND_KNEE > counts[-1]:
        return None
    return Saturation(maximum, maximum_ci, knee, knee_ci)


def _best_split(p: Any, values: Any) -> tuple[int, float]:
    """Return how many of the counts still scale (at least the first), and the squared residuals."""
    tried = []
    for split in range(1, len(p)):
        grown, flat = values[:split] - p[:split], values[split:]
        tried.append((float(np.sum((grown - grown.mean()) ** 2) + np.sum((flat - flat.mean()) ** 2)), split))
    left, split = min(tried)
    return split, left


def _described(p: Any, values: Any, split: int) -> tuple[float, float]:
    """Return B_max and the knee."""
    level = float(np.mean(values[:split] - p[:split]))
    maximum = float(np.mean(values[split:]))
    return math.exp(maximum), max(1.0, math.exp(maximum - level))
