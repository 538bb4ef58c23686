"""Search a series for all kinds of events, and find the smallest ones that noise does not hide. Pure functions."""

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
    ``dips`` are the periodic dips, None without any. ``runs`` are single dips (with a negative change) and bursts (with
    a positive one).
    """

    levels: list[SeriesLevel]
    drifts: list[SeriesDrift]
    dips: Dips | None
    runs: list[OutlierRun]
    sensitivity: Sensitivity

    @property
    def verdict(self) -> Verdict:
        """Return "events" if there is an event, "steady" if the noise cannot hide one that matters, else "too noisy".

        A single level is not an event. ``is_sensitive`` decides whether the noise may hide an event that matters.
        """
        if len(self.levels) > 1 or self.drifts or self.dips or self.runs:
            return "events"
        return "steady" if is_sensitive(self.sensitivity) else "too noisy"


def is_sensitive(sensitivity: Sensitivity) -> bool:
    """Return whether every event of a size that matters would have been found in the noise.

    Events that matter are lasting changes and periodic dips of more than 10 %, and single dips of more than 50 % of the
    level. If any size in ``sensitivity`` is None, the result is False.
    """
    return all(
        size is not None and size <= limit
        for size, limit in (
            (sensitivity.lasting, LIMIT),
            (sensitivity.dips, LIMIT),
            (sensitivity.single, LIMIT_SINGLE),
        )
    )


def find_events(goodness: Array) -> Findings:
    """Return the levels, drifts, periodic dips and single dips or bursts of a series.

    ``goodness`` has one or more values, one per step in order of time, in which larger values are better: a rate, or a
    negated time. With fewer than 20 steps there is one level and no event. The sizes of the sensitivity, except its
    ``spread``, are None if fewer than 20 steps are outside events or if a level is 0; a size that no event can reach,
    such as a fall of a rate by more than 100 %, is None as well. Levels and drifts are searched again after removing
    periodic dips, which disturb both.
    """
    levels_of_series = levels(goodness)
    dips = periodic_dips(residuals(goodness, levels_of_series))
    undipped = goodness if dips is None else _without(dips, goodness, levels_of_series)
    if dips is not None:
        levels_of_series = levels(undipped)
        dips = periodic_dips(residuals(goodness, levels_of_series, undipped)) or dips
        undipped = _without(dips, goodness, levels_of_series)
    residual = residuals(goodness, levels_of_series, undipped)
    known = np.zeros(len(goodness), dtype=bool)
    if dips is not None:  # the steps within dips, and their neighbours
        known = np.convolve(dips.shape.cover(len(goodness)) > 1e-9, np.ones(3), mode="same") > 0.5
    single = runs(residual, np.flatnonzero(known).tolist())
    for run in single:
        known[run.start : run.end] = True
    return Findings(
        levels_of_series,
        drifts(undipped, levels_of_series),
        dips,
        single,
        _sensitivity(undipped, levels_of_series, residual, known),
    )


def _without(dips: Dips, goodness: Array, levels_of_series: Sequence[SeriesLevel]) -> Array:
    lost = dips.shape.depth * dips.shape.cover(len(goodness))
    scale = np.concatenate([np.full(level.end - level.start, abs(level.value)) for level in levels_of_series])
    undipped: Array = goodness + lost * scale
    return undipped


def _sensitivity(
    undipped: Array,
    levels_of_series: Sequence[SeriesLevel],
    residuals_of_all: Array,
    known: np.typing.NDArray[np.bool_],
) -> Sensitivity:
    residual = residuals_of_all[~known]
    if len(residual) < MIN_SAMPLES or not all(level.value for level in levels_of_series):
        return Sensitivity(spread=spread(residuals_of_all), lasting=None, dips=None, single=None)
    relative = np.concatenate([undipped[level.start : level.end] / abs(level.value) for level in levels_of_series])
    return Sensitivity(
        spread=spread(residual),
        lasting=_possible(detectable_change(relative), relative),
        dips=_possible(detectable_dips(residual), relative),
        single=_possible(detectable_single_dip(residual), relative),
    )


def _possible(size: float, relative: Array) -> float | None:
    """Return None for an impossible size: a rate cannot fall by more than its whole; a latency has no upper limit."""
    return size if size <= 1 or (math.isfinite(size) and relative[0] < 0) else None
