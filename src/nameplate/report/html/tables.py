"""Convert a probe's own tables for the HTML report: values as in the terminal, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

from nameplate.records.result import Quantity, Table
from nameplate.report.content.format import cell_text, interval_text

# A page of 1,400 pixels has space for this number of columns.
MAX_COLUMNS = 10


@dataclass(frozen=True)
class TableEntry:
    """One cell of a table as text.

    ``text`` is text, or a value with its unit; "–" means that there is no value. ``interval`` is the 95 % interval with
    its unit, such as ``1.129 to 1.221 ns``, or "" if there is none.
    """

    text: str
    interval: str


@dataclass(frozen=True)
class HtmlTable:
    """A table as text, with ``notes`` to show below it.

    Each of ``rows`` has one entry for each of ``headings``; the first entry is the name of the row.
    """

    title: str
    headings: list[str]
    rows: list[list[TableEntry]]
    notes: list[str]


def html_table(table: Table) -> HtmlTable:
    """Return the table as text: a value as in the terminal (``57.26 GFLOP/s``), text unchanged, and "–" for None.

    A table with more than 10 columns (``MAX_COLUMNS``) and fewer rows than columns is transposed; otherwise the order
    does not change. The field ``probe`` is left out.
    """
    headings, rows = table.headings, [[_entry(cell) for cell in row] for row in table.rows]
    if len(headings) > MAX_COLUMNS and len(rows) < len(headings):
        columns = zip(*rows, strict=True)
        names = next(columns, ())
        rows = [[TableEntry(heading, ""), *column] for heading, column in zip(headings[1:], columns, strict=True)]
        headings = [headings[0], *(name.text for name in names)]
    return HtmlTable(table.title, headings, rows, table.notes)


def _entry(cell: str | Quantity | None) -> TableEntry:
    interval = interval_text(cell.value, cell.ci, cell.unit) if isinstance(cell, Quantity) and cell.ci else ""
    return TableEntry(cell_text(cell), interval)
