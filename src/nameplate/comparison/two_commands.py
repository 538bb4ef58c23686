"""Compare two programs that were run in alternation (``nameplate ab -- 'CMD A' 'CMD B'``)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from nameplate.statistics.paired_change import PairedRounds, judge_paired
from nameplate.statistics.verdict import Judged, Verdict


class CommandQuantity(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity of two programs in several pairs of runs.

    ``name`` is "elapsed", "cpu" or "memory", and ``unit`` "s" or "B". ``a`` and ``b`` have the value of each run.
    ``ratio`` is the median of the pairs' ratios b ÷ a, and ``ci`` its 99 % interval (lower, upper), which holds after
    every pair. Both are None if a value is 0, and ``ci`` with fewer than ten pairs.
    """

    name: str
    unit: str
    a: list[float]
    b: list[float]
    ratio: float | None
    ci: tuple[float, float] | None


class CommandComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two programs that were run in pairs.

    ``verdict`` says how the elapsed time of B compares with that of A: FASTER, SLOWER, SAME or UNSURE; ``reason`` says
    why it is UNSURE, and ``rounds_needed`` how many pairs would decide, 0 if that is unknown. ``quantities`` are the
    elapsed time, the CPU time and the peak memory, in this order.
    """

    verdict: Verdict
    reason: str
    rounds_needed: int
    quantities: list[CommandQuantity]

    @property
    def elapsed(self) -> CommandQuantity:
        """Return the elapsed times, on which the verdict is."""
        return self.quantities[0]

    @property
    def half_width(self) -> float:
        """Return half the width of the interval of the ratio of elapsed times, as a share; infinity without one."""
        if self.elapsed.ci is None:
            return math.inf
        return math.sqrt(self.elapsed.ci[1] / self.elapsed.ci[0]) - 1


def compare_commands(
    quantities: Sequence[tuple[str, str, Sequence[float], Sequence[float]]], same_within: float
) -> CommandComparison:
    """Return the comparison of two programs from (name, unit, values of A, values of B) of each quantity.

    The first quantity, the elapsed time, has the verdict; its values are above 0. Element i of each list of values is
    of pair i; there is at least one pair. The pairs are compared one by one, so that a drift of the machine mostly
    cancels, and the intervals hold although they are examined after every pair (``statistics/paired_change.py``).
    ``same_within`` is a share (0.05 is 5 %): SAME means that an equivalence test with significance level 0.05 rules out
    a larger change.
    """
    judged = [_judged(a, b, same_within) for _, _, a, b in quantities]
    verdict = judged[0]
    assert verdict is not None
    return CommandComparison(
        verdict=verdict.verdict,
        reason=verdict.reason,
        rounds_needed=verdict.rounds_needed,
        quantities=[
            CommandQuantity(
                name=name, unit=unit, a=list(a), b=list(b), ratio=of_quantity.ratio if of_quantity else None,
                ci=of_quantity.ci if of_quantity else None,
            )
            for (name, unit, a, b), of_quantity in zip(quantities, judged, strict=True)
        ],
    )  # fmt: skip


def _judged(a: Sequence[float], b: Sequence[float], same_within: float) -> Judged | None:
    if min(*a, *b) <= 0:
        return None
    return judge_paired([PairedRounds(a, b, "lower")], same_within)[0]
