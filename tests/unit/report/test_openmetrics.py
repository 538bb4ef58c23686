from __future__ import annotations

import msgspec
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from machines import HOST
from nameplate.records.result import Report
from nameplate.report.exports import openmetrics
from report_samples import failed, memory_report, report, result, with_summary


def samples(made: Report) -> dict[tuple[str, str], float]:
    """Return the samples that Prometheus's own parser finds, by name and ``threads``."""
    families = text_string_to_metric_families(openmetrics.export(made))
    return {(s.name, s.labels.get("threads", "")): s.value for family in families for s in family.samples}


def test_a_value_has_its_interval_and_share() -> None:
    actual = samples(report([result({"threads": 2}, 50e9), failed({"threads": 4}, "skipped", "no such cores")]))
    assert actual == {
        ("nameplate_rate_flop_per_second", "2"): 50e9,
        ("nameplate_rate_low_flop_per_second", "2"): 49e9,
        ("nameplate_rate_high_flop_per_second", "2"): 51e9,
        ("nameplate_rate_efficiency_ratio", "2"): 0.5,
        ("nameplate_run_started_seconds", ""): 1767323045.0,
    }


def test_a_series_is_not_the_same_gauge_as_its_rounds() -> None:
    rounds = result({"threads": 2}, 50e9)
    made = report([rounds, msgspec.structs.replace(rounds, is_series=True)])
    labels = [s.labels for f in text_string_to_metric_families(openmetrics.export(made)) for s in f.samples]
    assert len({tuple(sorted(label.items())) for label in labels if "probe" in label}) == 2


def test_every_value_of_a_large_report_is_read_back() -> None:
    made = memory_report()
    families = list(text_string_to_metric_families(openmetrics.export(made)))
    assert {family.type for family in families} == {"gauge"}
    assert {s.labels["machine"] for family in families for s in family.samples} == {HOST}
    latencies = [s for f in families if f.name == "nameplate_latency_seconds" for s in f.samples]
    assert len(latencies) == sum(r.summary.metric == "latency" and r.summary.value is not None for r in made.results)


@pytest.mark.parametrize("text", ['a "quoted" one', "back\\slash", "new\nline", '"} 1\nevil 2'])
def test_hostile_text_is_only_a_label(text: str) -> None:
    made = report([result({"mix": text, "probe": "x"})], host=text)
    (sample,) = [
        s
        for family in text_string_to_metric_families(openmetrics.export(made))
        for s in family.samples
        if s.name == "nameplate_rate_flop_per_second"
    ]
    assert sample.labels == {"machine": text, "probe": "cpu_flops", "mix": text, "param_probe": "x"}


def test_an_unknown_unit_is_part_of_the_name() -> None:
    odd = with_summary(result({"threads": 1}), unit="FLOP/cycle", metric="per cycle")
    assert ("nameplate_per_cycle_FLOP_cycle", "1") in samples(report([odd]))
