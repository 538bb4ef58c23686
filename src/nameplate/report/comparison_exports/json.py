"""Export a comparison as JSON: ``{"schema", "rows": […]}``, values in SI base units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from nameplate.comparison.run_comparison import RunComparison
from nameplate.records.run_record import SCHEMA


def export(found: RunComparison, _limit: float) -> str:
    """Return JSON with a row for each metric that both runs have, of the fields of ``ComparisonRow``."""
    return json_text(found.rows)


def json_text(rows: Sequence[msgspec.Struct]) -> str:
    """Return JSON with the version of the record format and these rows, indented, with a line feed at its end."""
    document: dict[str, Any] = {"schema": SCHEMA, "rows": rows}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
