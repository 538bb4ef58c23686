"""Export Bencher Metric Format, which ``bencher run --adapter json`` reads.

Source: https://bencher.dev/docs/reference/bencher-metric-format/
"""

from __future__ import annotations

import json
import re

from nameplate.records.result import Report, Summary


def export(report: Report) -> str:
    """Return Bencher Metric Format: a benchmark for each experiment, a measure for each of its metrics with a value.

    A benchmark has the id of the experiment as its name. A measure is named by the metric and its unit, such as
    ``bandwidth-b-per-s``, as Bencher makes slugs. ``value`` is the typical value in the SI base unit; ``lower_value``
    and ``upper_value`` are the bounds of its 95 % interval and are left out if it is unknown. Values of other tools
    that a run imported are included. Without results the text is ``{}``.
    """
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for result in report.results:
        row = result.summary
        if row.value is not None:
            benchmarks.setdefault(result.id, {})[_measure(row)] = _values(row, row.value)
    return json.dumps(benchmarks, indent=2, ensure_ascii=False) + "\n"


def _values(row: Summary, value: float) -> dict[str, float]:
    bounds = {"lower_value": row.ci[0], "upper_value": row.ci[1]} if row.ci else {}
    return {"value": value, **bounds}


def _measure(row: Summary) -> str:
    unit = row.unit.replace("/", " per ")
    return re.sub(r"[^a-z0-9]+", "-", f"{row.metric} {unit}".lower()).strip("-")
