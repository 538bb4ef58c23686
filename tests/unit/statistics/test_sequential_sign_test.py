from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import betaln

from nameplate.statistics.sequential_sign_test import median_interval, p_value


def test_the_evidence_is_that_of_the_arcsine_mixture() -> None:
    evidence = math.exp(betaln(9.5, 1.5) - betaln(0.5, 0.5)) * 2**10
    assert p_value([1.0] * 9 + [-1.0]) == pytest.approx(1 / evidence)
    assert p_value([-1.0] * 9 + [1.0]) == p_value([1.0] * 9 + [-1.0])
    assert p_value([]) == pytest.approx(1.0)
    assert p_value([0.0] * 50) == p_value([0.0] * 40 + [1.0] * 10) == 1.0


def test_the_evidence_is_fair_over_all_orders_of_signs() -> None:
    """Without a change, its expectation is 1 after any number of rounds, which Ville's inequality needs."""
    for n_values in (1, 4, 9):
        evidence = [
            math.exp(betaln(above + 0.5, n_values - above + 0.5) - betaln(0.5, 0.5)) * 2**n_values
            for above in (sum(signs) for signs in product((0, 1), repeat=n_values))
        ]
        assert sum(evidence) / 2**n_values == pytest.approx(1.0)
        for above in range(n_values + 1):
            expected = min(1.0, math.exp(betaln(0.5, 0.5) - betaln(above + 0.5, n_values - above + 0.5)) / 2**n_values)
            assert p_value([1.0] * above + [-1.0] * (n_values - above)) == pytest.approx(expected)


def test_an_interval_needs_ten_values() -> None:
    values = [float(value) for value in range(10)]
    assert median_interval(values[:9], 0.99) is None
    assert median_interval(values, 0.99) == (0.0, 9.0)
    assert median_interval(values[:5], 0.9) is None
    assert median_interval(values[:6], 0.9) == (0.0, 5.0)


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_the_interval_holds_the_values_that_are_not_rejected(confidence: float) -> None:
    values = np.random.default_rng(2).exponential(1, 41)
    actual = median_interval(values.tolist(), confidence)
    assert actual is not None
    for median in np.linspace(-0.5, 3, 200):
        rejected = p_value((values - median).tolist()) <= 1 - confidence
        assert rejected == (median < actual[0] or median > actual[1])


def test_looking_after_every_round_does_not_raise_the_error_rate() -> None:
    source = np.random.default_rng(1)
    wrong = 0
    for _ in range(400):
        values = source.standard_cauchy(80)
        intervals = (median_interval(values[:n_values].tolist(), 0.9) for n_values in range(6, 81))
        wrong += any(
            interval_after is not None and not interval_after[0] <= 0 <= interval_after[1]
            for interval_after in intervals
        )
    assert wrong <= 40
