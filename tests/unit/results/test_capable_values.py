from __future__ import annotations

import msgspec
import pytest

from nameplate.results.capable_values import CapableValues, Round, capable_values
from run_samples import sample


def of_rates(*rates: float, events: dict[str, float] | None = None, elapsed_s: float = 0.06) -> Round:
    """Return a round with a sample for each rate, the last of which has the events."""
    samples = [sample("a", i, disturbed=events or {} if i == len(rates) - 1 else {}) for i in range(len(rates))]
    samples = [msgspec.structs.replace(each, elapsed_s=elapsed_s) for each in samples]
    return Round(samples, rates, lambda own: sum(rates[each.index] for each in own) / len(own))


def test_without_a_limit_every_sample_counts() -> None:
    rounds = [of_rates(10.0, 9.0), of_rates(11.0, 9.5)]
    assert capable_values(rounds, higher_is_better=True) == CapableValues([[10.0, 9.0], [11.0, 9.5]])


def test_under_a_quota_whole_periods_count() -> None:
    """Two samples of 60 ms are a period, and the fifth one is left over."""
    found = capable_values([of_rates(10.0, 6.0, 10.0, 8.0, 10.0, events={"cgroup_throttled": 1})], True)
    assert found == CapableValues([[8.0, 9.0]], are_whole_periods=True)


def test_what_a_processor_did_while_it_was_cool_does_not_count() -> None:
    hot = {"thermal_throttled": 3.0}
    rounds = [of_rates(10.0, 10.0), of_rates(10.0, 6.0, events=hot), of_rates(9.0, 6.0), of_rates(9.0, 5.0, events=hot)]
    found = capable_values(rounds, higher_is_better=True)
    assert found.rounds == [[8.0], [7.5], [7.0]]
    assert (found.are_whole_periods, found.before_limit, found.reason) == (True, 1, "the processor was too hot")


def test_a_single_throttling_is_an_event_and_no_limit() -> None:
    rounds = [of_rates(10.0), of_rates(10.0), of_rates(9.0, events={"thermal_throttled": 1.0})]
    assert not capable_values(rounds, higher_is_better=True).are_whole_periods


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_a_spent_burst_does_not_count(higher_is_better: bool) -> None:
    """Single samples under the limit are as fast as the burst."""

    def pair(mean: float) -> Round:
        return of_rates(*(30.0, 2 * mean - 30.0) if higher_is_better else (1 / 30, 2 / mean - 1 / 30))

    found = capable_values([pair(28.0)] * 2 + [pair(16.0)] * 6, higher_is_better)
    limit = 16.0 if higher_is_better else 1 / 16
    assert found.rounds == [[pytest.approx(limit)]] * 6
    assert (found.are_whole_periods, found.before_limit) == (True, 2)
    assert "burst" in found.reason
