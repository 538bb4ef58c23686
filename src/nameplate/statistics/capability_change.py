"""Decide whether what a machine is capable of differs between two runs. Pure functions.

Each run gives one estimate with an interval (``statistics/capability.py``). On the logarithmic scale the standard error
of an estimate follows from its interval, and that of the difference has a third part: two runs of an unchanged machine
differ by more than the rounds of each suggest, because memory, files and processors are placed anew. A metric is called
faster or slower if the difference is significant with a false discovery rate of 1 % within its family of metrics
(Benjamini and Hochberg 1995), its 99 % interval excludes no change, and it is at least 3 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nameplate.statistics.benjamini_hochberg import significant_by_family
from nameplate.statistics.capability import student_t
from nameplate.statistics.constants import MIN_CHANGE
from nameplate.statistics.two_samples import CONFIDENCE, SAME_WITHIN, Judged, detectable_change, more_rounds

# An interval without width, as of a counter that always shows the same, is not exact either.
_MIN_ERROR = 2e-4


@dataclass(frozen=True)
class Estimate:
    """A capability above 0 with its 95 % interval (lower, upper), also above 0, from this number of rounds."""

    value: float
    ci: tuple[float, float]
    rounds: int

    @property
    def error(self) -> float:
        """Return the standard error of the logarithm."""
        width = math.log(self.ci[1]) - math.log(self.ci[0])
        return max(_MIN_ERROR, width / (2 * student_t(self.rounds - 1)))


@dataclass(frozen=True)
class CapabilityPair:
    """The capability in two runs, which values are better, and the family in which the metric is judged.

    ``run_to_run`` is the standard deviation of the logarithm between runs of an unchanged machine.
    """

    base: Estimate
    new: Estimate
    better: Literal["higher", "lower"]
    family: str
    run_to_run: float


@dataclass(frozen=True)
class _Change:
    """The difference of the logarithms, half the width of its 99 % interval, and its two-sided p-value."""

    middle: float
    half: float
    probability: float


def judge_capability(pairs: Sequence[CapabilityPair], same_within: float = SAME_WITHIN) -> list[Judged]:
    """Return the verdict on each metric, in the same order; an empty list for no metrics.

    All metrics of a comparison must be judged together, since the false discovery rate is that of each family.
    ``same_within`` is a share: a metric is SAME if it is neither FASTER nor SLOWER and the 99 % interval of its ratio
    is between 1 / (1 + ``same_within``) and 1 + ``same_within``. Any other metric is UNSURE.
    """
    changes = [_change(pair) for pair in pairs]
    found = significant_by_family([change.probability for change in changes], [pair.family for pair in pairs])
    return [
        _judged(pair, change, is_found, same_within)
        for pair, change, is_found in zip(pairs, changes, found, strict=True)
    ]


def _change(pair: CapabilityPair) -> _Change:
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415 (a quarter of a second, and other commands need none of it)

    errors = (pair.base.error, pair.new.error)
    within = sum(error**2 for error in errors)
    # Welch and Satterthwaite; the variation between runs is known from many runs.
    total = within + 2 * pair.run_to_run**2
    freedom = total**2 / sum(e**4 / (s.rounds - 1) for e, s in zip(errors, (pair.base, pair.new), strict=True))
    error = math.sqrt(total)
    middle = math.log(pair.new.value) - math.log(pair.base.value)
    return _Change(
        middle=middle,
        half=float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error,
        probability=2 * float(stdtr(freedom, -abs(middle) / error)),
    )


def _judged(pair: CapabilityPair, change: _Change, is_found: bool, same_within: float) -> Judged:
    margin = math.log1p(MIN_CHANGE)
    ratio, ci = math.exp(change.middle), (math.exp(change.middle - change.half), math.exp(change.middle + change.half))
    detectable = detectable_change(margin, change.half)
    if is_found and abs(change.middle) >= max(margin, change.half):
        is_better = (change.middle > 0) == (pair.better == "higher")
        return Judged("FASTER" if is_better else "SLOWER", ratio, ci, "", detectable)
    if abs(change.middle) + change.half <= math.log1p(same_within):
        return Judged("SAME", ratio, ci, "", detectable)
    n_rounds = min(pair.base.rounds, pair.new.rounds)
    needed = more_rounds(change.middle, change.half, margin, same_within, n_rounds)
    return Judged("UNSURE", ratio, ci, needed, detectable)


def usable(value: float | None, ci: tuple[float, float] | None, rounds: int) -> Estimate | None:
    """Return a capability that can be compared, or None: without an interval, or not above 0, it has no ratio."""
    if value is None or ci is None or not np.isfinite([value, *ci]).all() or min(value, *ci) <= 0:
        return None
    return Estimate(value, ci, rounds)
