from __future__ import annotations

import numpy as np
import pytest

from nameplate.statistics.paired_change import PairedRounds, capability_of_round, judge_paired
from nameplate.statistics.two_samples import Rounds, judge

# A machine that drifts by 30 % during the run, and both variants with it.
DRIFT = np.linspace(1.0, 1.3, 16)


def verdict(base: list[float], new: list[float], same_within: float = 0.05) -> str:
    return judge_paired([PairedRounds(base, new, "higher")], same_within)[0].verdict


def test_what_drifts_alike_is_not_a_difference_and_hides_none() -> None:
    base, same, slower = DRIFT.tolist(), (DRIFT * 1.003).tolist(), (DRIFT * 0.95).tolist()
    assert verdict(base, same) == "SAME"
    assert verdict(base, slower) == "SLOWER"
    assert judge_paired([PairedRounds(base, slower, "lower")])[0].verdict == "FASTER"
    assert judge([Rounds(base, slower, "higher")])[0].verdict == "UNSURE"


def test_the_ratio_is_the_median_of_the_rounds_ratios() -> None:
    base, new = [1.0, 2.0, 4.0] * 5, [1.1, 2.4, 4.4] * 5
    (actual,) = judge_paired([PairedRounds(base, new, "higher")])
    assert actual.ratio == pytest.approx(1.1)
    assert actual.ci == pytest.approx((1.1, 1.2))
    assert actual.verdict == "FASTER"


def test_the_change_that_matters_may_be_smaller_than_three_percent() -> None:
    base, new = DRIFT.tolist(), (DRIFT * 1.02).tolist()
    assert verdict(base, new) == "SAME"
    assert verdict(base, new, same_within=0.01) == "FASTER"


@pytest.mark.parametrize(("n_rounds", "ci"), [(9, False), (10, True)])
def test_ten_rounds_are_needed(n_rounds: int, ci: bool) -> None:
    (actual,) = judge_paired([PairedRounds([1.0] * n_rounds, [0.5] * n_rounds, "higher")])
    assert (actual.ci is not None, actual.verdict) == (ci, "SLOWER" if ci else "UNSURE")
    assert ci or actual.reason == "too few rounds (9): a verdict needs 10"


def test_the_capability_of_a_round_is_reached_by_one_in_ten_samples() -> None:
    samples = [float(value) for value in range(21)]
    assert capability_of_round(samples, "lower") == 2.0
    assert capability_of_round(samples, "higher") == 18.0
    assert capability_of_round([7.0], "higher") == 7.0


def test_disturbed_rounds_of_one_variant_do_not_decide() -> None:
    source = np.random.default_rng(5)
    base, new = (source.normal(1, 0.005, 20) for _ in range(2))
    new[::10] *= 0.5
    assert verdict(base.tolist(), new.tolist()) == "SAME"


def test_rounds_that_agree_exactly_may_still_be_too_few() -> None:
    ten, more = [1.0] * 10, [1.1] * 10
    changed, _ = judge_paired([PairedRounds(ten, more, "higher"), PairedRounds(ten, ten, "higher")])
    assert changed.verdict == "UNSURE"
    assert changed.ci == pytest.approx((1.1, 1.1))
    assert changed.reason == "about 11 rounds of each would decide"
