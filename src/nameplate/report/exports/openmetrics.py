"""Export OpenMetrics text, as read by Prometheus and by the textfile collector of its node_exporter.

Source: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md, version 1.0.0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from nameplate.records.result import Report, Summary

_UNITS = {
    "B/s": "bytes_per_second", "bit/s": "bits_per_second", "FLOP/s": "flop_per_second", "op/s": "operations_per_second",
    "s": "seconds", "Hz": "hertz", "B": "bytes", "share": "ratio", "": "",
}  # fmt: skip


def export(report: Report) -> str:
    """Return OpenMetrics text with a gauge ``nameplate_METRIC_UNIT`` for each metric that has a value.

    The value is the typical value (the median of the rounds) in the SI base unit. UNIT is the unit spelled out, such as
    ``bytes_per_second``; ``_UNIT`` is left out for a bare number and if METRIC already ends with ``_UNIT``. The bounds
    of the 95 % interval, if it is known, are the gauges ``nameplate_METRIC_low_UNIT`` and
    ``nameplate_METRIC_high_UNIT``. Value ÷ reference value, if there is a reference value, is the gauge
    ``nameplate_METRIC_efficiency_ratio``.

    The labels are ``machine`` (the host name, or "" without a machine record), ``probe``, and the parameters of the
    experiment; a parameter named like another label is prefixed with ``param_``. A metric that was measured as one long
    series also has the label ``series="true"``, which distinguishes it from the same metric measured in rounds. The
    gauge ``nameplate_run_started_seconds``, which the text always has, is the start of the run in Unix time. The text
    ends with ``# EOF``.
    """
    machine = {"machine": report.machine.hostname if report.machine else ""}
    families: dict[str, list[str]] = {}
    for result in report.results:
        for name, value in _values(result.summary):
            series = {"series": "true"} if result.is_series else {}
            labels = _labels({**machine, "probe": result.summary.probe, **series}, result.summary.params)
            families.setdefault(name, []).append(f"{name}{{{labels}}} {value!r}")
    started = datetime.fromisoformat(report.run.started).timestamp()
    families["nameplate_run_started_seconds"] = [f"nameplate_run_started_seconds{{{_labels(machine, {})}}} {started!r}"]
    lines = [line for name, points in families.items() for line in (f"# TYPE {name} gauge", *dict.fromkeys(points))]
    return "\n".join([*lines, "# EOF\n"])


def _values(row: Summary) -> Iterator[tuple[str, float]]:
    if row.value is None:
        return
    unit = _UNITS.get(row.unit, _name(row.unit))
    base = f"nameplate_{_name(row.metric)}"
    yield _joined(base, unit), row.value
    if row.ci:
        yield _joined(f"{base}_low", unit), row.ci[0]
        yield _joined(f"{base}_high", unit), row.ci[1]
    if row.efficiency is not None:
        yield f"{base}_efficiency_ratio", row.efficiency


def _labels(labels: Mapping[str, str], params: Mapping[str, object]) -> str:
    named = {(f"param_{name}" if name in labels else _name(name)): str(value) for name, value in params.items()}
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in {**labels, **named}.items())


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _name(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]+", "_", text).strip("_")


def _joined(base: str, unit: str) -> str:
    return base if not unit or base.endswith(f"_{unit}") else f"{base}_{unit}"
