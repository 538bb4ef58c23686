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
    """One printed value of a study: a row of ``PLAN.csv``.

    ``table`` names the study's table. ``probe`` is nameplate's probe of the same work, or the reference tool that the
    study ran: iozone, linpack or stream. ``op``, ``pattern``, ``protocol``, ``block_bytes`` and ``threads`` identify
    the measurement within its table; ``op`` is an operation such as "read", or a size such as "n=1000". Those that do
    not apply are "" or None. ``value`` is in ``unit`` as printed. ``corrected_unit`` is the unit that the value really
    has, which is usually the same; it is "" if it cannot be derived. ``note`` is a remark on the transcription, or "".
    """

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
    """Return the values of the tables of a plan's study, in the document's order.

    ``plan`` is one of ``study_names()``, such as "cs553-kvm". Any other plan reproduces no study and gives an empty
    tuple.
    """
    return tuple(_read(row) for row in _rows(plan))


@cache
def published_items(plan: str, table: str) -> Mapping[str, float]:
    """Return values of a study that are not in its ``PLAN.csv``, by name, in the document's order and units.

    ``plan`` and ``table`` are the columns ``study`` and ``table`` of ``more.csv``, such as "cs553-kvm" and
    "iperf3-client"; the names are its column ``item``, and the units, which are not returned, its column ``unit``. Rows
    without a value are left out. The mapping is empty if the plan or the table is unknown.
    """
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
