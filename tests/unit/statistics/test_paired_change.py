from __future__ import annotations

import numpy as np
import pytest

from nameplate.statistics.difference import Difference, judge_differences
from nameplate.statistics.paired_change import capability_difference, typical_difference
from nameplate.statistics.two_samples import Rounds, judge

SOURCE = np.random.default_rng(5)
# A machine that drifts by 30 % during the run, and both settings with it.
DRIFT = np.linspace(1.0, 1.3, 12)


def samples(factor: float) -> list[list[float]]:
    """Return 30 samples of each of 12 rounds: noise of 1 %, and every fifth disturbed."""
    disturbed = SOURCE.random((12, 30)) < 0.2
    values = factor * DRIFT[:, None] * SOURCE.normal(1, 0.01, (12, 30)) * (1 - 0.3 * disturbed)
    return [[float(value) for value in own] for own in values]


def verdict(difference: Difference | None) -> str:
    assert difference is not None
    return judge_differences([difference])[0].verdict


def test_what_drifts_alike_is_not_a_difference_and_hides_none() -> None:
    base, same, slower = DRIFT.tolist(), (DRIFT * 1.003).tolist(), (DRIFT * 0.95).tolist()
    assert verdict(typical_difference(base, same, "higher")) == "SAME"
    assert verdict(typical_difference(base, slower, "higher")) == "SLOWER"
    assert verdict(typical_difference(base, slower, "lower")) == "FASTER"
    assert judge([Rounds(base, slower, "higher")])[0].verdict == "UNSURE"


@pytest.mark.parametrize(("factor", "expected"), [(1.0, "SAME"), (0.9, "SLOWER"), (1.1, "FASTER")])
def test_the_capability_of_two_settings_is_judged_by_pairs_of_rounds(factor: float, expected: str) -> None:
    found = capability_difference(samples(1.0), samples(factor), "higher")
    assert found is not None
    assert np.exp(found.middle) == pytest.approx(factor, abs=0.02)
    assert verdict(found) == expected


def test_the_rounds_of_the_shorter_side_count() -> None:
    base, new = DRIFT.tolist(), (DRIFT * 1.2).tolist()
    assert typical_difference(base, new[:4], "higher") is None
    found = typical_difference(base, new[:7], "higher")
    assert found is not None
    assert (found.rounds, found.freedom) == (7, 6)
    assert capability_difference(samples(1.0)[:4], samples(1.0), "higher") is None
    assert capability_difference([[1.0]] * 6, [[1.0]] * 6, "higher") is None


def test_rounds_that_agree_exactly_still_have_an_error() -> None:
    found = typical_difference([1.0] * 6, [1.0] * 6, "lower")
    assert found is not None
    assert found.error > 0
    assert verdict(found) == "SAME"
