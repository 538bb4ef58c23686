"""Export Bencher Metric Format, which ``bencher run --adapter json`` reads.

Source: https://bencher.dev/docs/reference/bencher-metric-format/
"""

from __future__ import annotations

import json
import re

from nameplate.records.result import Report


def export(report: Report) -> str:
    """Return Bencher Metric Format: one benchmark per experiment, with one measure per metric that has a value.

    The name of a benchmark is the id of the experiment. The name of a measure is the metric and the unit in the form of
    a Bencher slug, such as ``bandwidth-b-per-s``. ``value`` is the typical value in the SI base unit; ``lower_value``
    and ``upper_value`` are the bounds of the 95 % interval of the typical value and are left out if the interval is
    unknown. Values imported from other tools are included. If no metric has a value, the text is ``{}``.
    """
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for result in report.results:
        row = result.summary
        if row.value is not None:
            unit = row.unit.replace("/", " per ")
            slug = re.sub(r"[^a-z0-9]+", "-", f"{row.metric} {unit}".lower()).strip("-")
            bounds = {"lower_value": row.ci[0], "upper_value": row.ci[1]} if row.ci else {}
            benchmarks.setdefault(result.id, {})[slug] = {"value": row.value, **bounds}
    return json.dumps(benchmarks, indent=2, ensure_ascii=False) + "\n"
