"""Compare two variants that were measured in alternation, in the same rounds. Pure functions.

A machine that drifts changes both variants of a round alike, so the rounds are compared one by one, and the result is
the median of their ratios. The capability of a round is the value that one in ten of its samples reaches: neighbours
disturb most rounds for a part of the time only. On recorded machines this repeats better than the quotient of the
capabilities of all rounds (docs/decisions/2026-11-24-sequential-verdicts.md).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nameplate.statistics.benjamini_hochberg import significant_by_family
from nameplate.statistics.sequential_sign_test import median_interval, p_value
from nameplate.statistics.verdict import (
    CONFIDENCE,
    EQUIVALENCE_CONFIDENCE,
    SAME_WITHIN,
    Judged,
    Precision,
    verdict_on,
)

# The share of the samples of a round that reach its capability.
REACHED_BY = 0.1
# With fewer rounds there is no interval that holds after every round.
MIN_ROUNDS = 10


@dataclass(frozen=True)
class PairedRounds:
    """The values of two variants in the same rounds, in the order of the rounds.

    ``base`` and ``new`` have the same length, and all values are above 0, in the same unit. ``better`` says whether
    higher or lower values are better.
    """

    base: Sequence[float]
    new: Sequence[float]
    better: Literal["higher", "lower"]

    @property
    def differences(self) -> list[float]:
        """Return the difference of the natural logarithms in each round, new less base."""
        return [math.log(b / a) for a, b in zip(self.base, self.new, strict=True)]


def judge_paired(pairs: Sequence[PairedRounds], same_within: float = SAME_WITHIN) -> list[Judged]:
    """Return the verdict on each metric of two variants, in the order of ``pairs``.

    All metrics of a comparison must be judged together, since the false discovery rate (1 %) is controlled over all of
    them. The verdicts hold even if they are computed after every round (``sequential_sign_test.py``). ``same_within``
    is a share (0.05 is 5 %): a metric is SAME if an equivalence test at 5 % rules out a change of more than
    ``same_within``. With fewer than ten rounds, a metric is UNSURE.
    """
    differences = [pair.differences for pair in pairs]
    significant = significant_by_family([p_value(values) for values in differences], [""] * len(differences))
    return [
        _judged(differences_of_pair, is_significant, pair.better, same_within)
        for pair, differences_of_pair, is_significant in zip(pairs, differences, significant, strict=True)
    ]


def _judged(
    differences: Sequence[float], is_significant: bool, better: Literal["higher", "lower"], same_within: float
) -> Judged:
    change, same = median_interval(differences, CONFIDENCE), median_interval(differences, EQUIVALENCE_CONFIDENCE)
    middle = statistics.median(differences) if differences else 0.0
    if change is None or same is None:
        few = f"too few rounds ({len(differences)}): a verdict needs {MIN_ROUNDS}"
        return Judged("UNSURE", math.exp(middle), None, few, rounds_needed=MIN_ROUNDS)
    return verdict_on(
        middle,
        Precision(change, same),
        is_significant=is_significant,
        better=better,
        rounds=len(differences),
        same_within=same_within,
    )


def capability_of_round(samples: Sequence[float], better: Literal["higher", "lower"]) -> float:
    """Return the value that one in ten of a round's samples reaches, by linear interpolation.

    ``samples`` has at least one value. ``better`` says whether higher or lower values are better.
    """
    ordered = sorted(samples, reverse=better == "higher")
    position = REACHED_BY * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
