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

    The value is the median in the SI base unit, which the name has in words, such as ``bytes_per_second``; the name has
    no ``_UNIT`` for a bare number, and not twice if METRIC ends with it. The bounds of the value's interval, if it is
    known, are gauges with ``_low`` and ``_high`` before the unit. The share of the reference value, if there is one, is
    ``nameplate_METRIC_efficiency_ratio``. The labels are ``machine`` (the host name, or "" without a machine record),
    ``probe`` and the parameters; a parameter named like one of the first two is prefixed with ``param_``. A metric that
    was measured as one long series also has the label ``series``, since it may have been measured in rounds, too. The
    gauge ``nameplate_run_started_seconds``, which is always there, is the Unix time at which the run started. The text
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
    return "".join(_family(name, lines) for name, lines in families.items()) + "# EOF\n"


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


def _family(name: str, lines: list[str]) -> str:
    return f"# TYPE {name} gauge\n" + "".join(f"{line}\n" for line in dict.fromkeys(lines))


def _labels(own: Mapping[str, str], params: Mapping[str, object]) -> str:
    named = {(f"param_{name}" if name in own else _name(name)): str(value) for name, value in params.items()}
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in {**own, **named}.items())


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _name(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]+", "_", text).strip("_")


def _joined(base: str, unit: str) -> str:
    return base if not unit or base.endswith(f"_{unit}") else f"{base}_{unit}"
