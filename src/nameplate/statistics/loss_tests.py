"""Test whether anything became worse, with one probability of a false alarm for a whole comparison. Pure functions.

A gate fails if any of its values is worse. The unit of a false alarm is therefore the comparison and not the value:
Holm's method keeps the probability that any unchanged value is called worse at 1 %, however many there are (Holm, "A
simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979). Each value has a
one-sided t-test of the logarithm of its loss. Values of one area share a resource and become worse together, so each
area adds a test of the mean loss of its values, weighted by their precision. A loss must also have a minimum size,
since the variation from run to run, which is part of every error, is known only roughly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from nameplate.statistics import sequential_test
from nameplate.statistics.verdict import MAX_HALF

# The probability that a comparison of an unchanged machine calls any value worse.
FALSE_ALARMS = 0.01
# The variation from run to run is part of every error and is known from many runs, so no test has fewer degrees.
MIN_FREEDOM = 5.0

_POWER = 0.8


@dataclass(frozen=True)
class Loss:
    """The loss of one value from a base run to a new run, as a natural logarithm: above 0 if the value became worse.

    - ``name``: the value, or the area for the mean of its values
    - ``area``: the area of the value, such as "memory"
    - ``middle``: the estimated loss; ``error``: its standard error, above 0, with ``freedom`` degrees of freedom
    - ``lasting``: the standard deviation that the values of an area may have in common, so that their mean does not
      reduce it; it is a part of ``error``
    - ``min_loss``: the logarithm that ``middle`` must exceed if the value is to be called worse
    - ``is_sequential``: whether a run was stopped when its verdict was known, so that the test must hold after every
      round (``sequential_test.py``)
    """

    name: str
    area: str
    middle: float
    error: float
    freedom: float
    lasting: float
    min_loss: float
    is_sequential: bool = False

    def reversed(self) -> Loss:
        """Return the gain of the value, as if the new run were the base."""
        return replace(self, middle=-self.middle)

    @property
    def p_value(self) -> float:
        """Return the p-value of the hypothesis that the value did not become worse, from 0 to 1.

        It is one-sided. With ``is_sequential``, it is that of the sequential test for a loss, and 1 for a gain.
        """
        from scipy.special import stdtr  # noqa: PLC0415 (a quarter of a second, and most commands need none of it)

        if self.is_sequential:
            return sequential_test.p_value(self.middle, self.error, self.freedom) if self.middle > 0 else 1.0
        return float(stdtr(self.freedom, -self.middle / self.error))

    def limit(self, probability: float) -> float:
        """Return the smallest estimated loss whose p-value is at most ``probability``."""
        from scipy.special import stdtrit  # noqa: PLC0415 (a quarter of a second, and most commands need none of it)

        if self.is_sequential:
            return sequential_test.half_width(self.error, self.freedom, 1 - probability)
        return float(stdtrit(self.freedom, 1 - probability)) * self.error


def significant_losses(losses: Sequence[Loss], false_alarms: float = FALSE_ALARMS) -> list[Loss]:
    """Return the losses that are real and large enough, the most significant one first; empty if nothing is worse.

    ``losses`` are all tests of a comparison: its values, and the means of ``area_means``. ``false_alarms`` is the
    maximum probability (0 to 1) that an unchanged machine has any significant loss. It holds for dependent tests, too.
    """
    ordered = sorted(losses, key=lambda loss: loss.p_value)
    significant = []
    for index, loss in enumerate(ordered):
        if loss.p_value * (len(ordered) - index) > false_alarms:
            break
        if loss.middle > loss.min_loss:
            significant.append(loss)
    return significant


def area_means(losses: Sequence[Loss]) -> list[Loss]:
    """Return the mean loss of each area with at least two values, weighted by precision, under the name of the area.

    The error of a mean is at least the mean of what its values share (``lasting``), since these parts may vary
    together. ``min_loss`` is the mean of its values as well.
    """
    by_area: dict[str, list[Loss]] = {}
    for loss in losses:
        by_area.setdefault(loss.area, []).append(loss)
    return [_mean(area, members) for area, members in by_area.items() if len(members) > 1]


def _mean(area: str, losses: Sequence[Loss]) -> Loss:
    weights = [1 / loss.error**2 for loss in losses]

    def weighted(values: Iterable[float]) -> float:
        return math.fsum(w * value for w, value in zip(weights, values, strict=True)) / math.fsum(weights)

    lasting = weighted(loss.lasting for loss in losses)
    return Loss(
        name=area,
        area=area,
        middle=weighted(loss.middle for loss in losses),
        error=max(math.sqrt(1 / math.fsum(weights)), lasting),
        freedom=math.fsum(loss.freedom for loss in losses),
        lasting=lasting,
        min_loss=weighted(loss.min_loss for loss in losses),
        is_sequential=any(loss.is_sequential for loss in losses),
    )


def detectable_loss(loss: Loss, n_tests: int, false_alarms: float = FALSE_ALARMS) -> float:
    """Return the smallest loss that would have been significant with a probability of 80 %.

    It is a share: 0.05 is 5 % more time for the same work. ``n_tests`` is the number of tests in the comparison, and
    ``false_alarms`` is as for ``significant_losses``. ``loss.middle`` is not used.
    """
    limit = max(loss.min_loss, loss.limit(false_alarms / n_tests))
    return math.expm1(min(limit + NormalDist().inv_cdf(_POWER) * loss.error, MAX_HALF))
