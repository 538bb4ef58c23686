"""Find lasting change points and slow drifts of a metric from run to run. Pure functions.

A run is the unit, and ratios are taken as logarithms. The noise is estimated from the differences of neighbouring runs,
which change points and drifts do not affect. Change points are proposed where the means on both sides differ most
relative to the noise (binary segmentation by CUSUM: Scott and Knott 1974), after clipping outlying runs. A drift is
found from the differences of runs that are half the time apart: their signs (Cox and Stuart 1955) decide whether there
is one, their median slope (Theil 1950) how fast it is. Among change points, a drift and neither, Schwarz's criterion
(1978) chooses. docs/history.md has the measured rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics.constants import MAD_TO_SD, MIN_CHANGE, MIN_MOVES_OF_SPREAD

Floats = NDArray[np.float64]

# A change seen in fewer runs may be temporary; with fewer runs before it the noise is not known.
MIN_LASTING = 3
MIN_RUNS = 8

_CANDIDATE = 0.01
_CLIP = 3.0
_AROUND = 5
_MIN_NOISE = 5e-4
# The share of a level's runs that are closer to it than to the adjacent level.
_ON_ITS_SIDE = 0.8
# A change point that is smaller than this share of a drift's total change counts as a part of the drift.
_LARGE = 0.25


@dataclass(frozen=True)
class Step:
    """A lasting change of a metric from run to run.

    ``at`` is the index of the first run of the new level. ``before`` and ``after`` are the medians of the adjacent
    levels, in the metric's unit. ``probability`` is the p-value: the probability that chance produces such a change
    anywhere in the series.
    """

    at: int
    before: float
    after: float
    probability: float


@dataclass(frozen=True)
class Drift:
    """A slow change of a metric over all runs.

    ``slope_per_day`` is the change of the natural logarithm per day, negative if the metric falls. ``before`` and
    ``after`` are the fitted values at the first and the last run, in the metric's unit. ``probability`` is the p-value
    of the sign test of Cox and Stuart.
    """

    slope_per_day: float
    before: float
    after: float
    probability: float


def find_trend(values: Sequence[float] | Floats, days: Sequence[float] | Floats) -> list[Step] | Drift:
    """Return the change points of a metric in the order of the runs, or its drift; an empty list if there is neither.

    ``values`` has one value per run, above 0, which is not checked. ``days`` has the start of each run in days from any
    origin, ascending, and has the same length. Fewer than eight runs give an empty list. Changes of less than 3 % are
    ignored, and a level has at least three runs. No drift is found if runs half the series apart have the same start.
    The module's docstring has the method.
    """
    logs = np.log(np.asarray(values, dtype=np.float64))
    times = np.asarray(days, dtype=np.float64)
    if len(logs) < MIN_RUNS:
        return []
    noise = max(_MIN_NOISE, MAD_TO_SD * float(np.median(np.abs(np.diff(logs)))) / math.sqrt(2))
    clipped = _clipped(logs, noise)
    cuts = _cuts(clipped, noise, 0, len(logs))
    drift = _drift(logs, times)
    if drift:
        around_drift = logs - math.log(drift.before) - drift.slope_per_day * (times - times[0])
        large = _large(logs, cuts, drift)
        around_levels = np.concatenate([part - np.median(part) for part in np.split(logs, large)])
        if _score(around_drift, 2) < _score(around_levels, 2 * len(large) + 1):
            return drift
    return _steps(logs, clipped, noise, cuts)


def _steps(logs: Floats, clipped: Floats, noise: float, cuts: list[int]) -> list[Step]:
    """Return the change points among the cuts that are large enough."""
    while cuts:
        edges = [0, *cuts, len(logs)]
        steps = [_step(logs, clipped, noise, *edges[i : i + 3]) for i in range(len(cuts))]
        doubtful = [i for i, step in enumerate(steps) if step is None]
        if not doubtful:
            return [step for step in steps if step]
        cuts = [cut for i, cut in enumerate(cuts) if i != doubtful[0]]
    return []


def _clipped(logs: Floats, noise: float) -> Floats:
    """Return the logarithms with outlying runs clipped to what the noise allows."""
    half = _AROUND // 2
    around = np.lib.stride_tricks.sliding_window_view(np.pad(logs, half, mode="reflect"), _AROUND)
    middle = np.median(around, axis=1)
    return np.asarray(np.clip(logs, middle - _CLIP * noise, middle + _CLIP * noise))


def _cuts(logs: Floats, noise: float, start: int, end: int) -> list[int]:
    """Return the first runs of new levels, by binary segmentation."""
    if end - start < 2 * MIN_LASTING:
        return []
    sums = np.cumsum(logs[start:end])
    left = np.arange(MIN_LASTING, end - start - MIN_LASTING + 1)
    right = (end - start) - left
    means = sums[left - 1] / left, (sums[-1] - sums[left - 1]) / right
    distance = np.abs(means[1] - means[0]) / np.sqrt(1 / left + 1 / right)
    best = int(np.argmax(distance))
    if _probability(float(distance[best]) / noise, len(logs)) > _CANDIDATE:
        return []
    cut = start + int(left[best])
    return [*_cuts(logs, noise, start, cut), cut, *_cuts(logs, noise, cut, end)]


def _probability(distance: float, runs: int) -> float:
    """Return the probability of this distance anywhere among ``runs`` runs; a third of them determine the noise."""
    from scipy.special import stdtr  # noqa: PLC0415 (takes a quarter of a second to import)

    return min(1.0, 2 * runs * float(stdtr(runs / 3, -distance)))


def _step(logs: Floats, clipped: Floats, noise: float, start: int, cut: int, end: int) -> Step | None:
    """Return the change point at a cut; None if it is too small, or the levels overlap."""
    first, second = logs[start:cut], logs[cut:end]
    before, after = float(np.median(first)), float(np.median(second))
    spread = _spread(np.concatenate([first - before, second - after]))
    change = after - before
    if abs(change) < max(math.log1p(MIN_CHANGE), MIN_MOVES_OF_SPREAD * max(spread, noise)):
        return None
    sign, middle = math.copysign(1.0, change), (before + after) / 2
    on_its_side = [int(np.sum(sign * (middle - first) > 0)), int(np.sum(sign * (second - middle) > 0))]
    for runs, n_on_side in zip((len(first), len(second)), on_its_side, strict=True):
        if n_on_side < max(MIN_LASTING, _ON_ITS_SIDE * runs):
            return None
    apart = abs(float(np.mean(clipped[cut:end]) - np.mean(clipped[start:cut])))
    probability = _probability(apart / math.sqrt(1 / len(first) + 1 / len(second)) / noise, len(logs))
    return Step(cut, math.exp(before), math.exp(after), probability) if probability <= _CANDIDATE else None


def _spread(residuals: Floats) -> float:
    return MAD_TO_SD * float(np.median(np.abs(residuals - np.median(residuals))))


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
    if probability > _CANDIDATE or abs(change) < max(math.log1p(MIN_CHANGE), MIN_MOVES_OF_SPREAD * spread):
        return None
    first, last = (math.exp(level + slope * float(day)) for day in (days[0], days[-1]))
    return Drift(slope, first, last, probability)


def _large(logs: Floats, cuts: list[int], drift: Drift) -> list[int]:
    """Return the cuts that are change points rather than parts of a drift, even if they are too small to report."""
    least = _LARGE * abs(math.log(drift.after / drift.before))
    while cuts:
        levels = [float(np.median(part)) for part in np.split(logs, cuts)]
        smallest = int(np.argmin(np.abs(np.diff(levels))))
        if abs(levels[smallest + 1] - levels[smallest]) >= least:
            break
        cuts = [*cuts[:smallest], *cuts[smallest + 1 :]]
    return cuts


def _score(residuals: Floats, numbers: int) -> float:
    """Return Schwarz's criterion for residuals with a Laplace distribution, which is robust to outliers."""
    count = len(residuals)
    mean = max(float(np.mean(np.abs(residuals))), _MIN_NOISE)
    return 2 * count * math.log(mean) + numbers * math.log(count)
