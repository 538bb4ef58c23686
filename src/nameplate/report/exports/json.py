"""Export JSON: ``{"schema", "machine", "plan", "rows"}``, values in SI base units."""

from __future__ import annotations

import msgspec

from nameplate.records.model import SCHEMA, Report


def export(report: Report) -> str:
    """Return one JSON object; each row has exactly the fields of ``Summary``."""
    rows = [msgspec.to_builtins(result.summary) for result in report.results]
    document: dict[str, object] = {
        "schema": SCHEMA,
        "machine": report.machine or {},
        "plan": report.run.plan.name,
        "rows": rows,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
