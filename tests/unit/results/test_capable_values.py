from __future__ import annotations

import msgspec
import pytest

from nameplate.results.capable_values import CapableValues, Round, capable_values
from run_samples import sample


def of_rates(*rates: float, events: dict[str, float] | None = None, elapsed_s: float = 0.06) -> Round:
    """Return a round with a sample for each rate, the last of which has the events."""
    samples = [sample("a", i, disturbed=events or {} if i == len(rates) - 1 else {}) for i in range(len(rates))]
    samples = [msgspec.structs.replace(item, elapsed_s=elapsed_s) for item in samples]
    return Round(
        samples,
        rates,
        lambda samples_of_period: sum(rates[item.index] for item in samples_of_period) / len(samples_of_period),
    )


def capable_of(rounds: list[Round], higher_is_better: bool = True, has_credits: bool = False) -> CapableValues:
    return capable_values(rounds, higher_is_better, has_credits=has_credits)


def test_without_a_limit_every_sample_counts() -> None:
    assert capable_of([of_rates(10.0, 9.0), of_rates(11.0, 9.5)]) == CapableValues([[10.0, 9.0], [11.0, 9.5]])


def test_under_a_quota_whole_periods_count() -> None:
    """Two samples of 60 ms are a period, and the fifth one is left over."""
    limited = [of_rates(10.0, 6.0, 10.0, 8.0, 10.0, events={"cgroup_throttled": 1})]
    assert capable_of(limited) == CapableValues([[8.0, 9.0]], "quota")


HOT = {"thermal_throttled": 3.0}


def test_what_a_processor_did_while_it_was_cool_does_not_count() -> None:
    hot = [of_rates(10.0, 6.0, events=HOT), of_rates(9.0, 6.0), *[of_rates(9.0, 5.0, events=HOT)] * 4]
    assert capable_of([of_rates(10.0, 10.0), *hot]) == CapableValues([[8.0], [7.5], *[[7.0]] * 4], "heat", 1)
    assert capable_of([of_rates(10.0, 10.0), *hot], has_credits=True).limit == ""


@pytest.mark.parametrize(
    "rounds",
    [
        [*[of_rates(10.0)] * 7, *[of_rates(9.0, events=HOT)] * 6],  # fewer than half
        [of_rates(10.0), *[of_rates(9.0, events=HOT)] * 5],  # too few whole rounds for a capability
        [of_rates(9.0, events=HOT)],
    ],
)
def test_a_throttling_that_is_no_limit(rounds: list[Round]) -> None:
    assert capable_of(rounds).limit == ""


def burst(higher_is_better: bool = True, events: dict[str, float] | None = None) -> list[Round]:
    """Return two rounds of a burst and six under a limit, under which single samples are as fast."""

    def pair(mean: float, events: dict[str, float] | None) -> Round:
        rates = (30.0, 2 * mean - 30.0) if higher_is_better else (1 / 30, 2 / mean - 1 / 30)
        return of_rates(*rates, events=events)

    return [*[pair(28.0, None)] * 2, *[pair(16.0, events)] * 6]


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_a_spent_burst_does_not_count(higher_is_better: bool) -> None:
    result = capable_of(burst(higher_is_better), higher_is_better, has_credits=True)
    assert result.rounds == [[pytest.approx(16.0 if higher_is_better else 1 / 16)]] * 6
    assert (result.limit, result.before_limit) == ("burst", 2)


def test_a_core_has_credits_if_its_host_takes_time_away() -> None:
    """A program on the other hardware thread slows a core down as steadily, and takes no time."""
    assert capable_of(burst(), has_credits=False).limit == ""
    assert capable_of(burst(events={"steal_s": 0.02}), has_credits=False).limit == "burst"
    always = [of_rates(*item.values, events={"steal_s": 0.02}) for item in burst()]
    assert capable_of(always, has_credits=False).limit == ""
