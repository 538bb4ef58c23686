"""Find the smallest events that are detected in the noise of a series, by injecting events. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice

import numpy as np

from nameplate.statistics.change_points import MIN_EFFECT, Array, run_limit, runs
from nameplate.statistics.dip_shape import DipShape
from nameplate.statistics.periodic_dips import MIN_DIPS, critical_score, scores_of, strength

# Dips are injected in every tenth step, or more often if the series is too short for enough of them; below: the number
# of phases.
_PERIOD = 10.0
_PHASES = 20
_REVEALED = 0.95

# A dip that would have to be deeper counts as not detectable at any depth.
_MAX_DEPTH = 16.0
_HALVINGS = 5


def spread(residual: Array) -> float:
    """Return half of the range that contains nine of ten residuals, from their 5 % to their 95 % quantile.

    The result has the unit of ``residual``, which must not be empty.
    """
    low, high = np.quantile(residual, [0.05, 0.95])
    return float(high - low) / 2


def detectable_single_dip(residual: Array) -> float:
    """Return the depth at which a dip of one whole step is found at 95 of 100 positions.

    ``residual`` has one difference from the trend for each step of a series, at least one, as a share of the level (as
    ``change_points.residuals`` returns them), with known events removed. The result is a share of the level, at least
    0.01, and above 1 if the noise would hide even a complete standstill.
    """
    return run_limit(residual) + max(0.0, float(np.quantile(residual, _REVEALED)))


def detectable_dips(residual: Array) -> float:
    """Return the depth from which periodic dips of one step in every tenth step are found.

    ``residual`` has at least 20 differences from the trend as shares of the level (as ``change_points.residuals``
    returns them), with known events removed. The result is a share of the level to within 3 %; it is infinity if dips
    of 16 times the level would still be hidden. In a series of fewer than 50 steps the dips are closer together, so
    that five periods fit.

    Dips are injected into the residuals at 20 phases, as in injection-recovery tests of transit searches, and must be
    found at 19 of them, by their period or one by one. At most phases a dip covers two steps in part.
    """
    count = len(residual)
    period = min(_PERIOD, count / (MIN_DIPS + 1))
    begins = [period * k / _PHASES for k in range(_PHASES)]
    covers = [DipShape(period, start, 1.0, 0.0).cover(count) for start in begins]

    def is_revealed(depth: float) -> bool:
        missed = (cover for cover in covers if not _is_detected(residual - depth * cover, cover))
        return len(list(islice(missed, 2))) < 2

    return _smallest(is_revealed)


def _is_detected(residual: Array, cover: Array) -> bool:
    scores = scores_of(residual)
    critical = critical_score(len(residual))
    by_period = any(strength(scores, cover >= least, width) >= critical for least, width in ((0.5, 1), (MIN_EFFECT, 2)))
    return by_period or any(cover[run.start] > 0 and run.change < 0 for run in runs(residual))


def _smallest(is_revealed: Callable[[float], bool]) -> float:
    """Return the smallest depth that is found, to within 3 %."""
    high = MIN_EFFECT
    while not is_revealed(high):
        high *= 2
        if high > _MAX_DEPTH:
            return math.inf
    low = high / 2 if high > MIN_EFFECT else high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_revealed(middle) else (middle, high)
    return high
