"""Search a series for all kinds of events, and find what its noise would have hidden. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nameplate.records.series_events import Sensitivity, Verdict
from nameplate.statistics.change_points import (
    LIMIT,
    LIMIT_SINGLE,
    MIN_SAMPLES,
    Array,
    OutlierRun,
    SeriesDrift,
    SeriesLevel,
    detectable_change,
    drifts,
    levels,
    residuals,
    runs,
)
from nameplate.statistics.periodic_dips import Dips, periodic_dips
from nameplate.statistics.sensitivity import detectable_dips, detectable_single_dip, spread


@dataclass(frozen=True)
class Findings:
    """The events of a series by kind, and the smallest events that would also have been found.

    Each list is in order of time, and positions are indices of steps. A series without a lasting change has one level.
    ``dips`` are the periodic dips, or None if there are none. ``runs`` are single dips (with a negative change) and
    bursts (with a positive one).
    """

    levels: list[SeriesLevel]
    drifts: list[SeriesDrift]
    dips: Dips | None
    runs: list[OutlierRun]
    sensitivity: Sensitivity

    @property
    def verdict(self) -> Verdict:
        """Return "events" if there are any, "steady" if none that matters can be hidden, otherwise "too noisy".

        A single level is not an event. ``is_sensitive`` decides whether the noise may hide an event that matters.
        """
        if len(self.levels) > 1 or self.drifts or self.dips or self.runs:
            return "events"
        return "steady" if is_sensitive(self.sensitivity) else "too noisy"


def is_sensitive(sensitivity: Sensitivity) -> bool:
    """Return whether the noise can hide no event of a size that matters.

    These are lasting changes and periodic dips of more than 10 % and single dips of more than 50 % of the level. If any
    size in ``sensitivity`` is None, the result is False.
    """
    return all(
        size is not None and size <= limit
        for size, limit in (
            (sensitivity.lasting, LIMIT),
            (sensitivity.dips, LIMIT),
            (sensitivity.single, LIMIT_SINGLE),
        )
    )


def look_for_events(goodness: Array) -> Findings:
    """Return the levels, drifts, periodic dips and single dips or bursts of a series.

    ``goodness`` has one or more values, one per step in order of time, in which larger values are better: a rate, or a
    negated time. With fewer than 20 steps there is one level and no event. The sizes of the sensitivity, except its
    ``spread``, are None if fewer than 20 steps are outside events or if a level is 0; a size that no event could reach,
    such as a fall of a rate by more than all of it, is None as well. Levels and drifts are searched again after
    removing periodic dips, which disturb both.
    """
    found = levels(goodness)
    dips = periodic_dips(residuals(goodness, found))
    undipped = goodness if dips is None else _without(dips, goodness, found)
    if dips is not None:
        found = levels(undipped)
        dips = periodic_dips(residuals(goodness, found, undipped)) or dips
        undipped = _without(dips, goodness, found)
    residual = residuals(goodness, found, undipped)
    known = np.zeros(len(goodness), dtype=bool) if dips is None else _near(dips, len(goodness))
    single = runs(residual, np.flatnonzero(known).tolist())
    for run in single:
        known[run.begin : run.end] = True
    return Findings(found, drifts(undipped, found), dips, single, _sensitivity(undipped, found, residual, known))


def _without(dips: Dips, goodness: Array, found: Sequence[SeriesLevel]) -> Array:
    lost = dips.shape.depth * dips.shape.cover(len(goodness))
    scale = np.concatenate([np.full(level.end - level.begin, abs(level.value)) for level in found])
    undipped: Array = goodness + lost * scale
    return undipped


def _near(dips: Dips, count: int) -> np.typing.NDArray[np.bool_]:
    """Return the steps within dips, and their neighbours."""
    inside = dips.shape.cover(count) > 1e-9
    near: np.typing.NDArray[np.bool_] = np.convolve(inside, np.ones(3), mode="same") > 0.5
    return near


def _sensitivity(
    undipped: Array, found: Sequence[SeriesLevel], residuals_of_all: Array, known: np.typing.NDArray[np.bool_]
) -> Sensitivity:
    residual = residuals_of_all[~known]
    if len(residual) < MIN_SAMPLES or not all(level.value for level in found):
        return Sensitivity(spread=spread(residuals_of_all), lasting=None, dips=None, single=None)
    relative = np.concatenate([undipped[level.begin : level.end] / abs(level.value) for level in found])
    return Sensitivity(
        spread=spread(residual),
        lasting=_possible(detectable_change(relative), relative),
        dips=_possible(detectable_dips(residual), relative),
        single=_possible(detectable_single_dip(residual), relative),
    )


def _possible(size: float, relative: Array) -> float | None:
    """Return None for an impossible size: a rate cannot fall by more than its whole; a latency has no upper limit."""
    return size if size <= 1 or (math.isfinite(size) and relative[0] < 0) else None
