from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameplate.records.run_record import Histogram
from nameplate.statistics.pooled_percentile import percentile_interval_s
from nameplate.statistics.stats import MergedHistogram, histogram_percentile_s, merged, pooled

TIMES_NS = st.lists(st.integers(1, 255), min_size=1, max_size=60)


def histogram(times_ns: list[int]) -> MergedHistogram:
    """Return the histogram of times below 256 ns, whose buckets are 1 ns wide."""
    bounds = sorted(set(times_ns))
    return merged([Histogram(bounds, [times_ns.count(bound) for bound in bounds])])


@given(st.lists(TIMES_NS, min_size=1, max_size=8))
def test_the_operations_of_all_rounds_are_those_of_each(rounds: list[list[int]]) -> None:
    together = pooled([histogram(times) for times in rounds])
    assert together == histogram([time for times in rounds for time in times])
    for bound in range(256):
        assert together.count_up_to(bound) == sum(time <= bound for times in rounds for time in times)


@given(st.lists(TIMES_NS, min_size=6, max_size=8), st.sampled_from([0.5, 0.9, 0.99]))
def test_an_interval_contains_the_percentile_and_ends_at_operations(rounds: list[list[int]], share: float) -> None:
    histograms = [histogram(times) for times in rounds]
    together = pooled(histograms)
    interval = percentile_interval_s(histograms, together, share)
    if interval is not None:
        assert interval[0] <= histogram_percentile_s(together, share) <= interval[1]
        assert {round(end * 1e9) for end in interval} <= {time for times in rounds for time in times}


def test_few_rounds_and_the_maximum_have_no_interval() -> None:
    rounds = [histogram(list(range(1, 200)))] * 6
    assert percentile_interval_s(rounds, pooled(rounds), 0.5) is not None
    assert percentile_interval_s(rounds[:5], pooled(rounds[:5]), 0.5) is None
    assert percentile_interval_s(rounds, pooled(rounds), 1.0) is None


def test_there_is_no_interval_if_its_upper_end_is_above_every_operation() -> None:
    """Five of six rounds have no slow operation, so that the share of slow ones is known only roughly."""
    rounds = [*[histogram([100] * 500)] * 5, histogram([100] * 440 + [200] * 60)]
    together = pooled(rounds)
    assert histogram_percentile_s(together, 0.99) == pytest.approx(200e-9)
    assert percentile_interval_s(rounds, together, 0.99) is None
    assert percentile_interval_s(rounds, together, 0.5) == pytest.approx((100e-9, 100e-9))


def test_rounds_that_agree_have_the_interval_of_independent_operations() -> None:
    """1,200 operations: the median has a standard error of 1.4 % of the ranks, and t with 5 degrees is 2.57."""
    rounds = [histogram(list(range(1, 201)))] * 6
    interval = percentile_interval_s(rounds, pooled(rounds), 0.5)
    assert interval == pytest.approx((93e-9, 108e-9))


def test_the_interval_covers_the_truth_if_rounds_differ_in_their_level() -> None:
    """Each round has its own level of 60 to 140 ns, and the true median is 100 ns."""
    source = random.Random(1)
    covered = 0
    for _ in range(300):
        rounds = []
        for _ in range(8):
            level = source.uniform(60, 140)
            rounds.append(histogram([round(source.gauss(level, 5)) for _ in range(60)]))
        interval = percentile_interval_s(rounds, pooled(rounds), 0.5)
        assert interval is not None
        covered += interval[0] <= 100e-9 <= interval[1]
    assert 0.92 <= covered / 300 <= 1.0
