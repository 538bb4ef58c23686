"""Whether one run's figures differ from another's. Pure functions.

A run's round is the independent unit: its samples are neighbours in time. Ratios are taken on logarithms, so that twice
and half are as far from 1. A figure is called faster or slower when three things agree:

- it is improbable that both runs drew from the same rounds, with the share of false discoveries among all that are
  found held at 1 % (Benjamini, Hochberg 1995). The probability is the smaller one of two tests, doubled: Mann and
  Whitney's exact one, which no outlier moves, and Welch's t of the logarithms, which six rounds are enough for;
- the ratio (Hodges and Lehmann's, with the interval that belongs to Mann and Whitney's test) is not 1 within it;
- the ratio differs from 1 by 3 % or more, and by more than 2.5 times what a round of either run varies by, and what
  either run drifted by from its first half to its second: a machine that moves so much within a run moves as much
  between two.
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

from nameplate.statistics.benjamini_hochberg import benjamini_hochberg

Verdict: TypeAlias = Literal["FASTER", "SLOWER", "SAME", "UNSURE", "INCOMPARABLE"]
Floats: TypeAlias = NDArray[np.float64]

FALSE_DISCOVERY_RATE = 0.01
CONFIDENCE = 0.99
MINIMUM_EFFECT = 0.03
OWN_MOVES = 2.5
SAME_WITHIN = 0.05

_MAD_TO_SD = 1.4826
# Rounds that agree to the last digit vary all the same, by what a clock or a counter leaves out.
_LEAST_SPREAD = 5e-4
# From here on the normal distribution is as good as the exact one, and much faster.
_MAX_EXACT = 60


@dataclass(frozen=True)
class Rounds:
    """A figure's values by round in both runs, and which direction is the better one."""

    base: Sequence[float]
    new: Sequence[float]
    better: Literal["higher", "lower"]


@dataclass(frozen=True)
class Judged:
    """``ratio`` is new over base, as the values are; the verdict knows their direction. ``reason`` in plain words."""

    verdict: Verdict
    ratio: float
    ci: tuple[float, float] | None
    reason: str


@dataclass(frozen=True)
class _Shift:
    """Of the logarithms: how far the new ones lie above, its interval, and how improbable that is by chance.

    ``spread`` is what a round varies by, ``drift`` what the second half of the rounds lies apart from the first, both
    in the run where it is more.
    """

    middle: float
    low: float
    high: float
    probability: float
    spread: float
    drift: float


def judge(figures: Sequence[Rounds], same_within: float = SAME_WITHIN) -> list[Judged]:
    """A verdict for each; ``same_within`` is the change that SAME rules out."""
    shifts = [_shift(np.log(np.asarray(each.base)), np.log(np.asarray(each.new))) for each in figures]
    found = benjamini_hochberg(np.asarray([shift.probability for shift in shifts]), FALSE_DISCOVERY_RATE)
    return [
        _judged(each, shift, bool(is_found), same_within)
        for each, shift, is_found in zip(figures, shifts, found, strict=True)
    ]


def rounds_for(figures: int) -> int:
    """How many rounds each of two runs needs for ranks alone to decide one of so many figures."""
    rounds = 2
    while 2 * 2 / math.comb(2 * rounds, rounds) > FALSE_DISCOVERY_RATE / max(1, figures):
        rounds += 1
    return rounds


def _judged(figure: Rounds, shift: _Shift, is_found: bool, same_within: float) -> Judged:
    ratio = math.exp(shift.middle)
    if math.isnan(shift.low):
        fewest = min(len(figure.base), len(figure.new))
        return Judged("UNSURE", ratio, None, f"{fewest} of at least 5 rounds: rounds are what is independent")
    ci = (math.exp(shift.low), math.exp(shift.high))
    margin = max(math.log1p(MINIMUM_EFFECT), OWN_MOVES * shift.spread, OWN_MOVES * shift.drift)
    if is_found and abs(shift.middle) >= margin and (shift.low > 0 or shift.high < 0):
        is_better = (shift.middle > 0) == (figure.better == "higher")
        return Judged("FASTER" if is_better else "SLOWER", ratio, ci, "")
    if max(abs(shift.low), abs(shift.high)) <= math.log1p(same_within):
        return Judged("SAME", ratio, ci, "")
    return Judged("UNSURE", ratio, ci, _why_unsure(shift, is_found, margin, same_within))


def _why_unsure(shift: _Shift, is_found: bool, margin: float, same_within: float) -> str:
    varies = f"rounds vary by {math.expm1(shift.spread):.1%}"
    if shift.drift > shift.spread:
        varies = f"a run drifted by {math.expm1(shift.drift):.1%}"
    if abs(shift.middle) >= margin and not is_found:
        return f"{varies}: it may be chance; more rounds could tell"
    if is_found and abs(shift.middle) < margin:
        return f"{varies}: a difference below {math.expm1(margin):.1%} may be the machine's own"
    return f"{varies}: the interval is wider than {same_within:.0%} to each side"


def _shift(base: Floats, new: Floats) -> _Shift:
    differences = np.sort((new[:, None] - base[None, :]).ravel())
    rank = _rank_of_interval(len(base), len(new))
    low, high = (differences[rank], differences[-1 - rank]) if rank is not None else (math.nan, math.nan)
    return _Shift(
        middle=float(np.median(differences)),
        low=float(low),
        high=float(high),
        probability=math.nan
        if rank is None
        else min(1.0, 2 * min(_by_ranks(differences, base, new), _welch(base, new))),
        spread=max(_spread(base), _spread(new)),
        drift=max(_drift(base), _drift(new)),
    )


def _spread(rounds: Floats) -> float:
    return max(_LEAST_SPREAD, _MAD_TO_SD * float(np.median(np.abs(rounds - np.median(rounds)))))


def _drift(rounds: Floats) -> float:
    half = len(rounds) // 2
    return abs(float(np.median(rounds[-half:]) - np.median(rounds[:half]))) if half else 0.0


def _rank_of_interval(base: int, new: int) -> int | None:
    """How many differences lie below the interval of their median; None where not even all of them cover it."""
    if max(base, new) > _MAX_EXACT:
        deviation = math.sqrt(base * new * (base + new + 1) / 12)
        return max(0, math.floor(base * new / 2 + NormalDist().inv_cdf((1 - CONFIDENCE) / 2) * deviation))
    tail = _tails(base, new)
    below = int(np.searchsorted(tail, (1 - CONFIDENCE) / 2, side="right"))
    return below - 1 if below > 0 else None


def _by_ranks(differences: Floats, base: Floats, new: Floats) -> float:
    """Two-sided. A tie counts as a half, which the tail is rounded up for."""
    above = float(np.sum(differences > 0)) + 0.5 * float(np.sum(differences == 0))
    smaller = min(above, len(differences) - above)
    if max(len(base), len(new)) > _MAX_EXACT:
        deviation = math.sqrt(len(base) * len(new) * (len(base) + len(new) + 1) / 12)
        z = (smaller + 0.5 - len(differences) / 2) / deviation
        return min(1.0, math.erfc(-z / math.sqrt(2)) if z < 0 else 1.0)
    return min(1.0, 2 * float(_tails(len(base), len(new))[math.ceil(smaller)]))


@cache
def _tails(base: int, new: int) -> Floats:
    """Of Mann and Whitney's U: the probability of so small a value or a smaller one, when both draw from the same.

    The number of orders with each U is the Gaussian binomial's coefficient, a product of the factors below.
    """
    counts = np.zeros(base * new + 1)
    counts[0] = 1.0
    for step in range(1, new + 1):
        up, down = base + step, step
        if up <= base * new:
            counts[up:] -= counts[: len(counts) - up].copy()
        for place in range(down, len(counts)):
            counts[place] += counts[place - down]
    return np.asarray(np.cumsum(counts) / math.comb(base + new, new))


def _welch(base: Floats, new: Floats) -> float:
    """Two-sided, with the degrees of freedom after Welch and Satterthwaite."""
    from scipy.special import stdtr  # noqa: PLC0415 (a quarter of a second, and the history needs none of it)

    if min(len(base), len(new)) < 2:
        return 1.0
    errors = [max(float(np.var(side, ddof=1)), _LEAST_SPREAD**2) / len(side) for side in (base, new)]
    freedom = sum(errors) ** 2 / sum(e**2 / (len(s) - 1) for e, s in zip(errors, (base, new), strict=True))
    t = abs(float(np.mean(new) - np.mean(base))) / math.sqrt(sum(errors))
    return 2 * float(stdtr(freedom, -t))
