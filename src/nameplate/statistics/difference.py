"""Judge differences of logarithms that have a standard error. Pure functions.

A metric is called faster or slower if its difference is significant with a false discovery rate of 1 % within its
family of metrics (Benjamini and Hochberg 1995), its 99 % interval does not contain 0, and the difference is at least 3
%, or ``same_within`` if that is less. A metric is the same if an equivalence test at 5 % rules out a change of more
than ``same_within``.
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

    ``middle`` is the difference of the natural logarithms. ``error`` is its standard error, above 0, with ``freedom``
    degrees of freedom, above 0. ``better`` says whether higher or lower values are better. ``lasting`` is the share (0
    to 1) of its variance that more rounds do not reduce. ``rounds`` is the number of rounds in the shorter run.
    ``family`` names the metrics among which the false discovery rate is controlled. ``is_sequential`` says that a run
    was stopped when its verdict was known, so that the test must hold after every round (``sequential_test.py``).
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
        """Return the 99 % interval, which decides FASTER and SLOWER, and the 90 % interval, which decides SAME."""
        width = sequential_test.half_width if self.is_sequential else t_test.half_width
        halves = (width(self.error, self.freedom, share) for share in (CONFIDENCE, EQUIVALENCE_CONFIDENCE))
        change, same = ((self.middle - half, self.middle + half) for half in halves)
        return Precision(change, same, self.lasting)

    @property
    def probability(self) -> float:
        """Return the two-sided p-value of the hypothesis that nothing changed."""
        test = sequential_test.p_value if self.is_sequential else t_test.p_value
        return test(self.middle, self.error, self.freedom)


def judge_differences(differences: Sequence[Difference], same_within: float = SAME_WITHIN) -> list[Judged]:
    """Return the verdict on each difference, in the same order.

    All metrics of a comparison must be judged together, since the false discovery rate is controlled within each
    family. ``same_within`` is a share (0.05 is 5 %): a metric is SAME if it is neither FASTER nor SLOWER and the 90 %
    interval of its ratio is between 1 / (1 + ``same_within``) and 1 + ``same_within``. The module's docstring has the
    conditions for FASTER and SLOWER. Any other metric is UNSURE.
    """
    significant = significant_by_family(
        [difference.probability for difference in differences], [difference.family for difference in differences]
    )
    return [
        _judged(difference, is_significant, same_within)
        for difference, is_significant in zip(differences, significant, strict=True)
    ]


def _judged(difference: Difference, is_significant: bool, same_within: float) -> Judged:
    precision = difference.precision
    if not precision.half <= MAX_HALF:
        return Judged("UNSURE", math.exp(difference.middle), None, "the values vary too much for an interval")
    return verdict_on(
        difference.middle, precision, is_significant=is_significant, better=difference.better, rounds=difference.rounds,
        same_within=same_within,
    )  # fmt: skip
