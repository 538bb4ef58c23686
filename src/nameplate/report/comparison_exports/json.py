"""Export a comparison as JSON: ``{"schema", "verdict", "notes": […], "rows": […]}``, values in SI base units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from nameplate.comparison.metric_rows import overall_verdict
from nameplate.comparison.run_comparison import RunComparison
from nameplate.records.run_record import SCHEMA
from nameplate.statistics.verdict import Verdict


def export(found: RunComparison, limit: float) -> str:
    """Return JSON with the verdict on the runs, and a row for each metric that both have, as ``ComparisonRow``.

    The notes say what is not read of inputs that are outputs of other tools.
    """
    return json_text(found.rows, overall_verdict(found.rows, limit), found.notes)


def json_text(rows: Sequence[msgspec.Struct], verdict: Verdict | None = None, notes: Sequence[str] = ()) -> str:
    """Return JSON with the version of the record format, the verdict if there is one, the notes, and these rows.

    It is indented, with a line feed at its end.
    """
    of_runs = {"verdict": verdict} if verdict else {}
    document: dict[str, Any] = {"schema": SCHEMA, **of_runs, "notes": notes, "rows": rows}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
