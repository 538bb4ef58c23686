"""Find the levels, slow drifts, and single dips and bursts of a long series. Pure functions.

The sizes of events are shares of the level (0.05 is 5 %). ``SIGNIFICANT`` is the probability that events of one kind
are found in a series without events. docs/series.md has the measured rates; periodic_dips.py finds recurring dips.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import ndimage, stats

from nameplate.statistics.constants import MAD_TO_SD
from nameplate.statistics.optimal_partition import segment_ends

SIGNIFICANT = 0.01

# Smaller changes are not reported, however significant.
MIN_EFFECT = 0.01

# The smallest size that matters: of a lasting or recurring change, and of a dip of a single step (docs/series.md).
LIMIT = 0.10
LIMIT_SINGLE = 0.50

MIN_SAMPLES = 20

# Longer series are divided into this number of steps, each the mean of its samples.
MAX_STEPS = 1500

# The 99th percentile, over simulated steady series, of the largest score of a proposed change.
_CRITICAL_JUMP = 5.2

_LONGEST_WINDOW = 30
_SHORTEST_WINDOW = 5
_TREND_STEPS = 41
_ANCHOR_STEPS = 9

# A trend counts as a drift if its range exceeds the widest trend's of shuffled residuals by this factor; below: the
# number of shuffles.
_DRIFT_RATIO = 2.0
_SHUFFLES = 39

# The probability that a condition differs within an event by chance, for all of its conditions together. A single step
# is the most unusual of 600 by chance in one case of 600, so a lower level could not be reached.
_MOVED = 0.05
_PLACEMENTS = 4999

# Noise below this share of a jump counts as zero: the quotient of the two would overflow.
_NEGLIGIBLE = 1e-12

Array = npt.NDArray[np.float64]

_FREEDOMS = np.append(1 / np.arange(1.0, 0.02, -0.02), math.inf)


@dataclass(frozen=True)
class SeriesLevel:
    """A level of a series: the steps with indices ``start`` to ``end`` (exclusive) and their median ``value``.

    ``value`` is negative for a series of times, since the series has negated times (see ``levels``).
    """

    start: int
    end: int
    value: float


@dataclass(frozen=True)
class OutlierRun:
    """A run of adjacent outlying steps, from index ``start`` to ``end`` (exclusive).

    ``change`` is their mean difference from the trend as a share of the level, negative if they are worse.
    """

    start: int
    end: int
    change: float


@dataclass(frozen=True)
class SeriesDrift:
    """A slow change of the trend between the steps with the indices ``start`` and ``end`` (exclusive).

    ``change`` is the last value of the trend less the first one, as a share of the first, negative if the series
    becomes worse. ``inside`` has pairs (begin, end) of indices, end exclusive: the parts of the series, not only
    between ``start`` and ``end``, in which the trend is closer to its last than to its first value.
    """

    start: int
    end: int
    change: float
    inside: tuple[tuple[int, int], ...]


def levels(goodness: Array) -> list[SeriesLevel]:
    """Return the levels between change points, in order; together they cover all steps of the series.

    ``goodness`` has one value per step, in order of time, in which larger values are better: a rate, or a negated time.
    It has at least one step. A series without a change point, or of fewer than 20 steps, has a single level. Changes of
    less than 1 % are ignored.

    Change points are proposed by optimal partitioning with a penalty derived from the noise. A change point is accepted
    if the means of the steps on both sides differ by more than the means on both sides of other positions in the
    series. A slow drift, in which such means differ everywhere, is therefore a single level.
    """
    count = len(goodness)
    cuts = _proposed(goodness) if count >= MIN_SAMPLES else []
    while cuts:
        scores = [_jump_score(goodness, before, cut, after) for before, cut, after in _around(cuts, count)]
        effects = [_effect(goodness, before, cut, after) for before, cut, after in _around(cuts, count)]
        weakest = min(range(len(cuts)), key=lambda i: scores[i] if effects[i] >= MIN_EFFECT else 0.0)
        if scores[weakest] > _CRITICAL_JUMP and effects[weakest] >= MIN_EFFECT:
            break
        del cuts[weakest]
    ends = [*cuts, count]
    return [SeriesLevel(a, b, float(np.median(goodness[a:b]))) for a, b in zip([0, *cuts], ends, strict=True)]


def _around(cuts: Sequence[int], count: int) -> list[tuple[int, int, int]]:
    ends = [0, *cuts, count]
    return list(zip(ends[:-2], cuts, ends[2:], strict=True))


def _window(count: int) -> int:
    return max(_SHORTEST_WINDOW, min(_LONGEST_WINDOW, count // 8))


def _proposed(goodness: Array) -> list[int]:
    """Return change points in the mean of the clipped series. The penalty is low, since each is tested afterwards."""
    noise = _deviation(np.diff(goodness)) / math.sqrt(2)
    if noise == 0:
        noise = float(np.std(goodness)) or 1.0
    clipped = ndimage.median_filter(goodness, 5, mode="nearest") / noise
    penalty = 3 * math.log(len(goodness))
    return segment_ends(clipped, penalty, _window(len(goodness)) // 2)[:-1]


def _deviation(values: Array) -> float:
    return float(np.median(np.abs(values - np.median(values)))) * MAD_TO_SD


def _jump_score(goodness: Array, before: int, cut: int, after: int) -> float:
    """Return how far the jump at a cut is from the median jump, in robust standard deviations of all jumps.

    The median jump is that of a steady drift, which is not a change of level.
    """
    width = min(_window(len(goodness)), cut - before, after - cut)
    jumps = _jumps(goodness, width)
    typical = _deviation(jumps)
    jump = abs(float(jumps[cut - width] - np.median(jumps)))
    if typical <= jump * _NEGLIGIBLE:
        return math.inf if jump > 0 else 0.0
    return jump / typical


def _jumps(goodness: Array, width: int) -> Array:
    """Return the differences between the means of ``width`` steps after and before each position."""
    means = np.convolve(goodness, np.ones(width) / width, mode="valid")
    jumps: Array = means[width:] - means[:-width]
    return jumps


def detectable_change(goodness: Array) -> float:
    """Return the smallest lasting change that ``levels`` accepts at 95 of 100 positions, as a share of the level.

    ``goodness`` is a series as in ``levels``, of at least 20 steps, with known events removed, and with a median other
    than 0. The result is at least 0.01 and may be above 1.
    """
    jumps = _jumps(goodness, _window(len(goodness)))
    needed = _CRITICAL_JUMP * _deviation(jumps) + float(np.quantile(np.abs(jumps - np.median(jumps)), 0.95))
    return max(MIN_EFFECT, needed / max(abs(float(np.median(goodness))), 1e-300))


def _effect(goodness: Array, before: int, cut: int, after: int) -> float:
    first, second = float(np.median(goodness[before:cut])), float(np.median(goodness[cut:after]))
    return abs(second - first) / max(abs(first), abs(second), 1e-300)


def trend(part: Array) -> Array:
    """Return the running median of 41 steps for each step of a level, or of all steps of a shorter level.

    ``part`` has the values of one level in order of time, at least one; the result has the same length and unit. The
    level is extended by point reflection at the median of its outermost steps: a drift continues, and a dip at the end
    does not pull the trend down.
    """
    count = len(part)
    half = min(_TREND_STEPS // 2, count // 2)
    outermost = min(_ANCHOR_STEPS, count)
    reflected = np.minimum(outermost + np.arange(half), count - 1)
    before = 2 * np.median(part[:outermost]) - part[reflected]
    after = 2 * np.median(part[-outermost:]) - part[::-1][reflected]
    extended = np.concatenate([before[::-1], part, after])
    result: Array = ndimage.median_filter(extended, 2 * half + 1)[half : half + count]
    return result


def residuals(goodness: Array, levels_of_series: Sequence[SeriesLevel], undipped: Array | None = None) -> Array:
    """Return the difference of each step from the trend of its level, as a share of the level, negative if worse.

    ``goodness`` is a series as in ``levels``, and ``levels_of_series`` is the result of ``levels`` for it. ``undipped``
    is the same series with known dips filled in; if it is given, the trend is computed from it, but the residuals are
    still those of ``goodness``. A level of 0 gives extremely large shares unless its steps are all 0.
    """
    base = goodness if undipped is None else undipped
    result = np.empty_like(goodness)
    for level in levels_of_series:
        part, fitted = goodness[level.start : level.end], trend(base[level.start : level.end])
        result[level.start : level.end] = (part - fitted) / max(abs(level.value), 1e-280)
    return result


def drifts(goodness: Array, levels_of_series: Sequence[SeriesLevel]) -> list[SeriesDrift]:
    """Return the drifts within levels that are at least 10 % and that white noise does not explain, in order.

    ``goodness`` is a series as in ``levels``, and ``levels_of_series`` is the result of ``levels`` for it. A level has
    at most one drift, and none with fewer than 20 steps. White noise explains a drift unless the range of the trend
    exceeds twice the range of the trend of shuffled residuals.
    """
    candidates = [_drift(goodness[level.start : level.end], level.start) for level in levels_of_series]
    return [drift for drift in candidates if drift is not None]


def _drift(part: Array, offset: int) -> SeriesDrift | None:
    fitted = trend(part)
    start, end = sorted((int(np.argmin(fitted)), int(np.argmax(fitted))))
    first, last = float(fitted[start]), float(fitted[end])
    if len(part) < MIN_SAMPLES or abs(last - first) < LIMIT * max(abs(first), abs(last), 1e-300):
        return None
    source = np.random.default_rng(len(part))
    by_chance = max(float(np.ptp(trend(source.permutation(part - fitted)))) for _ in range(_SHUFFLES))
    if abs(last - first) < _DRIFT_RATIO * by_chance:
        return None
    arrived = np.abs(fitted - last) < np.abs(fitted - first)
    edges = np.flatnonzero(np.diff(arrived, prepend=False, append=False)) + offset
    inside = tuple((int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True))
    return SeriesDrift(offset + start, offset + end + 1, (last - first) / max(abs(first), 1e-300), inside)


def runs(residual: Array, apart: Sequence[int] = ()) -> list[OutlierRun]:
    """Return the runs of adjacent outlying steps, better or worse than the trend, in order of time.

    ``residual`` has one difference from the trend for each step, as a share of the level (as ``residuals`` returns
    them). ``apart`` has the indices of steps that are left out of all runs, such as the steps of known events. Fewer
    than 20 steps give an empty list.

    The noise is modelled by Student's t, with tails estimated from the middle 95 %, so that heavy tails alone are not
    events.
    """
    if len(residual) < MIN_SAMPLES:
        return []
    stands_out = np.abs(residual) > run_limit(residual)
    stands_out[list(apart)] = False
    signs = np.where(stands_out, np.sign(residual), 0)
    ends = np.flatnonzero(np.diff(signs, prepend=0, append=0))
    return [OutlierRun(int(a), int(b), float(np.mean(residual[a:b]))) for a, b in pairwise(ends) if signs[a] != 0]


def run_limit(residual: Array) -> float:
    """Return the absolute residual, as a share of the level, beyond which a single step is an outlier.

    ``residual`` has one or more differences from the trend, as shares of the level. The probability that the noise
    exceeds the limit anywhere in the series is 1 %, for Student's t with tails fitted to the residuals. The limit is at
    least 0.01.
    """
    # More than half of the values may be equal, such as counts, although there is noise.
    size = max(float(np.median(np.abs(residual))), MIN_EFFECT / 10)
    # One standard error is added to the ratio: underestimated tails would produce false events.
    ratio = float(np.quantile(np.abs(residual), 0.95)) / size * (1 + 1.5 / math.sqrt(len(residual)))
    # The degrees of freedom at which the 95th percentile of |t| is ``ratio`` times its median.
    ratios = stats.t.ppf(0.975, _FREEDOMS) / stats.t.ppf(0.75, _FREEDOMS)
    freedom = float(_FREEDOMS[int(np.argmin(np.abs(ratios - ratio)))])
    limit = stats.t.isf(SIGNIFICANT / 2 / len(residual), freedom) / stats.t.ppf(0.75, freedom) * size
    return max(float(limit), MIN_EFFECT)


def moved(values: Array, inside: Sequence[tuple[int, int]], tests: int) -> bool:
    """Return whether a condition differs significantly between the steps of an event and all other steps.

    ``values`` has the condition, such as a temperature, for each step of the series, at least one. ``inside`` has the
    event's steps as pairs (begin, end) of indices, end exclusive. ``tests``, at least 1, is the number of conditions
    that are tested for the event: the significance level is 5 % divided by it (Bonferroni). A constant condition does
    not differ, and without steps in ``inside`` the result is False. The permutation test places stretches of the same
    lengths anywhere in the series; its random numbers are fixed, so that the result is reproducible.
    """
    count = len(values)
    if not inside or not np.ptp(values):
        return False
    total = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values]) - values.mean())])
    lengths = np.array([end - start for start, end in inside])
    begins = np.random.default_rng(count).integers(0, count, (_PLACEMENTS, len(inside)))
    by_chance = np.abs((total[begins + lengths] - total[begins]).sum(axis=1))
    movement = abs(sum(float(total[end] - total[start]) for start, end in inside))
    as_far = int(np.sum(by_chance >= movement * (1 - 1e-9)))
    return (1 + as_far) / (1 + _PLACEMENTS) < _MOVED / tests
