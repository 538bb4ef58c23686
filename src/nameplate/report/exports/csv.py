"""Export CSV: one row per metric, one column per field and parameter, values in SI base units."""

from __future__ import annotations

import csv
import io

import msgspec

from nameplate.records.result import Report
from nameplate.report.formats.csv_cells import plain


def export(report: Report) -> str:
    """Return CSV with a header line and one row per metric of each experiment, in the order of the report.

    The columns are ``probe``, ``param.NAME`` for each parameter of any row, and the other fields of ``Summary`` except
    ``over_time``. The last four columns are the bounds of the intervals: ``ci_low``, ``ci_high``, ``capability_ci_low``
    and ``capability_ci_high``. Values are in SI base units. A cell is empty if the value is unknown or the experiment
    does not have the parameter. Text that a spreadsheet would read as a formula is prefixed with ``'``. Lines end with
    a line feed. If the report has no results, the text is the header line ``probe``.
    """
    rows = [msgspec.to_builtins(result.summary) for result in report.results]
    names = list(dict.fromkeys(name for row in rows for name in row["params"]))
    table = [_flat(row, names) for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table[0]) if table else ["probe"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: plain(value) for name, value in row.items()} for row in table)
    return text.getvalue()


def _flat(row: dict[str, object], names: list[str]) -> dict[str, object]:
    params = row.pop("params")
    row.pop("over_time")
    assert isinstance(params, dict)
    bounds: dict[str, object] = {}
    for name in ("ci", "capability_ci"):
        interval = row.pop(name)
        low, high = interval if isinstance(interval, tuple | list) else (None, None)
        bounds |= {f"{name}_low": low, f"{name}_high": high}
    probe = row.pop("probe")
    return {"probe": probe, **{f"param.{n}": params.get(n) for n in names}, **row, **bounds}
