"""Verdicts on numbers that were printed with few digits."""

from __future__ import annotations

import math
import random

import pytest

from nameplate.statistics.rounding import printed_digits, rounding_margin
from nameplate.statistics.two_samples import Rounds, judge
from nameplate.statistics.verdict import Judged


def judged(base: list[float], new: list[float], step: float, *, is_sequential: bool = False) -> Judged:
    """Return the verdict on times that are printed in whole steps."""
    base, new = ([round(value / step) * step for value in side] for side in (base, new))
    rounding = 0.5 * step / min(base), 0.5 * step / min(new)
    return judge([Rounds(base, new, "lower", is_sequential=is_sequential, rounding=rounding)])[0]


@pytest.mark.parametrize(
    ("printed", "digits"),
    [(0.005 / 0.14, "two digits"), (0.5 / 9, "one digit"), (0.5 / 10, "two digits"), (0.5 / 99, "two digits"),
     (0.5 / 100, "three digits"), (0.005 / 1.3, "three digits"), (0.5 / 12_345_678, "8 digits")],
)  # fmt: skip
def test_the_number_of_digits_follows_from_the_rounding(printed: float, digits: str) -> None:
    assert printed_digits(printed) == digits


def test_the_margin_covers_every_quotient_of_numbers_that_are_printed_alike() -> None:
    margin = rounding_margin(0.005 / 0.14, 0.005 / 0.15)
    for base in (0.135, 0.145):
        for new in (0.145, 0.155):
            assert abs(math.log(new / base) - math.log(0.15 / 0.14)) <= margin
    assert rounding_margin(0.0, 0.0) == 0.0


@pytest.mark.parametrize("is_sequential", [False, True])
def test_a_step_of_the_last_digit_is_no_change(is_sequential: bool) -> None:
    actual = judged([144.6] * 8, [145.4] * 8, 10.0, is_sequential=is_sequential)
    assert actual.verdict == "UNSURE"
    assert actual.reason.startswith("printed with two digits: a difference below 7.3 % may be rounding; more rounds ")
    assert actual.ci is not None
    assert actual.ci[0] < 145.4 / 144.6 < actual.ci[1]
    assert actual.detectable is not None
    assert actual.detectable > 0.1


def test_equal_numbers_are_the_same_only_if_their_digits_show_it() -> None:
    assert judged([135.5] * 8, [144.4] * 8, 10.0).verdict == "UNSURE"
    assert judged([135.5] * 8, [135.9] * 8, 1.0).verdict == "SAME"


def test_a_change_that_rounding_cannot_explain_is_one() -> None:
    assert judged([140.0] * 8, [180.0] * 8, 10.0).verdict == "SLOWER"
    assert judged([180.0] * 8, [140.0] * 8, 10.0).verdict == "FASTER"


def test_more_rounds_decide_only_what_is_not_rounding() -> None:
    varied = [1e3 * factor for factor in (0.9, 1.1, 1.0, 0.94, 1.06, 1.01)]
    exact, coarse = judged(varied, varied, 1e-3), judged(varied, varied, 60.0)
    assert exact.verdict == coarse.verdict == "UNSURE"
    assert exact.rounds_needed > 6
    assert coarse.rounds_needed == 0


def test_rounding_never_makes_an_unchanged_machine_faster_or_slower() -> None:
    """The unrounded times are equal, or differ by less than any change that counts."""
    numbers = random.Random(1)
    for _ in range(300):
        time, step = numbers.uniform(10, 60), 1.0
        base, new = ([time * numbers.uniform(0.999, 1.001) * change for _ in range(8)] for change in (1, 1.02))
        assert judged(base, new, step).verdict in ("SAME", "UNSURE")
