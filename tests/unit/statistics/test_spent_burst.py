from __future__ import annotations

import random

import pytest

from nameplate.statistics.spent_burst import rounds_before_limit

BURST, LIMIT = 300e6, 100e6


def limited(n_before: int, n_after: int) -> list[float]:
    """Return rates of rounds: of a burst that varies by 20 %, and of the limit after it, which varies by 1 %."""
    source = random.Random(n_before)
    before = [BURST * source.uniform(0.9, 1.1) for _ in range(n_before)]
    return before + [LIMIT * source.uniform(0.99, 1.01) for _ in range(n_after)]


@pytest.mark.parametrize(("n_before", "n_after"), [(1, 6), (4, 6), (2, 20)])
def test_a_limit_that_lasts_to_the_end_is_found(n_before: int, n_after: int) -> None:
    rates = limited(n_before, n_after)
    assert rounds_before_limit(rates, higher_is_better=True) == n_before
    assert rounds_before_limit([1 / rate for rate in rates], higher_is_better=False) == n_before


def test_the_limit_may_set_in_within_a_round() -> None:
    rates = limited(3, 8)
    rates.insert(3, 1.2 * LIMIT)
    assert rounds_before_limit(rates, higher_is_better=True) == 4


def test_other_programs_may_slow_down_a_quarter_of_the_rounds() -> None:
    rates = limited(3, 8)
    rates[5] *= 0.5
    rates[7] *= 0.8
    assert rounds_before_limit(rates, higher_is_better=True) == 3
    rates[9] *= 0.8
    assert rounds_before_limit(rates, higher_is_better=True) == 0


@pytest.mark.parametrize(
    "rates",
    [
        limited(0, 12),  # never faster
        limited(12, 0),  # never limited
        limited(4, 5),  # too few steady rounds
        [*limited(4, 7), BURST],  # fast again at the end
        [LIMIT, *limited(3, 7)],  # slow before the burst
        [*[1.25 * LIMIT] * 4, *[LIMIT] * 8],  # too small a step
        [],
    ],
)
def test_what_is_no_limit(rates: list[float]) -> None:
    assert rounds_before_limit(rates, higher_is_better=True) == 0
