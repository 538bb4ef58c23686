"""Find how much what a machine is capable of differs between two runs. Pure functions.

Each run gives one estimate with an interval (``statistics/capability.py``). On the logarithmic scale the standard error
of an estimate follows from its interval, and that of the difference has a third part: two runs of an unchanged machine
differ by more than the rounds of each suggest, because memory, files and processors are placed anew.
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
    """A capability above 0 with its 95 % interval (lower, upper), also above 0, from this number of rounds."""

    value: float
    ci: tuple[float, float]
    rounds: int

    @property
    def error(self) -> float:
        """Return the standard error of the logarithm, or more, if few rounds that vary have widened the interval."""
        width = math.log(self.ci[1]) - math.log(self.ci[0])
        return max(MIN_ERROR, width / (2 * NormalDist().inv_cdf(0.975)))


@dataclass(frozen=True)
class CapabilityPair:
    """The capability in two runs, which values are better, and the family in which the metric is judged.

    ``run_to_run`` is the standard deviation of the logarithm between runs of an unchanged machine. ``is_sequential`` is
    that of ``Difference``.
    """

    base: Estimate
    new: Estimate
    better: Literal["higher", "lower"]
    family: str
    run_to_run: float
    is_sequential: bool = False

    def difference(self) -> Difference:
        """Return the difference, whose error has the degrees of freedom by Welch and Satterthwaite."""
        sides = (self.base, self.new)
        within = sum(side.error**2 for side in sides)
        # The variation between runs is known from many runs.
        total = within + 2 * self.run_to_run**2
        # A run that is measured until it is decided may have more rounds; the earlier one has no more.
        shrinking = self.new.error**2 if self.is_sequential else within
        return Difference(
            middle=math.log(self.new.value) - math.log(self.base.value), error=math.sqrt(total),
            freedom=total**2 / sum(side.error**4 / (side.rounds - 1) for side in sides), better=self.better,
            rounds=min(side.rounds for side in sides), family=self.family, lasting=1 - shrinking / total,
            is_sequential=self.is_sequential,
        )  # fmt: skip


def usable(value: float | None, ci: tuple[float, float] | None, rounds: int) -> Estimate | None:
    """Return a capability that can be compared, or None: without an interval, or not above 0, it has no ratio."""
    if value is None or ci is None or not all(map(math.isfinite, (value, *ci))) or min(value, *ci) <= 0:
        return None
    return Estimate(value, ci, rounds)
