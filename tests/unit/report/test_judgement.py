"""The verdict of `check` on a machine."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judging import judge
from nameplate.records.result import Result
from nameplate.report.content.judgement import MachineJudgement, verdict_sentence
from nameplate.results.judgeable import judgeable
from report_samples import report, result, with_summary

PEERS = "the median of 52 machines (Zen 4)"


def judged(value: float, half: float, low: float = 60e-9, high: float = 160e-9) -> MachineJudgement:
    """Return the judgement on a memory latency in seconds with an interval; the median of other machines is 100 ns."""
    made = with_summary(
        result({"size": 1 << 30}, value, probe="memory_latency"), metric="latency", unit="s",
        ci=(value - half, value + half),
    )  # fmt: skip
    one: Result = msgspec.structs.replace(made, better="lower")
    expected = ExpectedRange(
        experiment=one.id, metric="latency", kind="typical", unit="s", low=low, typical=100e-9, high=high, machines=52
    )
    expectation = Expectation(
        kind="catalogue", machine="M", provisional=False, ranges=[expected], origins=["source"], peers=[PEERS]
    )
    return MachineJudgement(judge(judgeable(report([one])), [expected]), expectation)


def test_a_value_far_from_the_median_is_named_beside_it() -> None:
    assert verdict_sentence(judged(148e-9, 2e-9)) == (
        f"UNSURE: memory is undecided: latency 48 % worse than {PEERS}, but within what the slowest of them deliver."
    )


@pytest.mark.parametrize("value", [99e-9, 158e-9])
def test_an_interval_that_is_too_wide_needs_a_longer_run(value: float) -> None:
    assert verdict_sentence(judged(value, 40e-9)).endswith("undecided: a longer run gives narrower intervals.")


def test_a_wide_range_names_what_narrows_it() -> None:
    sentence = verdict_sentence(judged(148e-9, 2e-9, low=50e-9, high=151e-9))
    assert sentence.endswith(
        "; the range of latency is wider than a factor of 3: give the instance type with --type, or learn from "
        "machines like this one."
    )


def test_without_an_unsure_value_no_peers_are_named() -> None:
    as_expected = judged(105e-9, 1e-9)
    assert verdict_sentence(as_expected) == "AS EXPECTED: memory delivers what was expected."
    assert verdict_sentence(replace(as_expected, values=[])).startswith("UNKNOWN: ")
