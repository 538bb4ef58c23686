"""Judge differences of logarithms that have a standard error. Pure functions.

A metric is called faster or slower if its difference is significant with a false discovery rate of 1 % within its
family of metrics (Benjamini and Hochberg 1995), its 99 % interval excludes no change, and it is at least 3 %, or the
size within which two values are called the same if that is less. It is the same if an equivalence test at 5 % rules out
a change of that size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nameplate.statistics import sequential_test, t_test
from nameplate.statistics.benjamini_hochberg import significant_by_family
from nameplate.statistics.verdict import (
    CONFIDENCE,
    EQUIVALENCE_CONFIDENCE,
    MAX_HALF,
    SAME_WITHIN,
    Judged,
    Precision,
    verdict_on,
)


@dataclass(frozen=True)
class Difference:
    """The difference of the logarithms of a metric in two runs, new less base.

    ``error`` is its standard error, above 0, with ``freedom`` degrees of freedom, above 0. ``lasting`` is the share of
    its variance that more rounds do not reduce. ``rounds`` is the number of rounds in the shorter run. ``family`` names
    the metrics among which the false discovery rate is controlled. ``is_sequential`` says that a run was ended when it
    had a verdict, so that the test must hold after every round (``sequential_test.py``).
    """

    middle: float
    error: float
    freedom: float
    better: Literal["higher", "lower"]
    rounds: int
    family: str = ""
    lasting: float = 0.0
    is_sequential: bool = False

    @property
    def precision(self) -> Precision:
        """Return the intervals that decide a change and SAME."""
        width = sequential_test.half_width if self.is_sequential else t_test.half_width
        halves = (width(self.error, self.freedom, share) for share in (CONFIDENCE, EQUIVALENCE_CONFIDENCE))
        change, same = ((self.middle - half, self.middle + half) for half in halves)
        return Precision(change, same, self.lasting)

    @property
    def probability(self) -> float:
        """Return the two-sided p-value of no change."""
        test = sequential_test.p_value if self.is_sequential else t_test.p_value
        return test(self.middle, self.error, self.freedom)


def judge_differences(differences: Sequence[Difference], same_within: float = SAME_WITHIN) -> list[Judged]:
    """Return the verdict on each difference, in the same order; an empty list for none.

    All metrics of a comparison must be judged together, since the false discovery rate is that of each family.
    ``same_within`` is a share: a metric is SAME if it is neither FASTER nor SLOWER and the 90 % interval of its ratio
    is between 1 / (1 + ``same_within``) and 1 + ``same_within``. Any other metric is UNSURE.
    """
    found = significant_by_family([each.probability for each in differences], [each.family for each in differences])
    return [_judged(each, is_found, same_within) for each, is_found in zip(differences, found, strict=True)]


def _judged(difference: Difference, is_found: bool, same_within: float) -> Judged:
    precision = difference.precision
    if not precision.half <= MAX_HALF:
        return Judged("UNSURE", math.exp(difference.middle), None, "the values vary too much for an interval")
    return verdict_on(
        difference.middle, precision, is_found=is_found, better=difference.better, rounds=difference.rounds,
        same_within=same_within,
    )  # fmt: skip
