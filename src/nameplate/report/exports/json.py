"""Export JSON: ``{"schema", "machine", "plan", "headline", "rows"}``, values in SI base units."""

from __future__ import annotations

import msgspec

from nameplate.records.result import Report
from nameplate.records.run_record import SCHEMA
from nameplate.report.content.first_screen import first_screen


def export(report: Report) -> str:
    """Return one indented JSON object with the keys ``schema``, ``machine``, ``plan``, ``headline`` and ``rows``.

    ``headline`` is what the first screen shows, with the fields of ``FirstScreen``.
    ``rows`` has one object per metric of each experiment, with exactly the fields of ``Summary``, where null is an
    unknown value. ``machine`` is the machine record, or ``{}`` if the run has none. ``plan`` is the plan's name, and
    ``schema`` the number ``SCHEMA``. The outputs of other tools have the key ``imported`` as well, with the name, the
    tool, its version and the SHA-256 of each file.
    """
    rows = [msgspec.to_builtins(result.summary) for result in report.results]
    document: dict[str, object] = {
        "schema": SCHEMA,
        "machine": report.machine or {},
        "plan": report.run.plan.name,
        "headline": first_screen(report),
        "rows": rows,
    }
    if report.imported:
        document["imported"] = report.imported
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
