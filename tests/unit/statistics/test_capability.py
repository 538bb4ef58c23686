from __future__ import annotations

import random
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from nameplate.statistics.capability import (
    MIN_SAMPLES,
    REACHED_BY,
    Capability,
    capability,
    disturbed_share,
)

NOISE = 0.01
# The time that one in twenty undisturbed samples reaches, if they are normal around 1.
TRUTH = 1 + NOISE * float(norm.ppf(REACHED_BY))


def disturbed_rounds(
    source: random.Random, share: float, n_rounds: int = 6, n_samples: int = 60, burst: float = 10
) -> list[list[float]]:
    """Return times around 1, of which ``share`` are longer by 30 % on average, in bursts of ``burst`` samples."""
    rounds = []
    for _ in range(n_rounds):
        is_disturbed = source.random() < share
        times_of_round = []
        for _ in range(n_samples):
            times_of_round.append(source.gauss(1, NOISE) + (source.expovariate(1 / 0.3) if is_disturbed else 0))
            leaves = source.random() < 1 / burst
            enters = share < 1 and source.random() < share / (1 - share) / burst
            is_disturbed = not leaves if is_disturbed else enters
        rounds.append(times_of_round)
    return rounds


def estimate_of(rounds: list[list[float]], higher_is_better: bool = False) -> Capability:
    result = capability(rounds, higher_is_better)
    assert result is not None
    return result


@pytest.mark.parametrize("share", [0, 0.2, 0.4])
def test_the_interval_holds_the_truth_whatever_share_of_the_samples_is_disturbed(share: float) -> None:
    source = random.Random(7)
    held = 0
    for _ in range(300):
        interval = estimate_of(disturbed_rounds(source, share)).ci
        assert interval is not None
        held += interval[0] <= TRUTH <= interval[1]
    # Nominal is 95 %; in 300 intervals, 92 and 99 % are as far from it as chance allows.
    assert 0.92 <= held / 300 <= 0.99


@pytest.mark.parametrize("share", [0.0, 0.4, 0.7])
def test_disturbed_samples_do_not_move_the_value(share: float) -> None:
    source = random.Random(3)
    values = [estimate_of(disturbed_rounds(source, share)).value for _ in range(50)]
    assert sum(values) / 50 == pytest.approx(TRUTH, abs=0.25 * NOISE)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4])
def test_the_share_of_disturbed_samples_is_estimated(share: float) -> None:
    source = random.Random(5)
    shares = [disturbed_share(sorted(chain.from_iterable(disturbed_rounds(source, share)))) for _ in range(50)]
    assert sum(shares) / 50 == pytest.approx(share, abs=0.05)


def test_one_impossibly_good_sample_does_not_decide() -> None:
    rounds = disturbed_rounds(random.Random(1), 0.3)
    typical = estimate_of(rounds).value
    rounds[2][5] = 1e-6
    assert estimate_of(rounds).value == pytest.approx(typical, rel=0.005)


@pytest.mark.parametrize("n_fast", [1, 2])
def test_two_rounds_and_not_one_lucky_one_reach_the_value(n_fast: int) -> None:
    rounds = disturbed_rounds(random.Random(4), 0.2)
    typical = estimate_of(rounds).value
    for times_of_round in rounds[:n_fast]:
        times_of_round[:] = [value / 1.6 for value in times_of_round]
    expected = typical if n_fast == 1 else typical / 1.6
    assert estimate_of(rounds).value == pytest.approx(expected, rel=0.02)


def test_the_interval_is_wider_if_the_rounds_vary_more_than_their_samples() -> None:
    source = random.Random(6)
    alike = disturbed_rounds(source, 0)
    varying = [
        [value * level for value in times_of_round]
        for times_of_round, level in zip(alike, (1, 0.9, 1.2, 0.95, 1.1, 1.3), strict=True)
    ]
    for rounds, low, high in ((alike, 0, 0.02), (varying, 0.1, 0.6)):
        interval = estimate_of(rounds).ci
        assert interval is not None
        assert low < interval[1] / interval[0] - 1 < high


def test_a_slower_machine_is_seen_through_the_disturbance() -> None:
    source = random.Random(2)
    base, new = estimate_of(disturbed_rounds(source, 0.4)), estimate_of(disturbed_rounds(source, 0.4))
    slower = estimate_of(
        [[1.1 * value for value in disturbed_round] for disturbed_round in disturbed_rounds(source, 0.4)]
    )
    assert new.value / base.value == pytest.approx(1, abs=0.01)
    assert slower.value / base.value == pytest.approx(1.1, abs=0.01)


def test_six_whole_periods_are_enough() -> None:
    periods = [[1.02], [1.0], [1.3], [1.01], [1.03], [1.02]]
    assert capability(periods, higher_is_better=False) is None
    assert capability(periods[1:], higher_is_better=False, are_full_periods=True) is None
    result = capability(periods, higher_is_better=False, are_full_periods=True)
    assert result is not None
    assert 1.01 <= result.value <= 1.02
    assert result.ci is not None


@given(st.lists(st.lists(st.floats(0.1, 1e6), max_size=20), min_size=1, max_size=9))
def test_rates_and_times_give_the_same_answer(rounds: list[list[float]]) -> None:
    times = capability(rounds, higher_is_better=False)
    rates = capability([[-value for value in times_of_round] for times_of_round in rounds], higher_is_better=True)
    if sum(map(len, rounds)) < MIN_SAMPLES:
        assert times is None
        return
    assert times is not None
    assert rates is not None
    assert rates.value == -times.value
    every = [value for times_of_round in rounds for value in times_of_round]
    assert min(every) <= times.value <= max(every)
    if sum(map(bool, rounds)) < 5:
        assert times.ci is None
    else:
        assert times.ci is not None
        assert rates.ci == (-times.ci[1], -times.ci[0])
        assert times.ci[0] <= times.value <= times.ci[1]


def test_equal_samples_have_an_interval_without_width() -> None:
    assert estimate_of([[3.0] * 10] * 6) == Capability(3.0, (3.0, 3.0), 0.0)
