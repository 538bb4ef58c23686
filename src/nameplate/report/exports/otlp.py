"""Export OTLP metrics as JSON, which an OpenTelemetry collector takes at ``/v1/metrics``.

Source: https://opentelemetry.io/docs/specs/otlp/, "JSON Protobuf Encoding", and opentelemetry/proto/metrics/v1
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime

from nameplate import __version__
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Summary

_NANOSECONDS = 10**9
# OpenTelemetry requires units of the Unified Code for Units of Measure (UCUM), in which "{…}" counts anything.
_UCUM = {"B": "By", "B/s": "By/s", "bit/s": "bit/s", "s": "s", "Hz": "Hz", "share": "1", "": "1"}


def export(report: Report) -> str:
    """Return an ``ExportMetricsServiceRequest`` as one line of JSON, with a gauge for each metric of each probe.

    The gauge ``nameplate.PROBE.METRIC`` has one data point per experiment: the typical value in the SI base unit. The
    gauges ``nameplate.PROBE.METRIC.low`` and ``nameplate.PROBE.METRIC.high`` have the bounds of the 95 % intervals that
    are known. The time of each point is the start of the run. The attributes of a point are the parameters of the
    experiment, and ``series`` if the experiment was measured as one long series. The attributes of the resource are
    ``service.name`` and, if the run has a machine record, ``host.name``. Metrics without a value are left out, so the
    list of metrics may be empty.
    """
    gauges: dict[tuple[str, str], list[dict[str, object]]] = {}
    time = str(round(datetime.fromisoformat(report.run.started).timestamp() * _NANOSECONDS))
    for result in report.results:
        row = result.summary
        for name, value in _values(row):
            attributes = row.params | ({"series": True} if result.is_series else {})
            point = {"attributes": _attributes(attributes), "timeUnixNano": time, "asDouble": value}
            gauges.setdefault((name, _unit(row.unit)), []).append(point)
    metrics = [{"name": name, "unit": unit, "gauge": {"dataPoints": points}} for (name, unit), points in gauges.items()]
    host: dict[str, Value] = {"host.name": report.machine.hostname} if report.machine else {}
    scope = {"scope": {"name": "nameplate", "version": __version__}, "metrics": metrics}
    resource = {"attributes": _attributes({"service.name": "nameplate", **host})}
    document = {"resourceMetrics": [{"resource": resource, "scopeMetrics": [scope]}]}
    return json.dumps(document, ensure_ascii=False) + "\n"


def _values(row: Summary) -> Iterator[tuple[str, float]]:
    if row.value is None:
        return
    name = f"nameplate.{row.probe}.{row.metric.replace(' ', '_')}"
    yield name, row.value
    if row.ci:
        yield f"{name}.low", row.ci[0]
        yield f"{name}.high", row.ci[1]


def _unit(unit: str) -> str:
    """Return the UCUM code of a unit of nameplate, such as ``{FLOP}/s`` for FLOP/s."""
    if unit in _UCUM:
        return _UCUM[unit]
    above, slash, below = unit.partition("/")
    return f"{{{above}}}{slash}{below if below in ('', 's') else f'{{{below}}}'}"


def _attributes(values: Mapping[str, Value]) -> list[dict[str, object]]:
    return [{"key": name, "value": _any_value(value)} for name, value in values.items()]


def _any_value(value: Value) -> dict[str, object]:
    if isinstance(value, int):
        return {"intValue": str(value)}  # JSON's numbers are not exact beyond 2⁵³, so the encoding has text
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}
