"""Values that studies have published: one CSV file for each plan that reproduces a study, as printed.

``PLAN.csv`` has the tables whose values nameplate measures. Where the printed unit cannot be right, ``corrected_unit``
is the unit that the study's other values imply; it is empty where no unit can be derived. ``more.csv`` has the values
of the documents' other tables and of their text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

_FOLDER = Path(__file__).parent
_MORE = "more"


class Published(msgspec.Struct, frozen=True):
    """One printed value; a field that does not belong to its kind of measurement is empty or None."""

    table: str
    probe: str
    op: str
    pattern: str
    protocol: str
    block_bytes: int | None
    threads: int | None
    metric: str
    value: float
    unit: str
    corrected_unit: str
    note: str


@cache
def published(plan: str) -> tuple[Published, ...]:
    """Return the values of a plan's study in the document's order; nothing for a plan that reproduces no study."""
    return tuple(_read(row) for row in _rows(plan))


@cache
def published_items(plan: str, table: str) -> Mapping[str, float]:
    """Return the values of a further table of a plan's study by their names, in the document's order and units."""
    rows = (row for row in _rows(_MORE) if (row["study"], row["table"]) == (plan, table) and row["value"])
    return {row["item"]: float(row["value"]) for row in rows}


def _rows(name: str) -> Iterator[dict[str, str]]:
    path = _FOLDER / f"{name}.csv"
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


def _read(row: Mapping[str, str]) -> Published:
    numbers: dict[str, Any] = {name: int(row[name]) if row[name] else None for name in ("block_bytes", "threads")}
    return msgspec.convert({**row, **numbers, "value": float(row["value"])}, Published)
