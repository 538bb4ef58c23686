"""Export a comparison as JSON: ``{"schema", "verdict", "gate", "notes", "rows"}``, values in SI base units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nameplate.comparison.run_comparison import RunComparison
from nameplate.records.run_record import SCHEMA


def export(comparison: RunComparison, limit: float) -> str:
    """Return indented JSON with ``schema``, ``verdict``, ``gate``, ``notes`` and ``rows``, and a line feed at the end.

    ``verdict`` is the verdict on the machine (``RunComparison.verdict`` with ``limit``, a share: 0.05 is 5 %), and
    ``gate`` has the fields of ``Gate``, or is null if every metric decides. ``rows`` has an object with the fields of
    ``ComparisonRow`` for each metric that both runs have, in SI base units. ``notes`` has sentences about inputs that
    other tools wrote, such as the parts that nameplate does not read. Both lists may be empty.
    """
    of_runs = {"verdict": comparison.verdict(limit), "gate": comparison.gate}
    return json_text(comparison.rows, of_runs, comparison.notes)


def json_text(rows: Sequence[msgspec.Struct], of_runs: Mapping[str, Any], notes: Sequence[str] = ()) -> str:
    """Return one indented JSON object with a line feed at the end, for any kind of comparison.

    Its keys are ``schema`` (the version of the record format), those of ``of_runs``, ``notes`` and ``rows``. ``rows``
    has one object per struct, with the fields of the struct.
    """
    document: dict[str, Any] = {"schema": SCHEMA, **of_runs, "notes": notes, "rows": rows}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
