from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from nameplate.statistics.two_samples import (
    Rounds,
    _by_ranks,
    _rank_of_interval,
    _tails,
    judge,
)
from nameplate.statistics.verdict import CONFIDENCE, Judged

Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Floats]


def one(base: list[float], new: list[float], better: str = "higher", same_within: float = 0.05) -> Judged:
    return judge([Rounds(base, new, "higher" if better == "higher" else "lower")], same_within)[0]


STEADY = [100.0, 100.4, 99.7, 100.1, 99.9, 100.2]


def times(values: list[float], factor: float) -> list[float]:
    return [value * factor for value in values]


@pytest.mark.parametrize(
    ("factor", "better", "verdict"),
    [
        (0.9, "higher", "SLOWER"), (1.1, "higher", "FASTER"), (0.9, "lower", "FASTER"), (1.1, "lower", "SLOWER"),
        (1.0, "higher", "SAME"), (1.02, "higher", "SAME"), (0.98, "lower", "SAME"),
    ],
)  # fmt: skip
def test_the_verdict_knows_which_direction_is_better(factor: float, better: str, verdict: str) -> None:
    actual = one(STEADY, times(STEADY, factor), better)
    assert actual.verdict == verdict
    assert actual.ratio == pytest.approx(factor, rel=0.005)
    assert actual.ci is not None
    assert actual.ci[0] <= actual.ratio <= actual.ci[1]


def test_a_small_difference_is_never_a_change() -> None:
    steady = [100 + i * 1e-4 for i in range(30)]
    assert one(steady, times(steady, 1.025)).verdict == "SAME"
    # With SAME at 1 %, a change by 2.5 % is a finding.
    assert one(steady, times(steady, 1.025), same_within=0.01).verdict == "FASTER"
    assert one(steady, times(steady, 1.035)).verdict == "FASTER"


def test_a_noisy_machine_needs_a_larger_difference() -> None:
    drifting = [100.0 * 1.01**i for i in range(12)]
    actual = one(drifting, times(drifting, 1.1))
    assert (actual.verdict, actual.reason[:24]) == ("UNSURE", "a run drifted by 6.2 %: ")
    assert one(drifting, times(drifting, 1.3)).verdict == "FASTER"
    noisy = [100.0, 130.0, 75.0, 110.0, 90.0, 101.0, 120.0, 82.0]
    assert one(noisy, times(noisy, 1.2)).verdict == "UNSURE"


def test_one_outlying_round_decides_nothing() -> None:
    burst = [*STEADY[:5], 20.0]
    assert one(STEADY, burst).verdict != "SLOWER"
    twelve = STEADY + STEADY
    assert one(twelve, [*times(twelve, 0.95)[:11], 30.0]).verdict == "SLOWER"
    assert one([*twelve[:11], 30.0], twelve).verdict == "SAME"


@pytest.mark.parametrize(("base", "new"), [(1, 6), (4, 4), (6, 1), (2, 2)])
def test_too_few_rounds_give_no_verdict(base: int, new: int) -> None:
    actual = one(STEADY[:base], times(STEADY[:new], 0.5))
    assert (actual.verdict, actual.ci) == ("UNSURE", None)
    assert f"too few rounds ({min(base, new)}): a verdict needs 5" in actual.reason


def test_one_round_against_many_has_no_interval() -> None:
    many = [STEADY[i % len(STEADY)] * (1 + 1e-4 * i) for i in range(61)]
    actual = one(STEADY[:1], many)
    assert (actual.verdict, actual.ci) == ("UNSURE", None)


def test_constant_values_are_compared_exactly() -> None:
    assert one([5.0] * 6, [5.0] * 6).verdict == "SAME"
    assert one([5.0] * 6, [4.0] * 6).verdict == "SLOWER"


def test_a_chance_finding_among_many_metrics_is_unsure() -> None:
    """The ranks of six rounds decide one metric, but not one of a hundred; an outlier hides it from Welch's t."""
    base, new = [100.0, 101.0, 60.0, 99.0, 100.5, 100.2], [110.0, 111.0, 150.0, 109.5, 112.0, 110.3]
    assert one(base, new).verdict == "FASTER"
    same = Rounds(STEADY, STEADY, "higher")
    actual = judge([Rounds(base, new, "higher"), *[same] * 100])
    assert actual[0].verdict == "UNSURE"
    assert "the difference may be chance" in actual[0].reason
    assert "rounds of each would decide" in actual[0].reason
    assert {item.verdict for item in actual[1:]} == {"SAME"}


@given(st.integers(1, 14), st.integers(1, 14), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_rank_probabilities_agree_with_scipy(base: int, new: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=base), rng.normal(size=new)
    differences = np.sort((second[:, None] - first[None, :]).ravel())
    exact = mannwhitneyu(first, second, method="exact").pvalue
    assert _by_ranks(differences, first, second) == pytest.approx(exact)
    assert _tails(base, new)[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(("base", "new"), [(5, 5), (6, 6), (12, 7), (61, 40)])
def test_the_interval_covers_the_ratio_at_its_confidence_level(base: int, new: int) -> None:
    rng = np.random.default_rng(base * 100 + new)
    rank = _rank_of_interval(base, new)
    assert rank is not None
    covered, repeats = 0, 4000
    for _ in range(repeats):
        differences = np.sort((rng.standard_t(3, new)[:, None] - rng.standard_t(3, base)[None, :]).ravel())
        covered += differences[rank] <= 0 <= differences[-1 - rank]
    assert covered / repeats >= CONFIDENCE - 0.006


def drifting(rng: np.random.Generator, rounds: int) -> Floats:
    """Return values that rise and fall slowly, with independent noise per round."""
    phase = rng.uniform(0, 2 * math.pi)
    return 0.007 * np.sin(phase + np.arange(rounds) / 6) + 0.005 * rng.normal(size=rounds)


NOISE: dict[str, Noise] = {
    "normal": lambda rng, rounds: 0.01 * rng.normal(size=rounds),
    "drift": drifting,
    "two modes": lambda rng, rounds: 0.01 * rng.choice([-1.0, 1.0], rounds) + 0.002 * rng.normal(size=rounds),
    "heavy tail": lambda rng, rounds: 0.0058 * rng.standard_t(3, rounds),
    "bursts": lambda rng, rounds: 0.005 * rng.normal(size=rounds) - 0.1 * (rng.random(rounds) < 0.03),
}


def verdicts(noise: Noise, factor: float, repeats: int) -> Counter[str]:
    """Count the verdicts on a run of twelve rounds and the next one of the same machine, one metric per family."""
    rng = np.random.default_rng(7)
    counts: Counter[str] = Counter()
    for _ in range(repeats):
        rounds = np.exp(noise(rng, 24))
        counts[judge([Rounds(list(rounds[:12]), list(rounds[12:] * factor), "higher")])[0].verdict] += 1
    return counts


@pytest.mark.parametrize("name", NOISE)
def test_a_loss_of_five_percent_is_found_within_one_percent_of_noise(name: str) -> None:
    assert verdicts(NOISE[name], 0.95, 500)["SLOWER"] >= 0.95 * 500


@pytest.mark.parametrize("name", NOISE)
def test_a_machine_is_the_same_as_itself(name: str) -> None:
    actual = verdicts(NOISE[name], 1.0, 500)
    assert actual["FASTER"] + actual["SLOWER"] == 0
    assert actual["SAME"] >= 0.95 * 500
