"""Convert a probe's own tables for the HTML report: each value as in the terminal, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

from nameplate.records.model import Quantity, Table
from nameplate.report.format import cell_text, interval_text


@dataclass(frozen=True)
class TableEntry:
    """The text of a table cell; ``interval`` is empty if there is none."""

    text: str
    interval: str


@dataclass(frozen=True)
class HtmlTable:
    """A table of a probe; the first entry of a row is its name."""

    title: str
    headings: list[str]
    rows: list[list[TableEntry]]
    notes: list[str]


def html_table(table: Table) -> HtmlTable:
    """Return the table with its values as text."""
    return HtmlTable(table.title, table.headings, [[_entry(cell) for cell in row] for row in table.rows], table.notes)


def _entry(cell: str | Quantity | None) -> TableEntry:
    interval = interval_text(cell.value, cell.ci, cell.unit) if isinstance(cell, Quantity) and cell.ci else ""
    return TableEntry(cell_text(cell), interval)
