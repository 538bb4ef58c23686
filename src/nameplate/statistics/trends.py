"""What a figure did from run to run: steps that last, and slow drift. Pure functions.

A run is the unit, and ratios are taken on logarithms. Noise is read off the differences of neighbouring runs, which no
step and no drift enlarges. A step is proposed where the means on both sides differ most beside that noise (binary
segmentation by CUSUM: Scott and Knott 1974), single runs that stand out being clipped. A drift is found by the
differences of runs that lie half the time apart: their signs (Cox and Stuart 1955) say whether, their median slope
(Theil 1950) how fast. Steps, a drift or neither: whichever explains the runs with the fewest numbers (Schwarz 1978).
docs/history.md has the rates that were measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Below this a change is of no interest, however sure it is.
MINIMUM_EFFECT = 0.03
# A change smaller than so many times what runs vary by may be the machine's own.
OWN_MOVES = 2.5
# What fewer runs show may pass again, and with fewer before it nothing is known about the noise.
MIN_LASTING = 3
MIN_RUNS = 8

_CANDIDATE = 0.01
_CLIP = 3.0
_AROUND = 5
_LEAST_NOISE = 5e-4
_MAD_TO_SD = 1.4826
# So much of a level's runs lie nearer to it than to the level beside it.
_ON_ITS_SIDE = 0.8
# A step that explains a drift is such a part of it.
_LARGE = 0.25


@dataclass(frozen=True)
class Step:
    """From the run ``at`` on the figure has another level. ``probability``: that chance does as much somewhere."""

    at: int
    before: float
    after: float
    probability: float


@dataclass(frozen=True)
class Drift:
    """Over all runs the figure moved by ``slope_per_day`` (of the logarithm), from ``before`` to ``after``."""

    slope_per_day: float
    before: float
    after: float
    probability: float


def find_trend(values: Sequence[float] | Floats, days: Sequence[float] | Floats) -> list[Step] | Drift:
    """The steps in order, or the drift; an empty list where there is neither.

    ``values`` are positive, a run each, in the order of ``days``.
    """
    logs = np.log(np.asarray(values, dtype=np.float64))
    times = np.asarray(days, dtype=np.float64)
    if len(logs) < MIN_RUNS:
        return []
    noise = max(_LEAST_NOISE, _MAD_TO_SD * float(np.median(np.abs(np.diff(logs)))) / math.sqrt(2))
    clipped = _clipped(logs, noise)
    cuts = _cuts(clipped, noise, 0, len(logs))
    drift = _drift(logs, times)
    if drift and _score_of_drift(logs, times, drift) < _score_of_levels(logs, _large(logs, cuts, drift)):
        return drift
    return _steps(logs, clipped, noise, cuts)


def _steps(logs: Floats, clipped: Floats, noise: float, cuts: list[int]) -> list[Step]:
    """Those of the cuts that are worth telling."""
    while cuts:
        edges = [0, *cuts, len(logs)]
        found = [_step(logs, clipped, noise, *edges[i : i + 3]) for i in range(len(cuts))]
        doubtful = [i for i, step in enumerate(found) if step is None]
        if not doubtful:
            return [step for step in found if step]
        cuts = [cut for i, cut in enumerate(cuts) if i != doubtful[0]]
    return []


def _clipped(logs: Floats, noise: float) -> Floats:
    """Runs that stand out of those around them are taken back to what noise would do."""
    half = _AROUND // 2
    around = np.lib.stride_tricks.sliding_window_view(np.pad(logs, half, mode="reflect"), _AROUND)
    middle = np.median(around, axis=1)
    return np.asarray(np.clip(logs, middle - _CLIP * noise, middle + _CLIP * noise))


def _cuts(logs: Floats, noise: float, begin: int, end: int) -> list[int]:
    """The first runs of new levels, by halves of halves."""
    if end - begin < 2 * MIN_LASTING:
        return []
    sums = np.cumsum(logs[begin:end])
    left = np.arange(MIN_LASTING, end - begin - MIN_LASTING + 1)
    right = (end - begin) - left
    means = sums[left - 1] / left, (sums[-1] - sums[left - 1]) / right
    distance = np.abs(means[1] - means[0]) / np.sqrt(1 / left + 1 / right)
    best = int(np.argmax(distance))
    if _probability(float(distance[best]) / noise, len(logs)) > _CANDIDATE:
        return []
    cut = begin + int(left[best])
    return [*_cuts(logs, noise, begin, cut), cut, *_cuts(logs, noise, cut, end)]


def _probability(distance: float, runs: int) -> float:
    """Of so large a distance anywhere among so many runs, whose noise is known as well as a third of them tell."""
    from scipy.special import stdtr  # noqa: PLC0415 (a quarter of a second, and a later look needs none of it)

    return min(1.0, 2 * runs * float(stdtr(runs / 3, -distance)))


def _step(logs: Floats, clipped: Floats, noise: float, begin: int, cut: int, end: int) -> Step | None:  # noqa: PLR0913, PLR0917 (a cut and its levels)
    """None where it is too small, or the levels overlap."""
    first, second = logs[begin:cut], logs[cut:end]
    before, after = float(np.median(first)), float(np.median(second))
    spread = _spread(np.concatenate([first - before, second - after]))
    change = after - before
    if abs(change) < max(math.log1p(MINIMUM_EFFECT), OWN_MOVES * max(spread, noise)):
        return None
    sign, middle = math.copysign(1.0, change), (before + after) / 2
    on_its_side = [int(np.sum(sign * (middle - first) > 0)), int(np.sum(sign * (second - middle) > 0))]
    for runs, kept in zip((len(first), len(second)), on_its_side, strict=True):
        if kept < max(MIN_LASTING, _ON_ITS_SIDE * runs):
            return None
    apart = abs(float(np.mean(clipped[cut:end]) - np.mean(clipped[begin:cut])))
    probability = _probability(apart / math.sqrt(1 / len(first) + 1 / len(second)) / noise, len(logs))
    return Step(cut, math.exp(before), math.exp(after), probability) if probability <= _CANDIDATE else None


def _spread(residuals: Floats) -> float:
    return _MAD_TO_SD * float(np.median(np.abs(residuals - np.median(residuals))))


def _drift(logs: Floats, days: Floats) -> Drift | None:
    from scipy.special import bdtr  # noqa: PLC0415 (as above)

    half = len(logs) // 2
    rises, spans = logs[-half:] - logs[:half], days[-half:] - days[:half]
    if np.any(spans <= 0):
        return None
    against = min(int(np.sum(rises > 0)), int(np.sum(rises < 0)))
    probability = min(1.0, 2 * float(bdtr(against, half, 0.5)))
    slope = float(np.median(rises / spans))
    change = slope * float(days[-1] - days[0])
    level = float(np.median(logs - slope * days))
    spread = _spread(logs - slope * days - level)
    if probability > _CANDIDATE or abs(change) < max(math.log1p(MINIMUM_EFFECT), OWN_MOVES * spread):
        return None
    first, last = (math.exp(level + slope * float(day)) for day in (days[0], days[-1]))
    return Drift(slope, first, last, probability)


def _score_of_drift(logs: Floats, days: Floats, drift: Drift) -> float:
    return _score(logs - math.log(drift.before) - drift.slope_per_day * (days - days[0]), 2)


def _large(logs: Floats, cuts: list[int], drift: Drift) -> list[int]:
    """Cuts that are steps rather than stairs of a drift, also where they are too small to be told."""
    least = _LARGE * abs(math.log(drift.after / drift.before))
    while cuts:
        levels = [float(np.median(part)) for part in np.split(logs, cuts)]
        smallest = int(np.argmin(np.abs(np.diff(levels))))
        if abs(levels[smallest + 1] - levels[smallest]) >= least:
            break
        cuts = [*cuts[:smallest], *cuts[smallest + 1 :]]
    return cuts


def _score_of_levels(logs: Floats, cuts: Sequence[int]) -> float:
    levels = [part - np.median(part) for part in np.split(logs, cuts)]
    return _score(np.concatenate(levels), 2 * len(cuts) + 1)


def _score(residuals: Floats, numbers: int) -> float:
    """Schwarz's criterion for residuals with a Laplace distribution, which few large ones do not rule."""
    count = len(residuals)
    mean = max(float(np.mean(np.abs(residuals))), _LEAST_NOISE)
    return 2 * count * math.log(mean) + numbers * math.log(count)
