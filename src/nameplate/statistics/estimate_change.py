"""Compute the difference of an estimate between two runs: of a capability or a percentile. Pure functions.

Each run gives one estimate with an interval (``statistics/capability.py``, ``statistics/pooled_percentile.py``). On the
logarithmic scale the standard error of an estimate follows from its interval, and the standard error of the difference
has a third part: two runs of an unchanged machine differ by more than the rounds of each suggest, because memory, files
and processors are placed anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from nameplate.statistics.difference import Difference

# An interval without width, as of a counter that always shows the same, is not exact either.
MIN_ERROR = 2e-4


@dataclass(frozen=True)
class Estimate:
    """A capability or a percentile with its interval, as the input of a comparison.

    ``value`` is above 0, ``ci`` is its 95 % interval (lower, upper), also above 0, in the same unit, and ``rounds`` is
    the number of rounds that it was estimated from.
    """

    value: float
    ci: tuple[float, float]
    rounds: int

    @property
    def error(self) -> float:
        """Return the standard error of the natural logarithm of ``value``, computed from the width of ``ci``.

        The result is at least ``MIN_ERROR``. It is too large if ``ci`` was widened because few rounds vary.
        """
        width = math.log(self.ci[1]) - math.log(self.ci[0])
        return max(MIN_ERROR, width / (2 * NormalDist().inv_cdf(0.975)))


@dataclass(frozen=True)
class EstimatePair:
    """An estimate of one metric in two runs.

    ``better`` says whether higher or lower values are better. ``family`` is the group of metrics within which the false
    discovery rate is controlled. ``run_to_run`` is the standard deviation of the natural logarithm of the estimate
    between runs of an unchanged machine. ``is_sequential`` says that the new run was stopped when its verdict was
    known. ``is_of_one_run`` says that both estimates are of one run, so that both have more rounds if it is longer.
    """

    base: Estimate
    new: Estimate
    better: Literal["higher", "lower"]
    family: str
    run_to_run: float
    is_sequential: bool = False
    is_of_one_run: bool = False

    def difference(self) -> Difference:
        """Return the difference of the natural logarithms of both values, new less base, with its standard error.

        The degrees of freedom are by Welch and Satterthwaite. Each estimate must have at least two rounds.
        """
        sides = (self.base, self.new)
        within = sum(side.error**2 for side in sides)
        # The variation between runs is known from many runs.
        total = within + 2 * self.run_to_run**2
        # A run that is measured until it is decided may have more rounds; the earlier one has no more.
        shrinking = self.new.error**2 if self.is_sequential and not self.is_of_one_run else within
        return Difference(
            middle=math.log(self.new.value) - math.log(self.base.value), error=math.sqrt(total),
            freedom=total**2 / sum(side.error**4 / (side.rounds - 1) for side in sides), better=self.better,
            rounds=min(side.rounds for side in sides), family=self.family, lasting=1 - shrinking / total,
            is_sequential=self.is_sequential,
        )  # fmt: skip


def usable(value: float | None, ci: tuple[float, float] | None, rounds: int) -> Estimate | None:
    """Return an estimate that can be compared, or None if it cannot.

    ``value`` is a capability or a percentile, ``ci`` its 95 % interval (lower, upper), and ``rounds`` the number of
    rounds. Without an interval, or with a value or interval not above 0, it has no ratio and the result is None.
    """
    if value is None or ci is None or not all(map(math.isfinite, (value, *ci))) or min(value, *ci) <= 0:
        return None
    return Estimate(value, ci, rounds)
