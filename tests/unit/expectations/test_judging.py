"""Verdicts on values beside their expected ranges."""

from __future__ import annotations

import msgspec
import pytest

from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judging import Verdict, judge, verdict_of_area
from nameplate.records.result import Result
from report_samples import report, result, with_summary


def fp64(ci: tuple[float, float] | None, **changes: object) -> Result:
    made = result({"isa": "avx512", "mix": "fma", "precision": "fp64", "threads": 2}, 50e9)
    return with_summary(made, ci=ci, capability=None, **changes)


def expected(one: Result, low: float, high: float, **changes: object) -> ExpectedRange:
    given = {"experiment": one.id, "metric": one.summary.metric, "unit": one.summary.unit, "low": low,
             "typical": (low + high) / 2, "high": high, "machines": 12, **changes}  # fmt: skip
    return ExpectedRange(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ci", "verdict"),
    [
        ((37e9, 39e9), "BELOW"), ((39e9, 41e9), "UNSURE"), ((45e9, 50e9), "AS EXPECTED"),
        ((59e9, 61e9), "AS EXPECTED"), ((61e9, 62e9), "ABOVE"), ((30e9, 70e9), "UNSURE"), (None, "UNSURE"),
    ],
)  # fmt: skip
def test_the_whole_interval_decides(ci: tuple[float, float] | None, verdict: Verdict) -> None:
    one = fp64(ci)
    (value,) = judge(report([one]), [expected(one, 40e9, 60e9)])
    assert value.verdict == verdict


def test_a_time_is_below_expectation_if_it_is_longer() -> None:
    latency = with_summary(
        result({"protocol": "tcp"}, 50e-6, probe="net_pingpong"), metric="latency", unit="s", capability=None,
        ci=(49e-6, 51e-6),
    )  # fmt: skip
    found = judge(report([_lower(latency)]), [expected(latency, 20e-6, 40e-6)])
    assert [value.verdict for value in found] == ["BELOW"]


def _lower(original: Result) -> Result:
    return msgspec.structs.replace(original, better="lower", facts={"is_local": 0.0})


def test_the_capability_is_judged_if_it_is_known() -> None:
    one = with_summary(fp64((30e9, 31e9)), capability=50e9, capability_ci=(49e9, 51e9))
    (value,) = judge(report([one]), [expected(one, 40e9, 60e9)])
    assert (value.value, value.verdict) == (50e9, "AS EXPECTED")


def test_another_metric_or_unit_is_unknown() -> None:
    one = fp64((45e9, 50e9))
    assert [v.verdict for v in judge(report([one]), [])] == ["UNKNOWN"]
    assert [v.verdict for v in judge(report([one]), [expected(one, 1, 2, unit="B/s")])] == ["UNKNOWN"]


def test_loopback_and_oversubscription_are_not_judged() -> None:
    local = msgspec.structs.replace(fp64((45e9, 50e9)), facts={"is_local": 1.0})
    many = msgspec.structs.replace(fp64((45e9, 50e9)), oversubscribed=True)
    assert judge(report([local]), []) == judge(report([many]), []) == []


def test_the_worst_value_decides_on_an_area() -> None:
    one = fp64((45e9, 50e9))
    judged = [
        judge(report([one]), ranges)[0] for ranges in ([], [expected(one, 40e9, 60e9)], [expected(one, 60e9, 80e9)])
    ]
    assert verdict_of_area(judged).verdict == "BELOW"
    assert verdict_of_area(judged[:2]).verdict == "AS EXPECTED"
