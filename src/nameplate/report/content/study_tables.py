"""Lay out a study's tables as rows of text: the value of this run, the published value, and their ratio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nameplate.records.result import Quantity, Report, Table
from nameplate.records.study_record import StudyCell, StudyTable, StudyValue

# A table must fit a terminal of this width.
MAX_WIDTH = 100
_NUMBER_WIDTH = 13
_MARKS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
_Row = list[str | Quantity | None]


def all_tables(report: Report) -> list[Table]:
    """Return the tables of a run: those of its probes, then those of the study, then those of reference tools.

    The study's tables are laid out by ``study_table``. The list is empty if the run has no tables.
    """
    study = [study_table(table) for table in report.study.tables] if report.study else []
    probes = [table for table in report.tables if table.probe]
    return [*probes, *study, *(table for table in report.tables if not table.probe)]


def study_table(table: StudyTable) -> Table:
    """Return a study's table laid out as text, with the run's value, the published one and their ratio.

    Where nameplate defines the quantity otherwise, its own value is added. The values of an entry share a row, in one
    column each, if the table is at most ``MAX_WIDTH`` characters wide; otherwise they are in one row each, and the
    second column says which value it is. Kinds of values that no entry has are left out. The unit is in the title if it
    is the same for all columns, otherwise in the headings. Remarks become notes, referred to by raised letters.
    """
    footnotes = _Footnotes()
    units = {column.unit for column in table.columns}
    title = f"{table.title} ({next(iter(units))})" if len(units) == 1 and units != {""} else table.title
    names = [c.name if len(units) == 1 or not c.unit else f"{c.name} ({c.unit})" for c in table.columns]
    kinds = _kinds(table)
    width = max(map(len, [*table.rows, table.corner])) + len(names) * len(kinds) * _NUMBER_WIDTH
    rows: list[_Row]
    if len(kinds) == 1:
        headings, rows = [table.corner, *names], [
            [name, *(footnotes.marked(cell) for cell in own)] for name, own in zip(table.rows, table.cells, strict=True)
        ]  # fmt: skip
    elif width <= MAX_WIDTH:
        headings = [table.corner, *(kind if kind != table.here else name for name in names for kind in kinds)]
        rows = [
            _side_by_side(name, own, table, kinds, footnotes) for name, own in zip(table.rows, table.cells, strict=True)
        ]
    else:
        headings = [table.corner, "", *names]
        rows = [row for name, own in zip(table.rows, table.cells, strict=True)
                for row in _stacked(name, own, table, kinds, footnotes)]  # fmt: skip
    return Table("", title, headings, rows, [*footnotes.notes(), *table.notes])


def ratio(cell: StudyCell) -> float | None:
    """Return the run's value divided by the published one (``here / published``).

    The result is None unless both are floats, or if the published value is 0.
    """
    if isinstance(cell.here, float) and isinstance(cell.published, float) and cell.published:
        return cell.here / cell.published
    return None


def number(value: StudyValue) -> str | None:
    """Return a number as text with up to four significant digits; text and None are returned as they are.

    Numbers of at least 10000 in magnitude are rounded to whole ones, with commas between thousands (``12,346``).
    Smaller ones have no trailing zeros, so that 0.5 is ``0.5``; those below 0.0001 in magnitude have an exponent.
    """
    if value is None or isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 9999.5 else f"{value:.4g}"


def _kinds(table: StudyTable) -> list[str]:
    """Return the lines that each row of the table has: those for which any entry has a value."""
    cells = [cell for row in table.cells for cell in row]
    has_published = any(cell.published is not None for cell in cells)
    kinds = [table.here]
    kinds += ["published"] if has_published else []
    kinds += ["ratio"] if has_published and table.has_ratio else []
    return [*kinds, *([table.own] if table.own and any(cell.own is not None for cell in cells) else [])]


def _side_by_side(name: str, cells: Sequence[StudyCell], table: StudyTable, kinds: Sequence[str], footnotes: _Footnotes
            ) -> _Row:  # fmt: skip
    return [name, *(_text(kind, cell, table, footnotes) for cell in cells for kind in kinds)]


def _stacked(name: str, cells: Sequence[StudyCell], table: StudyTable, kinds: Sequence[str], footnotes: _Footnotes
             ) -> Iterator[_Row]:  # fmt: skip
    """Yield one line for each kind of value; after the first, empty lines are left out."""
    for index, kind in enumerate(kinds):
        shown = [_text(kind, cell, table, footnotes) for cell in cells]
        if index == 0 or any(text is not None for text in shown):
            yield ["" if index else name, kind, *shown]


def _text(kind: str, cell: StudyCell, table: StudyTable, footnotes: _Footnotes) -> str | None:
    if kind == table.here:
        return footnotes.marked(cell)
    if kind == "ratio":
        return number(_three_digits(ratio(cell)))
    return number(cell.published if kind == "published" else cell.own)


def _three_digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


class _Footnotes:
    """The remarks on a table's entries, each with its own mark."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def marked(self, cell: StudyCell) -> str | None:
        """Return the run's value followed by the marks of its remarks, or None if the cell has neither."""
        marks = "".join(self._marks.setdefault(each, self._next()) for each in cell.remarks)
        text = number(cell.here)
        return f"{text or '–'}{marks}" if marks else text

    def notes(self) -> list[str]:
        """Return every remark that ``marked`` met so far as a sentence after its mark, in order of appearance."""
        return [f"{mark} {words[:1].upper()}{words[1:]}." for words, mark in self._marks.items()]

    def _next(self) -> str:
        return _MARKS[len(self._marks) % len(_MARKS)]
