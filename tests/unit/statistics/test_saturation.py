"""The number of simultaneous pairs at which the bandwidth stops growing, from curves whose true value is known."""

from __future__ import annotations

import numpy as np
import pytest

from nameplate.statistics.saturation import find_saturation


def measured(counts: list[int], item: float, maximum: float, noise: float, seed: int) -> list[list[float]]:
    source = np.random.default_rng(seed)
    return [[min(p * item, maximum) * (1 + noise * source.standard_normal()) for _ in range(6)] for p in counts]


@pytest.mark.parametrize("knee", [1, 2, 3, 4.5])
def test_the_knee_is_found(knee: float) -> None:
    actual = find_saturation([1, 2, 4, 8, 16], measured([1, 2, 4, 8, 16], 10e6, knee * 10e6, 0.03, 1))
    assert actual is not None
    assert actual.maximum == pytest.approx(knee * 10e6, rel=0.03)
    assert actual.knee == pytest.approx(knee, rel=0.05)
    assert actual.knee_ci[0] <= actual.knee <= actual.knee_ci[1]


def test_a_curve_that_grows_to_the_end_is_not_saturated() -> None:
    for seed in range(20):
        assert find_saturation([1, 2, 4, 8], measured([1, 2, 4, 8], 10e6, 1e12, 0.05, seed)) is None


def test_a_knee_at_the_last_count_is_not_claimed() -> None:
    assert find_saturation([1, 2, 4, 8], measured([1, 2, 4, 8], 10e6, 78e6, 0.03, 2)) is None
