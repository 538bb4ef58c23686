"""Values that studies have published, as printed: one CSV file for each plan that reproduces a study.

``PLAN.csv`` has the tables whose values nameplate measures. If the printed unit cannot be right, ``corrected_unit`` is
the unit that the study's other values imply, or empty if none can be derived. ``more.csv`` has the values of the
documents' other tables and of their text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

_FOLDER = Path(__file__).parent
_MORE = "more"


class Printed(msgspec.Struct, frozen=True):
    """A number of a document: its ``value``, and the ``text`` with the digits that the document prints."""

    value: float
    text: str

    @classmethod
    def of(cls, text: str) -> Printed:
        """Return the number that a text prints, such as "12.196"."""
        return cls(float(text), text)

    def scaled(self, power: int) -> Printed:
        """Return the number times 10 to the ``power``, with the same digits: 0.000205 becomes 0.205 for 3."""
        text = f"{Decimal(self.text).scaleb(power):f}"
        return Printed.of(text)


class Published(msgspec.Struct, frozen=True):
    """One printed value of a study: a row of ``PLAN.csv``.

    - ``table``: the name of the study's table
    - ``probe``: the probe that does the same work, or the reference tool that the study ran: iozone, linpack or stream
    - ``op``, ``pattern``, ``protocol``, ``block_bytes``, ``threads``: identify the measurement within its table; ``op``
      is an operation such as "read", or a size such as "n=1000". A field that does not apply is "" or None.
    - ``metric``: the name of the metric; ``value``: the value in ``unit``; ``text``: the value with the printed digits
    - ``corrected_unit``: the correct unit, usually the same as ``unit``; "" if it cannot be derived
    - ``note``: a remark on the transcription, or ""
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
    text: str

    @property
    def printed(self) -> Printed:
        """Return the value with the digits that the document prints."""
        return Printed(self.value, self.text)


def largest(printed: Iterable[Printed]) -> Printed:
    """Return the number with the largest value; ``printed`` must not be empty."""
    return max(printed, key=lambda number: number.value)


@cache
def published(plan: str) -> tuple[Published, ...]:
    """Return the published values of the study that a plan reproduces, in the order of its document.

    ``plan`` is one of ``study_names()``, such as "cs553-kvm"; the result for any other plan is empty. Values in
    ``more.csv`` are not included.
    """
    return tuple(_read(row) for row in _rows(plan))


@cache
def published_items(plan: str, table: str) -> Mapping[str, Printed]:
    """Return the published values of a study that are in ``more.csv``, by name, in the order of its document.

    ``plan`` and ``table`` are the contents of the columns ``study`` and ``table``, such as "cs553-kvm" and
    "iperf3-client". The names are from the column ``item``. Each value is in the unit of the column ``unit``, which is
    not returned. Rows without a value are left out. The result is empty if the plan or the table is unknown.
    """
    rows = (row for row in _rows(_MORE) if (row["study"], row["table"]) == (plan, table) and row["value"])
    return {row["item"]: Printed.of(row["value"]) for row in rows}


def _rows(name: str) -> Iterator[dict[str, str]]:
    path = _FOLDER / f"{name}.csv"
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


def _read(row: Mapping[str, str]) -> Published:
    numbers: dict[str, Any] = {name: int(row[name]) if row[name] else None for name in ("block_bytes", "threads")}
    return msgspec.convert({**row, **numbers, "value": float(row["value"]), "text": row["value"]}, Published)
