"""Figures that others published, for the plans that reproduce their studies: one CSV file per plan, as printed.

Where the printed unit cannot be right, ``corrected_unit`` is the one that the study's other figures imply; without one,
it cannot be told.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import msgspec

_FOLDER = Path(__file__).parent


class Published(msgspec.Struct, frozen=True):
    """One printed figure; what does not belong to its kind of measurement is empty or None."""

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
    """What the study of a plan printed, in its order; nothing for a plan that reproduces none."""
    path = _FOLDER / f"{plan}.csv"
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_read(row) for row in csv.DictReader(file))


def _read(row: dict[str, str]) -> Published:
    numbers: dict[str, object] = {name: int(row[name]) if row[name] else None for name in ("block_bytes", "threads")}
    return msgspec.convert({**row, **numbers, "value": float(row["value"])}, Published)
