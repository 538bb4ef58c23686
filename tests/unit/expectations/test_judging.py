"""Verdicts on values and their expected ranges."""

from __future__ import annotations

import msgspec
import pytest

from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judging import Verdict, areas_of, judge
from nameplate.records.result import Result
from nameplate.results.judgeable import judgeable
from report_samples import report, result, with_summary


def fp64(ci: tuple[float, float] | None, **changes: object) -> Result:
    made = result({"isa": "avx512", "mix": "fma", "precision": "fp64", "threads": 2}, 50e9)
    return with_summary(made, ci=ci, capability=None, **changes)


def expected(one: Result, low: float, high: float, **changes: object) -> ExpectedRange:
    given = {"experiment": one.id, "metric": one.summary.metric, "kind": "typical", "unit": one.summary.unit,
             "low": low, "typical": (low + high) / 2, "high": high, "machines": 12, **changes}  # fmt: skip
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
    (value,) = judge(judgeable(report([one])), [expected(one, 40e9, 60e9)])
    assert value.verdict == verdict


def test_a_time_is_below_expectation_if_it_is_longer() -> None:
    latency = with_summary(
        result({"protocol": "tcp"}, 50e-6, probe="net_pingpong"), metric="latency", unit="s", capability=None,
        ci=(49e-6, 51e-6),
    )  # fmt: skip
    actual = judge(judgeable(report([_lower(latency)])), [expected(latency, 20e-6, 40e-6)])
    assert [value.verdict for value in actual] == ["BELOW"]


def _lower(original: Result) -> Result:
    return msgspec.structs.replace(original, better="lower", facts={"is_local": 0.0})


def test_the_range_says_which_value_is_judged() -> None:
    one = with_summary(fp64((30e9, 31e9)), capability=50e9, capability_ci=(49e9, 51e9))
    (value,) = judge(judgeable(report([one])), [expected(one, 40e9, 60e9, kind="capability")])
    assert (value.value, value.verdict) == (50e9, "AS EXPECTED")
    assert judge(judgeable(report([one])), [expected(one, 40e9, 60e9)])[0].verdict == "BELOW"


def test_without_a_capability_nothing_is_said_about_it() -> None:
    one = fp64((30e9, 31e9))
    assert judge(judgeable(report([one])), [expected(one, 40e9, 60e9, kind="capability")])[0].verdict == "UNSURE"


def test_few_rounds_do_not_decide() -> None:
    one = fp64((30e9, 31e9), rounds=5)
    assert judge(judgeable(report([one])), [expected(one, 40e9, 60e9)])[0].verdict == "UNSURE"


def test_what_was_planned_and_has_no_value_is_not_measured() -> None:
    one = fp64(None, value=None, outcome="invalid")
    (value,) = judge(judgeable(report([one])), [expected(one, 40e9, 60e9)])
    assert (value.verdict, value.better) == ("NOT MEASURED", None)
    other = expected(fp64((1, 2)), 1, 2, experiment="disk_block op=read")
    assert judge(judgeable(report([])), [other]) == [], "not planned"


def test_an_area_without_a_range_is_unknown() -> None:
    one = fp64((45e9, 50e9))
    assert [v.verdict for v in judge(judgeable(report([one])), [])] == ["UNKNOWN"]
    assert [v.verdict for v in judge(judgeable(report([one])), [expected(one, 1, 2, unit="B/s")])] == ["NOT MEASURED"]


def test_loopback_and_oversubscription_are_not_judged() -> None:
    loopback = msgspec.structs.replace(fp64((45e9, 50e9)), facts={"is_local": 1.0})
    many = msgspec.structs.replace(fp64((45e9, 50e9)), oversubscribed=True)
    assert judge(judgeable(report([loopback])), []) == judge(judgeable(report([many])), []) == []


def test_the_worst_value_decides_on_an_area() -> None:
    first, second = fp64((45e9, 50e9)), with_summary(fp64((45e9, 50e9)), params={"threads": 1})
    second = msgspec.structs.replace(second, id="cpu_flops threads=1")
    values = judge(judgeable(report([first, second])), [expected(first, 40e9, 60e9), expected(second, 60e9, 80e9)])
    assert [value.verdict for value in areas_of(values)["cpu"]] == ["BELOW", "AS EXPECTED"]
