"""Define the verdicts on the difference between two values, for all modules that compare runs. Pure functions.

A metric is FASTER or SLOWER if its difference is significant and large enough, and SAME if an equivalence test rules
out a change of a given size. Everything else is UNSURE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

from nameplate.statistics.constants import MIN_CHANGE

Verdict: TypeAlias = Literal["FASTER", "SLOWER", "SAME", "UNSURE", "INCOMPARABLE"]

# The confidence of the interval that is shown. For FASTER and SLOWER it must not contain a difference of 0.
CONFIDENCE = 0.99
# Two one-sided tests at 5 % reject a change of this size or more if the 90 % interval is within it (Schuirmann, "A
# comparison of the two one-sided tests procedure and the power approach", 1987).
EQUIVALENCE_CONFIDENCE = 0.90
SAME_WITHIN = 0.05
# If half the width of an interval, as a natural logarithm, is larger, the interval counts as unknown.
MAX_HALF = 20.0
# More rounds than this are not worth a number.
MAX_ROUNDS = 1000
# The probability with which a detectable change is called FASTER or SLOWER.
_POWER = 0.8


@dataclass(frozen=True)
class Judged:
    """The verdict on the difference between a metric in two runs.

    ``ratio`` is new / base, whichever direction is better, and ``ci`` the lower and upper end of its 99 % interval.
    ``verdict`` takes the better direction into account: FASTER means that the new run is better. ``ci`` is None if
    there are too few rounds for an interval. ``reason`` is a phrase that says why the verdict is UNSURE; it is "" for
    FASTER, SLOWER and SAME. Only callers set INCOMPARABLE; no test returns it. ``detectable`` is the smallest change,
    as a share (0.05 is 5 %), that runs like these two would show with a probability of 80 %; None without an interval.
    ``rounds_needed`` is the number of rounds of each run that would turn UNSURE into another verdict if the difference
    stays the same; 0 if no number of rounds would, or if the number is unknown.
    """

    verdict: Verdict
    ratio: float
    ci: tuple[float, float] | None
    reason: str
    detectable: float | None = None
    rounds_needed: int = 0


@dataclass(frozen=True)
class Precision:
    """The intervals of a difference of two natural logarithms, and the parts of them that more rounds do not reduce.

    ``change`` is the 99 % interval, which decides FASTER and SLOWER, and ``same`` the 90 % interval, which decides
    SAME, both (low, high). ``lasting`` is the share of the variance that more rounds do not reduce, from 0 to 1, such
    as the variation between runs. ``rounding`` is the part of half the width of either interval that the rounding of
    printed values causes.
    """

    change: tuple[float, float]
    same: tuple[float, float]
    lasting: float = 0.0
    rounding: float = 0.0

    @property
    def half(self) -> float:
        """Return half the width of the 99 % interval."""
        return (self.change[1] - self.change[0]) / 2

    @property
    def half_same(self) -> float:
        """Return half the width of the 90 % interval."""
        return (self.same[1] - self.same[0]) / 2


def min_change(same_within: float) -> float:
    """Return the smallest difference of natural logarithms that may be called FASTER or SLOWER.

    It is the logarithm of a change by 3 %, or by ``same_within`` if that share is less: if SAME means within 1 %
    (``same_within`` 0.01), a change by 2 % is reported.
    """
    return math.log1p(min(MIN_CHANGE, same_within))


def change_of(middle: float, better: Literal["higher", "lower"]) -> Verdict:
    """Return FASTER or SLOWER for a difference of logarithms, new less base, that is not 0.

    ``better`` says whether higher or lower values of the metric are better.
    """
    return "FASTER" if (middle > 0) == (better == "higher") else "SLOWER"


def detectable_change(margin: float, half: float) -> float:
    """Return the smallest change, as a share, that is called FASTER or SLOWER with a probability of 80 %.

    ``margin`` is the smallest change that may be called FASTER or SLOWER, and ``half`` is half the width of the 99 %
    interval, both as natural logarithms. An estimate must reach the larger of ``margin`` and ``half``, and four of five
    estimates lie above the true change less 0.84 standard errors.
    """
    normal = NormalDist()
    return math.expm1(max(margin, half) + normal.inv_cdf(_POWER) * half / normal.inv_cdf((1 + CONFIDENCE) / 2))


def rounds_needed(middle: float, precision: Precision, margin: float, same_within: float, rounds: int) -> int:
    """Return how many rounds of each run would decide if the difference stays the same; 0 if no number would.

    ``middle`` is the difference of the natural logarithms, ``precision`` has its intervals, ``margin`` is the smallest
    change that may be called FASTER or SLOWER, as a logarithm, ``same_within`` is the share within which two values are
    SAME, and ``rounds`` is the number of rounds in the shorter run. The result, if not 0, is above ``rounds``.
    """
    rooms = [(math.log1p(same_within) - abs(middle), precision.half_same)]
    if abs(middle) >= margin:
        rooms.append((abs(middle), precision.half))
    rounding = precision.rounding
    needed = min(_rounds_for(room - rounding, half - rounding, precision.lasting, rounds) for room, half in rooms)
    return 0 if math.isinf(needed) else max(math.ceil(needed), rounds + 1)


def needed_text(n_rounds: int) -> str:
    """Return a phrase that says how many rounds would decide, from the result of ``rounds_needed``."""
    if n_rounds == 0:
        return "more rounds would not decide a difference of this size"
    if n_rounds > MAX_ROUNDS:
        return f"more than {MAX_ROUNDS} rounds of each would be needed"
    return f"about {n_rounds} rounds of each would decide"


def _rounds_for(room: float, half: float, lasting: float, rounds: int) -> float:
    """Return the number of rounds after which half the width of an interval is ``room``, or infinity.

    ``half`` is half the width after ``rounds`` rounds. It is 0 if they all agree, as rounds of a counter may.
    """
    if room <= 0:
        return math.inf
    wider = (half / room) ** 2
    return rounds * wider * (1 - lasting) / (1 - wider * lasting) if wider * lasting < 1 else math.inf


def verdict_on(
    middle: float, precision: Precision, *, is_significant: bool, better: Literal["higher", "lower"], rounds: int,
    same_within: float,
) -> Judged:  # fmt: skip
    """Return the verdict on a difference of logarithms, new less base.

    ``precision`` has the intervals. The verdict is FASTER or SLOWER if the difference ``middle`` is significant
    (``is_significant``), its 99 % interval excludes 0, and it is large enough (``min_change``). It is SAME if the 90 %
    interval is within ``same_within``, a share (0.05 is 5 %), and otherwise UNSURE. ``better`` says whether higher or
    lower values are better. ``rounds`` is the number of rounds in the shorter run; the reason for UNSURE says how many
    rounds would decide.
    """
    margin, (low, high) = min_change(same_within), precision.change
    ratio, ci = math.exp(middle), (math.exp(low), math.exp(high))
    detectable = detectable_change(margin, precision.half)
    if is_significant and abs(middle) >= margin and (low > 0 or high < 0):
        return Judged(change_of(middle, better), ratio, ci, "", detectable)
    if max(map(abs, precision.same)) <= math.log1p(same_within):
        return Judged("SAME", ratio, ci, "", detectable)
    needed = rounds_needed(middle, precision, margin, same_within, rounds)
    return Judged("UNSURE", ratio, ci, needed_text(needed), detectable, needed)
