"""OTLP metrics, read back by OpenTelemetry's own protocol buffers."""

from __future__ import annotations

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, ScopeMetrics

from nameplate.records.result import Report
from nameplate.report.exports.otlp import export
from report_samples import failed, memory_report, report, result, with_summary


def scope_of(made: Report) -> ScopeMetrics:
    """Return what the protocol's own parser reads, which refuses unknown names and wrong types."""
    (resource,) = Parse(export(made), ExportMetricsServiceRequest()).resource_metrics
    (scope,) = resource.scope_metrics
    assert isinstance(scope, ScopeMetrics)
    return scope


def metrics_of(made: Report) -> dict[str, Metric]:
    return {metric.name: metric for metric in scope_of(made).metrics}


def test_a_metric_is_a_gauge_with_a_point_for_each_experiment() -> None:
    actual = metrics_of(report([result({"threads": 1}, 25e9), result({"threads": 2}, 50e9)]))
    rate = actual["nameplate.cpu_flops.rate"]
    assert rate.unit == "{FLOP}/s"
    assert [point.as_double for point in rate.gauge.data_points] == [25e9, 50e9]
    assert [point.attributes[0].value.int_value for point in rate.gauge.data_points] == [1, 2]
    assert [point.as_double for point in actual["nameplate.cpu_flops.rate.low"].gauge.data_points][1] == 49e9
    assert [point.as_double for point in actual["nameplate.cpu_flops.rate.high"].gauge.data_points][1] == 51e9


def test_the_time_is_that_of_the_run() -> None:
    (point,) = metrics_of(report([result({"threads": 1})]))["nameplate.cpu_flops.rate"].gauge.data_points
    assert point.time_unix_nano > 1_700_000_000 * 10**9


def test_an_unknown_interval_and_a_missing_value_are_left_out() -> None:
    actual = metrics_of(
        report([with_summary(result({"threads": 2}), ci=None), failed({"threads": 4}, "skipped", "no")])
    )
    assert list(actual) == ["nameplate.cpu_flops.rate"]
    assert len(actual["nameplate.cpu_flops.rate"].gauge.data_points) == 1


def test_every_value_of_a_large_report_is_there_once() -> None:
    made = memory_report()
    points = [
        metric.gauge.data_points for name, metric in metrics_of(made).items() if not name.endswith((".low", ".high"))
    ]
    assert sum(map(len, points)) == sum(one.summary.value is not None for one in made.results)


def test_no_result_is_a_request_without_metrics() -> None:
    assert not scope_of(report([])).metrics
