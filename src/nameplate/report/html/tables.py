"""A probe's own tables as the HTML report shows them: each figure as in the terminal, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

from nameplate.records.model import Quantity, Table
from nameplate.report.format import cell_text, interval_text


@dataclass(frozen=True)
class TableEntry:
    """A cell's text; ``interval`` is empty where there is none."""

    text: str
    interval: str


@dataclass(frozen=True)
class OwnTable:
    """A table of a probe; the first entry of a row names it."""

    title: str
    headings: list[str]
    rows: list[list[TableEntry]]
    notes: list[str]


def own_table(table: Table) -> OwnTable:
    """In the words of the page."""
    return OwnTable(table.title, table.headings, [[_entry(cell) for cell in row] for row in table.rows], table.notes)


def _entry(cell: str | Quantity | None) -> TableEntry:
    interval = interval_text(cell.value, cell.ci, cell.unit) if isinstance(cell, Quantity) and cell.ci else ""
    return TableEntry(cell_text(cell), interval)
