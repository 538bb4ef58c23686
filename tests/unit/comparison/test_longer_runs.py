from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from comparable_results import capable, measured, of
from nameplate.comparison.longer_runs import with_time
from nameplate.comparison.metric_rows import MetricPair
from nameplate.comparison.run_comparison import compare_by, compare_runs
from nameplate.records.result import Report
from nameplate.statistics.verdict import Judged
from report_samples import with_summary


def taking(seconds: float, report: Report) -> Report:
    results = [with_summary(result, stop="budget") for result in report.results]
    return msgspec.structs.replace(report, results=results, measured_s=seconds)


def reason(needed: int, seconds: tuple[float, float], rounds: tuple[int, int] = (6, 12), stop: str = "budget") -> str:
    base, new = (with_summary(measured(1e9), rounds=item, stop=stop) for item in rounds)
    pair = MetricPair(("cpu_flops", "rate", ()), base, new, ("A", "B"), measured_s=seconds)
    return with_time(Judged("UNSURE", 1.0, None, "wide", rounds_needed=needed), pair).reason


@pytest.mark.parametrize(
    ("needed", "message"),
    [
        (8, "wide (--budget 80s)"),  # 73.3 s
        (12, "wide (--budget 2min)"),  # 110 s
        (600, "wide (--budget 92min)"),  # 5,500 s
        (1000, "wide (--budget 3h)"),  # 9,167 s
        (1001, "wide"),  # no longer worth a number
        (0, "wide"),  # more rounds would not decide
    ],
)
def test_the_time_is_in_proportion_to_the_rounds_of_the_shorter_run(needed: int, message: str) -> None:
    assert reason(needed, (55.0, 55.0)) == message
    assert reason(needed, (55.0, 300.0)) == message
    assert reason(needed, (300.0, 55.0), (12, 6)) == message


def test_more_than_a_day_is_not_worth_a_number() -> None:
    assert reason(900, (600.0, 600.0)) == "wide"


def test_rounds_before_a_limit_set_in_take_their_time_again() -> None:
    limited = msgspec.structs.replace(
        with_summary(measured(1e8), rounds=20, stop="budget"), limit="burst", capable_rounds=6
    )
    pair = MetricPair(("disk_block", "bandwidth", ()), limited, limited, ("A", "B"), measured_s=(200.0, 200.0))
    unsure = Judged("UNSURE", 1.0, None, "about 8 rounds would decide", rounds_needed=8)
    assert with_time(unsure, pair, of_capability=True).reason == (
        "about 8 rounds would decide once the limit has set in (--budget 4min)"  # 220 s
    )
    assert with_time(replace(unsure, rounds_needed=30), pair).reason.endswith("decide (--budget 5min)")


def test_a_time_that_is_not_known_is_left_out() -> None:
    assert reason(12, (0.0, 55.0)) == "wide"
    assert reason(12, (0.0, 55.0), (6, 6)) == reason(12, (55.0, 0.0), (6, 6)) == "wide (--budget 2min)"


@pytest.mark.parametrize("stop", ["precision", "rounds", "imported"])
def test_a_budget_helps_only_rounds_that_it_ended(stop: str) -> None:
    assert reason(12, (55.0, 55.0), stop=stop) == "wide"


def test_a_comparison_says_how_long_runs_must_be() -> None:
    base, new = taking(60.0, of(capable(1e9))), taking(60.0, of(capable(0.95e9, width=0.05)))
    (row,) = compare_runs(base, new).rows
    assert row.capability is not None
    assert row.capability.verdict == "UNSURE"
    assert "rounds of each would decide (--budget " in row.capability.reason


def test_too_few_rounds_say_how_long_enough_of_them_take() -> None:
    few = msgspec.structs.replace(with_summary(measured(1e9), rounds=3), round_values=[1e9] * 3)
    (row,) = compare_runs(taking(30.0, of(few)), taking(30.0, of(few))).rows
    assert row.reason == "too few rounds (3): a verdict needs 5 (--budget 50s)"


def test_values_of_a_parameter_need_one_longer_run() -> None:
    one, two = (with_summary(msgspec.structs.replace(measured(1e9, {"threads": n}), round_values=[1e9] * 3), rounds=3)
                for n in (1, 2))  # fmt: skip
    (row,) = compare_by(taking(30.0, of(one, two)), "threads")
    assert row.reason.endswith("(--budget 50s)")
