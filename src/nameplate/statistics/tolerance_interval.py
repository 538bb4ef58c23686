"""Compute tolerance intervals: a range that contains nearly all healthy machines, from a few of them.

Values are taken as log-normal, and machines far from the others are left out before the interval is computed, since a
few slow ones must not widen it. Source of the factor: Hahn and Meeker, "Statistical Intervals", 1991, section 4.6 (the
noncentral t distribution).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics.constants import MAD_TO_SD

_Floats: TypeAlias = NDArray[np.float64]

# The interval contains its share of the machines with this probability.
CONFIDENCE = 0.95
# A machine further from the median than this many robust standard deviations is left out.
MAX_Z = 5.0
# The interval reaches at least this far from the typical value: a smaller difference is of no use to anybody.
MIN_WIDTH = 0.01
_MIN_FOR_SPREAD = 2
# Rounds of leaving out: the median and the spread settle after one or two.
_ROUNDS = 3
# In logarithms; e^20 is beyond any spread of one metric.
_MAX_REACH = 20.0
# This share of the runs, the ones furthest from the other runs of their machines, does not count.
_DISTURBED_RUNS = 0.05


@dataclass(frozen=True)
class ToleranceInterval:
    """A tolerance interval of a value over healthy machines, computed by ``tolerance_interval``.

    ``low`` and ``high`` are its limits and ``typical`` is the median over the machines, all in the unit of the values.
    ``machines`` is the number of machines from which the interval is computed. ``left_out`` has the indices of the
    other machines in the argument ``values``: their medians are outliers.
    """

    low: float
    high: float
    typical: float
    machines: int
    left_out: tuple[int, ...]


def tolerance_interval(values: Sequence[Sequence[float]], outside: float) -> ToleranceInterval | None:
    """Return the range that at most a share ``outside`` of healthy machines is below, and at most this share is above.

    ``values[i]`` has the values of the runs of machine i, at least one, all above 0. ``outside`` is a share (0.001 is
    0.1 %). The range is for a single later run of a healthy machine, so it includes the spread between the runs of a
    machine. The statement holds with the probability ``CONFIDENCE``. The result is None with fewer than two machines,
    or if a limit of the range would differ from the median by more than the factor e²⁰.

    Raises:
        ValueError: a value is not above 0, or a machine has none.
    """
    if len(values) < _MIN_FOR_SPREAD:
        return None
    if any(not values_of_machine or min(values_of_machine) <= 0 for values_of_machine in values):
        raise ValueError("each machine needs values above 0")
    logs = [np.log(np.asarray(values_of_machine, dtype=np.float64)) for values_of_machine in values]
    middles = np.asarray([np.median(values_of_machine) for values_of_machine in logs])
    retained = _near(middles)
    middle = float(np.median(middles[retained]))
    within = _within([logs[i] for i in np.flatnonzero(retained)])
    below, above = (_reach(side * (middles[retained] - middle), within, outside) for side in (-1, 1))
    if max(below, above) > _MAX_REACH:
        return None
    return ToleranceInterval(
        math.exp(middle - below), math.exp(middle + above), math.exp(middle), int(np.count_nonzero(retained)),
        tuple(int(i) for i in np.flatnonzero(~retained)),
    )  # fmt: skip


def _reach(away: _Floats, within: float, outside: float) -> float:
    """Return how far the range reaches to one side, on which the values ``away`` from the median are positive."""
    from scipy.stats import nct, norm, t  # noqa: PLC0415 (takes half a second to import)

    n = len(away)
    nonzero = away[away > 0]
    square = float(np.sum(nonzero**2)) / max(1, len(nonzero))
    spread = max(float(np.std(away, ddof=1)), math.sqrt(square))
    z = float(norm.isf(outside))
    factor = float(nct.ppf(CONFIDENCE, n - 1, z * math.sqrt(n))) / math.sqrt(n)
    # Half of a normal distribution has a kurtosis of 3; a certain excess is that of a t distribution.
    excess = float(np.mean(nonzero**4)) / square**2 - 3 - math.sqrt(48 / n) if square > 0 else 0.0
    if excess > 0:
        freedom = 4 + 6 / excess
        factor *= float(t.isf(outside, freedom)) / math.sqrt(freedom / (freedom - 2)) / z
    return max(factor * math.hypot(spread, within), -math.log1p(-MIN_WIDTH))


def _near(middles: _Floats) -> NDArray[np.bool_]:
    """Return which machines are near the others; at least half of them are."""
    retained = np.ones(len(middles), dtype=bool)
    for _ in range(_ROUNDS):
        middle = np.median(middles[retained])
        spread = MAD_TO_SD * np.median(np.abs(middles[retained] - middle))
        limit = max(MAX_Z * float(spread), -math.log1p(-MIN_WIDTH))
        retained = np.abs(middles - middle) <= limit
    return retained


def _within(logs: Sequence[_Floats]) -> float:
    """Return the standard deviation between the runs of a machine that its median does not have."""
    repeated = [repeats for repeats in logs if len(repeats) > 1]
    if not repeated:
        return 0.0
    away = np.sort(np.abs(np.concatenate([repeats - np.median(repeats) for repeats in repeated])))
    retained = away[: len(away) - int(_DISTURBED_RUNS * len(away))]
    # Each machine's median takes one degree of freedom.
    freedom = len(retained) * (1 - len(repeated) / len(away))
    runs = float(np.median([len(repeats) for repeats in logs]))
    return math.sqrt(float(np.sum(retained**2)) / freedom * (1 - 1 / runs))
