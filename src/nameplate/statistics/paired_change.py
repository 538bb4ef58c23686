"""Find how much two settings differ that were measured in alternation, in the same rounds. Pure functions.

A machine that drifts changes both settings of a round alike, so the rounds are compared one by one. What a round places
anew, such as memory, varies from round to round and is in the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Literal

from nameplate.statistics.capability import capability
from nameplate.statistics.capability_change import MIN_ERROR
from nameplate.statistics.difference import Difference

# With fewer rounds, their variation is not known well enough to look after each of them.
MIN_ROUNDS = 5

Better = Literal["higher", "lower"]
# The values of the samples of each round, in the order of the rounds.
SampleRounds = Sequence[Sequence[float]]


def typical_difference(base: Sequence[float], new: Sequence[float], better: Better) -> Difference | None:
    """Return the mean difference of the logarithms of two settings in the same rounds, new less base.

    Both have one value above 0 for each round, in the order of the rounds; the longer one is cut to the shorter one. It
    is None with fewer than five rounds.
    """
    ratios = [math.log(b / a) for a, b in zip(base, new, strict=False)]
    if len(ratios) < MIN_ROUNDS:
        return None
    middle = math.fsum(ratios) / len(ratios)
    variance = math.fsum((ratio - middle) ** 2 for ratio in ratios) / (len(ratios) - 1)
    return _difference(middle, math.sqrt(variance / len(ratios)), better, len(ratios))


def capability_difference(base: SampleRounds, new: SampleRounds, better: Better) -> Difference | None:
    """Return the difference of the logarithms of the capabilities of two settings in the same rounds, new less base.

    ``base`` and ``new`` have the values above 0 of the samples of each round; the longer one is cut to the shorter one.
    The error is that of the jackknife, which leaves out one round of both settings at a time (Shao and Tu, The
    Jackknife and Bootstrap, 1995). It is None with fewer than five rounds, or with too few samples for a capability.
    """
    rounds = list(zip(base, new, strict=False))
    whole = _log_ratio(rounds, better)
    rests = [_log_ratio(rounds[:i] + rounds[i + 1 :], better) for i in range(len(rounds))]
    known = [rest for rest in rests if rest is not None]
    if whole is None or len(rounds) < MIN_ROUNDS or len(known) < len(rounds):
        return None
    middle = math.fsum(known) / len(known)
    variance = (len(known) - 1) / len(known) * math.fsum((rest - middle) ** 2 for rest in known)
    return _difference(whole, math.sqrt(variance), better, len(rounds))


def _log_ratio(rounds: Sequence[tuple[Sequence[float], Sequence[float]]], better: Better) -> float | None:
    sides = [list(chain.from_iterable(each[side] for each in rounds)) for side in (0, 1)]
    base, new = (capability([side], better == "higher") for side in sides)
    return math.log(new.value / base.value) if base and new else None


def _difference(middle: float, error: float, better: Better, rounds: int) -> Difference:
    return Difference(middle, max(error, MIN_ERROR), rounds - 1, better, rounds, is_sequential=True)
