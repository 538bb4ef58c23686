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
    """The range of a value over machines: ``low`` and ``high`` around the median ``typical``, in the values' unit.

    It is computed from ``machines`` of them; ``left_out`` has the indices of the others, whose values are too far away.
    """

    low: float
    high: float
    typical: float
    machines: int
    left_out: tuple[int, ...]


def tolerance_interval(values: Sequence[Sequence[float]], outside: float) -> ToleranceInterval | None:
    """Return the range outside of which a share of at most ``outside`` of healthy machines lies, on each side.

    ``values`` has the values of each machine's runs, all above 0, at least one for each machine. A single later run of
    a healthy machine is meant, so the spread between the runs of a machine counts as well. The range holds its share
    with a probability of ``CONFIDENCE``. The result is None with fewer than two machines, or if the values differ by
    more orders of magnitude than any range can.

    Raises:
        ValueError: a value is not above 0, or a machine has none.
    """
    if len(values) < _MIN_FOR_SPREAD:
        return None
    if any(not own or min(own) <= 0 for own in values):
        raise ValueError("each machine needs values above 0")
    logs = [np.log(np.asarray(own, dtype=np.float64)) for own in values]
    middles = np.asarray([np.median(own) for own in logs])
    kept = _near(middles)
    middle = float(np.median(middles[kept]))
    within = _within([logs[i] for i in np.flatnonzero(kept)])
    below, above = (_reach(side * (middles[kept] - middle), within, outside) for side in (-1, 1))
    if max(below, above) > _MAX_REACH:
        return None
    return ToleranceInterval(
        math.exp(middle - below), math.exp(middle + above), math.exp(middle), int(np.count_nonzero(kept)),
        tuple(int(i) for i in np.flatnonzero(~kept)),
    )  # fmt: skip


def _reach(away: _Floats, within: float, outside: float) -> float:
    """Return how far the range reaches to one side, on which the values ``away`` from the median are positive."""
    from scipy.stats import nct, norm, t  # noqa: PLC0415 (takes half a second to import)

    n = len(away)
    own = away[away > 0]
    square = float(np.sum(own**2)) / max(1, len(own))
    spread = max(float(np.std(away, ddof=1)), math.sqrt(square))
    z = float(norm.isf(outside))
    factor = float(nct.ppf(CONFIDENCE, n - 1, z * math.sqrt(n))) / math.sqrt(n)
    # Half of a normal distribution has a kurtosis of 3; a certain excess is that of a t distribution.
    excess = float(np.mean(own**4)) / square**2 - 3 - math.sqrt(48 / n) if square > 0 else 0.0
    if excess > 0:
        freedom = 4 + 6 / excess
        factor *= float(t.isf(outside, freedom)) / math.sqrt(freedom / (freedom - 2)) / z
    return max(factor * math.hypot(spread, within), -math.log1p(-MIN_WIDTH))


def _near(middles: _Floats) -> NDArray[np.bool_]:
    """Return which machines are near the others; at least half of them are."""
    kept = np.ones(len(middles), dtype=bool)
    for _ in range(_ROUNDS):
        middle = np.median(middles[kept])
        spread = MAD_TO_SD * np.median(np.abs(middles[kept] - middle))
        limit = max(MAX_Z * float(spread), -math.log1p(-MIN_WIDTH))
        kept = np.abs(middles - middle) <= limit
    return kept


def _within(logs: Sequence[_Floats]) -> float:
    """Return the standard deviation between the runs of a machine that its median does not have."""
    repeated = [own for own in logs if len(own) > 1]
    if not repeated:
        return 0.0
    away = np.sort(np.abs(np.concatenate([own - np.median(own) for own in repeated])))
    kept = away[: len(away) - int(_DISTURBED_RUNS * len(away))]
    # Each machine's median takes one degree of freedom.
    freedom = len(kept) * (1 - len(repeated) / len(away))
    runs = float(np.median([len(own) for own in logs]))
    return math.sqrt(float(np.sum(kept**2)) / freedom * (1 - 1 / runs))
