"""Bencher Metric Format."""

from __future__ import annotations

import json
import re

from nameplate.report.exports import bmf
from report_samples import failed, memory_report, report, result, with_summary


def test_a_measure_has_its_value_and_its_interval() -> None:
    made = report([result({"threads": 2}, 50e9), failed({"threads": 4}, "skipped", "no such cores")])
    assert json.loads(bmf.export(made)) == {
        "cpu_flops threads=2": {"rate-flop-per-s": {"value": 50e9, "lower_value": 49e9, "upper_value": 51e9}}
    }


def test_an_unknown_interval_is_left_out() -> None:
    made = report([with_summary(result({"threads": 2}, 50e9), ci=None, metric="per cycle", unit="FLOP/cycle")])
    assert json.loads(bmf.export(made)) == {"cpu_flops threads=2": {"per-cycle-flop-per-cycle": {"value": 50e9}}}


def test_every_value_of_a_large_report_is_there_once() -> None:
    made = memory_report()
    actual = json.loads(bmf.export(made))
    slugs = [slug for measures in actual.values() for slug in measures]
    assert len(slugs) == sum(one.summary.value is not None for one in made.results)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) for slug in slugs)


def test_no_result_is_an_empty_object() -> None:
    assert bmf.export(report([])) == "{}\n"
