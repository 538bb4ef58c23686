"""Decide whether the metrics of two runs differ. Pure functions.

The independent unit is a run's round: its samples are neighbours in time. Ratios are taken as logarithms, so that twice
and half are equally far from 1. A metric is called faster or slower if three conditions hold:

- The difference is significant with a false discovery rate of 1 % over its family of metrics (Benjamini and Hochberg
  1995). The p-value is the smaller one of two tests, doubled: the exact test of Mann and Whitney, which is robust to
  outliers, and Welch's t-test of the logarithms, for which six rounds are enough.
- The interval of the ratio (Hodges and Lehmann's estimate, with the interval of Mann and Whitney's test) excludes 1.
- The ratio differs from 1 by at least 3 %, by more than 2.5 times the variation of a round, and by more than the drift
  between the halves of either run: a machine that drifts so much within a run drifts as much between two.

Numbers that were printed with few digits may all be off in the same direction, which no number of rounds shows. The
largest possible rounding error is therefore added to the interval on both sides, and a difference must exceed it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics import sequential_test, t_test
from nameplate.statistics.benjamini_hochberg import significant_by_family
from nameplate.statistics.constants import MAD_TO_SD, MIN_MOVES_OF_SPREAD
from nameplate.statistics.rounding import printed_digits, rounding_margin
from nameplate.statistics.verdict import (
    CONFIDENCE,
    EQUIVALENCE_CONFIDENCE,
    SAME_WITHIN,
    Judged,
    Precision,
    change_of,
    detectable_change,
    min_change,
    needed_text,
    rounds_needed,
)

Floats: TypeAlias = NDArray[np.float64]

# Rounds that agree to the last digit still vary, by what a clock or a counter does not resolve.
_MIN_SPREAD = 5e-4
# With fewer rounds in either run, their variation is not known well enough for a test after every round.
_MIN_SEQUENTIAL = 5
# From this number of rounds, the normal approximation is as good as the exact test, and much faster.
_MAX_EXACT = 60


@dataclass(frozen=True)
class Rounds:
    """The values of a metric in the rounds of two runs, base and new.

    ``base`` and ``new`` have one value per round, for at least one round, in the order of the rounds and in the same
    unit. All values are above 0, which is not checked. The two lengths may differ. ``better`` says whether higher or
    lower values are better. ``family`` names the metrics among which the false discovery rate is controlled.
    ``is_sequential`` says that a run was stopped when its verdict was known, so that the test must hold after every
    round (``sequential_test.py``). ``rounding`` has the largest rounding of the numbers of (base, new) as a share
    (``rounding.py``), 0 for values that were not printed.
    """

    base: Sequence[float]
    new: Sequence[float]
    better: Literal["higher", "lower"]
    family: str = ""
    is_sequential: bool = False
    rounding: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class _Shift:
    """The shift of the logarithms from base to new, its intervals, and its p-value.

    ``change`` is the 99 % interval, and ``same`` the 90 % interval that decides SAME, both (low, high), nan with too
    few rounds. ``spread`` is the variation of a round, ``drift`` the difference between the halves of the rounds, both
    from the run in which it is larger. ``rounding`` is what rounding may hide, which the intervals include.
    """

    middle: float
    change: tuple[float, float]
    same: tuple[float, float]
    probability: float
    spread: float
    drift: float
    rounding: float


def judge(metrics: Sequence[Rounds], same_within: float = SAME_WITHIN) -> list[Judged]:
    """Return the verdict on each metric, in the same order.

    All ``metrics`` of a comparison must be judged together, since the false discovery rate is controlled within each
    family. ``same_within`` is a share (0.05 is 5 %): a metric is SAME if it is neither FASTER nor SLOWER and the 90 %
    interval of its ratio is between 1 / (1 + ``same_within``) and 1 + ``same_within``, which is an equivalence test at
    5 %. Any other metric is UNSURE, and so is a metric with too few rounds for an interval: 5 and 5, 4 and 6, or 3 and
    9 rounds in the two runs are enough, in either order. The module's docstring has the conditions for FASTER and
    SLOWER.
    """
    shifts = [_shift_of(metric) for metric in metrics]
    significant = significant_by_family([shift.probability for shift in shifts], [metric.family for metric in metrics])
    return [
        _judged(metric, shift, is_significant, same_within)
        for metric, shift, is_significant in zip(metrics, shifts, significant, strict=True)
    ]


def _judged(metric: Rounds, shift: _Shift, is_significant: bool, same_within: float) -> Judged:
    ratio, (low, high) = math.exp(shift.middle), shift.change
    n_rounds = min(len(metric.base), len(metric.new))
    if math.isnan(low):
        if n_rounds >= _MIN_SEQUENTIAL:
            return Judged("UNSURE", ratio, None, "the values vary too much")
        few = f"too few rounds ({n_rounds}): a verdict needs {_MIN_SEQUENTIAL}"
        return Judged("UNSURE", ratio, None, few, rounds_needed=_MIN_SEQUENTIAL)
    ci = (math.exp(low), math.exp(high))
    margin = (
        max(min_change(same_within), MIN_MOVES_OF_SPREAD * shift.spread, MIN_MOVES_OF_SPREAD * shift.drift)
        + shift.rounding
    )
    precision = Precision(shift.change, shift.same, rounding=shift.rounding)
    detectable = detectable_change(margin, precision.half)
    if is_significant and abs(shift.middle) >= margin and (low > 0 or high < 0):
        return Judged(change_of(shift.middle, metric.better), ratio, ci, "", detectable)
    if max(map(abs, shift.same)) <= math.log1p(same_within):
        return Judged("SAME", ratio, ci, "", detectable)
    needed = rounds_needed(shift.middle, precision, margin, same_within, n_rounds)
    why = _why_unsure(shift, is_significant, margin, same_within)
    if _is_rounding_decisive(shift, margin, same_within):
        digits = printed_digits(max(metric.rounding))
        why = f"printed with {digits}: a difference below {math.expm1(shift.rounding) * 100:.1f} % may be rounding"
    return Judged("UNSURE", ratio, ci, f"{why}; {needed_text(needed)}", detectable, needed)


def _is_rounding_decisive(shift: _Shift, margin: float, same_within: float) -> bool:
    """Return whether an open verdict is due to rounding: it makes up most of the interval, or the verdict needs it."""
    low, high = shift.change
    half = (high - low) / 2 - shift.rounding
    short_of_change = max(-max(low, -high), margin - abs(shift.middle))
    short_of_same = max(map(abs, shift.same)) - math.log1p(same_within)
    return 0 < shift.rounding >= min(half, short_of_change, short_of_same)


def _why_unsure(shift: _Shift, is_significant: bool, margin: float, same_within: float) -> str:
    varies = f"rounds vary by {math.expm1(shift.spread) * 100:.1f} %"
    if shift.drift > shift.spread:
        varies = f"a run drifted by {math.expm1(shift.drift) * 100:.1f} %"
    if abs(shift.middle) >= margin and not is_significant:
        return f"{varies}: the difference may be chance"
    if is_significant and abs(shift.middle) < margin:
        return f"{varies}: a difference below {math.expm1(margin) * 100:.1f} % may be the machine's own variation"
    return f"{varies}: the interval is wider than {same_within * 100:.0f} % to each side"


def _shift_of(metric: Rounds) -> _Shift:
    base, new = np.log(np.asarray(metric.base)), np.log(np.asarray(metric.new))
    test = _in_sequence if metric.is_sequential else _by_order
    rounding = rounding_margin(*metric.rounding)
    middle, change, same, probability = test(base, new)
    if rounding:
        # The smallest difference that the numbers had before they were rounded.
        probability = test(base, new - math.copysign(min(rounding, abs(middle)), middle))[3]
    (low, high), (low_same, high_same) = change, same
    return _Shift(
        middle, (low - rounding, high + rounding), (low_same - rounding, high_same + rounding), probability,
        spread=max(_spread(base), _spread(new)), drift=max(_drift(base), _drift(new)), rounding=rounding,
    )  # fmt: skip


# The estimate, its 99 % and 90 % interval, and its p-value.
_Estimate: TypeAlias = tuple[float, tuple[float, float], tuple[float, float], float]
_NO_INTERVAL = (math.nan, math.nan)


def _by_order(base: Floats, new: Floats) -> _Estimate:
    differences = np.sort((new[:, None] - base[None, :]).ravel())
    middle = float(np.median(differences))
    ends = [_interval(differences, len(base), len(new), share) for share in (CONFIDENCE, EQUIVALENCE_CONFIDENCE)]
    if math.isnan(ends[0][0]):
        return middle, _NO_INTERVAL, _NO_INTERVAL, math.nan
    return middle, ends[0], ends[1], min(1.0, 2 * min(_by_ranks(differences, base, new), _welch(base, new)))


def _interval(differences: Floats, base: int, new: int, confidence: float) -> tuple[float, float]:
    rank = _rank_of_interval(base, new, confidence)
    return (float(differences[rank]), float(differences[-1 - rank])) if rank is not None else _NO_INTERVAL


def _in_sequence(base: Floats, new: Floats) -> _Estimate:
    """Return the difference of the means, with intervals and a p-value that hold after every round."""
    middle = float(np.mean(new) - np.mean(base))
    if min(len(base), len(new)) < _MIN_SEQUENTIAL:
        return middle, _NO_INTERVAL, _NO_INTERVAL, math.nan
    error, freedom = _error(base, new)
    change, same = (sequential_test.half_width(error, freedom, share) for share in (CONFIDENCE, EQUIVALENCE_CONFIDENCE))
    if math.isinf(change):
        return middle, _NO_INTERVAL, _NO_INTERVAL, math.nan
    around = ((middle - change, middle + change), (middle - same, middle + same))
    return middle, *around, sequential_test.p_value(middle, error, freedom)


def _spread(rounds: Floats) -> float:
    return max(_MIN_SPREAD, MAD_TO_SD * float(np.median(np.abs(rounds - np.median(rounds)))))


def _drift(rounds: Floats) -> float:
    half = len(rounds) // 2
    return abs(float(np.median(rounds[-half:]) - np.median(rounds[:half]))) if half else 0.0


def _rank_of_interval(base: int, new: int, confidence: float = CONFIDENCE) -> int | None:
    """Return how many differences are below the median's interval; None if not even all of them cover it."""
    if max(base, new) > _MAX_EXACT:
        deviation = math.sqrt(base * new * (base + new + 1) / 12)
        rank = math.floor(base * new / 2 + NormalDist().inv_cdf((1 - confidence) / 2) * deviation)
        return rank if rank >= 0 else None
    tail = _tails(base, new)
    below = int(np.searchsorted(tail, (1 - confidence) / 2, side="right"))
    return below - 1 if below > 0 else None


def _by_ranks(differences: Floats, base: Floats, new: Floats) -> float:
    """Return the two-sided p-value. Ties count as half, and the tail is rounded up."""
    above = float(np.sum(differences > 0)) + 0.5 * float(np.sum(differences == 0))
    smaller = min(above, len(differences) - above)
    if max(len(base), len(new)) > _MAX_EXACT:
        deviation = math.sqrt(len(base) * len(new) * (len(base) + len(new) + 1) / 12)
        z = (smaller + 0.5 - len(differences) / 2) / deviation
        return min(1.0, math.erfc(-z / math.sqrt(2)) if z < 0 else 1.0)
    return min(1.0, 2 * float(_tails(len(base), len(new))[math.ceil(smaller)]))


@cache
def _tails(base: int, new: int) -> Floats:
    """Return the probability of each value of Mann and Whitney's U or a smaller one, under the null hypothesis.

    The number of orders with each U is the Gaussian binomial coefficient, a product of the factors below.
    """
    counts = np.zeros(base * new + 1)
    counts[0] = 1.0
    for step in range(1, new + 1):
        up, down = base + step, step
        if up <= base * new:
            counts[up:] -= counts[: len(counts) - up].copy()
        for index in range(down, len(counts)):
            counts[index] += counts[index - down]
    return np.asarray(np.cumsum(counts) / math.comb(base + new, new))


def _welch(base: Floats, new: Floats) -> float:
    """Return the two-sided p-value, with the degrees of freedom by Welch and Satterthwaite."""
    if min(len(base), len(new)) < 2:
        return 1.0
    return t_test.p_value(float(np.mean(new) - np.mean(base)), *_error(base, new))


def _error(base: Floats, new: Floats) -> tuple[float, float]:
    """Return the standard error of the difference of the means, and its degrees of freedom."""
    errors = [max(float(np.var(side, ddof=1)), _MIN_SPREAD**2) / len(side) for side in (base, new)]
    freedom = sum(errors) ** 2 / sum(e**2 / (len(s) - 1) for e, s in zip(errors, (base, new), strict=True))
    return math.sqrt(sum(errors)), freedom
