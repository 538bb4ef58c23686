"""The JSON of github-action-benchmark."""

from __future__ import annotations

import json

import msgspec

from nameplate.report.exports import export_names, find_export
from nameplate.report.exports.github_action_benchmark import export
from report_samples import failed, memory_report, report, result, with_summary


def test_a_value_has_its_unit_and_its_range() -> None:
    made = report([result({"threads": 2}, 50e9), failed({"threads": 4}, "skipped", "no such cores")])
    actual = export(made)
    assert json.loads(actual["bigger-is-better.json"]) == [
        {"name": "cpu_flops threads=2 rate", "unit": "FLOP/s", "value": 50e9, "range": "± 1e+09", "extra": "rounds: 6"}
    ]
    assert json.loads(actual["smaller-is-better.json"]) == []


def test_an_unknown_interval_has_no_range() -> None:
    (entry,) = json.loads(export(report([with_summary(result({"threads": 2}), ci=None)]))["bigger-is-better.json"])
    assert "range" not in entry


def test_a_time_is_in_the_other_file() -> None:
    slow = msgspec.structs.replace(with_summary(result({"threads": 2}), metric="latency", unit="s"), better="lower")
    actual = export(report([slow]))
    assert json.loads(actual["bigger-is-better.json"]) == []
    assert [entry["name"] for entry in json.loads(actual["smaller-is-better.json"])] == ["cpu_flops threads=2 latency"]


def test_every_value_of_a_large_report_is_in_one_file() -> None:
    made = memory_report()
    entries = [entry for text in export(made).values() for entry in json.loads(text)]
    assert len(entries) == len({entry["name"] for entry in entries})
    assert len(entries) == sum(one.summary.value is not None for one in made.results)


def test_the_format_has_the_name_of_the_action() -> None:
    assert "github-action-benchmark" in export_names()
    assert find_export("github-action-benchmark") is export
