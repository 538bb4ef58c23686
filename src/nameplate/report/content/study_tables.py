"""Lay out a study's tables as rows of text: the value of this run, the published value, and their ratio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nameplate.records.result import Quantity, Report, Table
from nameplate.records.study_record import StudyCell, StudyTable, StudyValue

# The maximum width of a table in characters.
MAX_WIDTH = 100
_DIGITS = 4
_NUMBER_WIDTH = 13
_MARKS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
_Row = list[str | Quantity | None]


def all_tables(report: Report) -> list[Table]:
    """Return all tables of a run: the tables of probes, then of the study, then of reference tools.

    The tables of the study are laid out by ``study_table``. The list is empty if the run has no tables.
    """
    study = [study_table(table) for table in report.study.tables] if report.study else []
    probes = [table for table in report.tables if table.probe]
    return [*probes, *study, *(table for table in report.tables if not table.probe)]


def study_table(table: StudyTable) -> Table:
    """Return a study's table laid out as text, with the run's value, the published one and their ratio.

    If nameplate's definition of the quantity differs from the study's, the value by nameplate's definition is added.
    The values of an entry share a row, in one column each, if the table is then at most ``MAX_WIDTH`` (100) characters
    wide; otherwise each is in a separate row, and the second column names the kind of value. Kinds of values that no
    entry has are left out. The unit is in the title if all columns have the same unit, otherwise in the headings.
    Remarks become notes, to which raised letters refer.
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
            [name, *(footnotes.marked(cell) for cell in cells)]
            for name, cells in zip(table.rows, table.cells, strict=True)
        ]  # fmt: skip
    elif width <= MAX_WIDTH:
        headings = [table.corner, *(kind if kind != table.here else name for name in names for kind in kinds)]
        rows = [
            [name, *(_text(kind, cell, table, footnotes) for cell in cells for kind in kinds)]
            for name, cells in zip(table.rows, table.cells, strict=True)
        ]
    else:
        headings = [table.corner, "", *names]
        rows = [row for name, cells in zip(table.rows, table.cells, strict=True)
                for row in _stacked(name, cells, table, kinds, footnotes)]  # fmt: skip
    return Table("", title, headings, rows, [*footnotes.notes(), *table.notes])


def ratio(cell: StudyCell) -> float | None:
    """Return the run's value divided by the published one (``here / published``).

    The result is None unless both are floats, or if the published value is 0.
    """
    if isinstance(cell.here, float) and isinstance(cell.published, float) and cell.published:
        return cell.here / cell.published
    return None


def number(value: StudyValue, digits: int = _DIGITS) -> str | None:
    """Return a number as text with up to ``digits`` significant digits; text and None are returned unchanged.

    Digits before the decimal point are never rounded away, so that 12345.6 is ``12346``. There are no trailing zeros,
    so that 0.5 is ``0.5``; numbers below 0.0001 in magnitude have an exponent.
    """
    if value is None or isinstance(value, str):
        return value
    return f"{value:.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"


def digits_of(cell: StudyCell) -> int:
    """Return the significant digits with which the values of a cell are shown: those of the document, at least four."""
    mantissa = cell.printed.lower().partition("e")[0]
    return max(_DIGITS, len(mantissa.replace(".", "").lstrip("-0")))


def _kinds(table: StudyTable) -> list[str]:
    """Return the kinds of values for which any entry of the table has a value, always starting with ``table.here``."""
    cells = [cell for row in table.cells for cell in row]
    has_published = any(cell.published is not None for cell in cells)
    kinds = [table.here]
    kinds += ["published"] if has_published else []
    kinds += ["ratio"] if has_published and table.has_ratio else []
    return [
        *kinds,
        *([table.alternative] if table.alternative and any(cell.alternative is not None for cell in cells) else []),
    ]


def _stacked(name: str, cells: Sequence[StudyCell], table: StudyTable, kinds: Sequence[str], footnotes: _Footnotes
             ) -> Iterator[_Row]:  # fmt: skip
    """Yield one row for each kind of value; rows without a value are left out, except the first."""
    for index, kind in enumerate(kinds):
        texts = [_text(kind, cell, table, footnotes) for cell in cells]
        if index == 0 or any(text is not None for text in texts):
            yield ["" if index else name, kind, *texts]


def _text(kind: str, cell: StudyCell, table: StudyTable, footnotes: _Footnotes) -> str | None:
    if kind == table.here:
        return footnotes.marked(cell)
    if kind == "ratio":
        quotient = ratio(cell)
        return None if quotient is None else number(float(f"{quotient:.3g}"))
    if kind == "published":
        return cell.printed or number(cell.published)
    return number(cell.alternative, digits_of(cell))


class _Footnotes:
    """The remarks on a table's entries, each with a raised letter that refers to it."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def marked(self, cell: StudyCell) -> str | None:
        """Return the run's value followed by the marks of its remarks, or None if the cell has neither."""
        for remark in cell.remarks:
            self._marks.setdefault(remark, _MARKS[len(self._marks) % len(_MARKS)])
        marks = "".join(self._marks[remark] for remark in cell.remarks)
        text = number(cell.here, digits_of(cell))
        return f"{text or '–'}{marks}" if marks else text

    def notes(self) -> list[str]:
        """Return the remarks of all cells passed to ``marked`` so far, each once, as a mark and a sentence."""
        return [f"{mark} {remark[:1].upper()}{remark[1:]}." for remark, mark in self._marks.items()]
