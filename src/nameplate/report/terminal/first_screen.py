"""Print the first screen of a run: at most 24 lines of 80 characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from nameplate.planning.budget import MIN_ROUNDS
from nameplate.probes.shared.areas import label_of_area
from nameplate.report.content.brief import cells
from nameplate.report.content.first_screen import FirstScreen
from nameplate.report.content.format import count
from nameplate.report.content.screen_row import REFERENCE_KINDS, ScreenRow
from nameplate.report.terminal.columns import wrapped

_AREA_WIDTH = 5
_LABEL_WIDTH = 22
_INDENT = " " * 9
_BELOW = " " * (_AREA_WIDTH + 2)
_STYLES = {"good": "green", "poor": "red", "plain": "", "high": "green", "medium": "yellow", "low": "red"}


@dataclass(frozen=True)
class _Column:
    """A column of values after ``gap`` spaces, which shows the text at ``index`` of ``cells``.

    If the terminal is too narrow, the column with the highest ``rank`` is left out first.
    """

    heading: str
    index: int
    gap: int
    width: int
    rank: int


# The columns in the order of ``cells``.
_COLUMNS = (
    _Column("typical", 0, gap=1, width=12, rank=0),
    _Column("±95%", 1, gap=1, width=4, rank=1),
    _Column("capability", 2, gap=1, width=12, rank=4),
    _Column("reference", 3, gap=2, width=14, rank=3),
    _Column("share", 4, gap=1, width=5, rank=2),
)
_VALUE, _INTERVAL, _, _REFERENCE, _SHARE = _COLUMNS


def screen_lines(screen: FirstScreen, width: int) -> list[Text]:
    """Return the machine, the verdict, the trust and the values, in lines of at most ``width`` characters.

    A line is longer only if a single word, or the table with its narrowest set of columns, is wider than ``width``.
    """
    return [
        *wrapped(f"{screen.machine} · {screen.run}", width, ""),
        Text(),
        *wrapped(f"VERDICT  {screen.verdict}", width, _INDENT),
        *trust_lines(screen, width),
        *([Text(), *row_lines(screen.rows, width)] if screen.rows else []),
    ]


def trust_lines(screen: FirstScreen, width: int) -> list[Text]:
    """Return the lines on how far to trust the run and why, wrapped at ``width`` characters, with a coloured level."""
    lines = wrapped(f"TRUST    {screen.trust.level.upper()}: {screen.trust.why}.", width, _INDENT)
    lines[0].stylize(_STYLES[screen.trust.level], 9, 9 + len(screen.trust.level))
    return lines


def row_lines(rows: Sequence[ScreenRow], width: int) -> list[Text]:
    """Return the lines of the table of values, with the most important columns that fit in ``width`` characters.

    ``rows`` are in the order of their areas. If a row has no reference value, its remark is shown in the columns of
    reference value and share if it fits; otherwise the remark is on a line of its own below the row. Without ``rows``,
    the list is empty.
    """
    if not rows:
        return []
    columns = list(_COLUMNS)
    while len(columns) > 1 and _AREA_WIDTH + _LABEL_WIDTH + sum(c.gap + c.width for c in columns) > width:
        columns.remove(max(columns, key=lambda column: column.rank))
    headings = "".join(f"{'':{column.gap}}{column.heading:>{column.width}}" for column in columns)
    lines = [Text(f"{'':{_AREA_WIDTH + _LABEL_WIDTH}}{headings}", style="dim")]
    previous = ""
    for row in rows:
        lines += _lines_of(row, columns, "" if row.area == previous else label_of_area(row.area), width)
        previous = row.area
    return lines


def _lines_of(row: ScreenRow, columns: Sequence[_Column], area: str, width: int) -> list[Text]:
    fits = cell_len(row.label) <= _LABEL_WIDTH
    above = [] if fits else [Text(f"{area:<{_AREA_WIDTH}}{row.label}")]
    line = Text(f"{area if fits else '':<{_AREA_WIDTH}}{row.label if fits else '':<{_LABEL_WIDTH}}")
    columns_without_reference = [column for column in columns if column not in (_REFERENCE, _SHARE)]
    texts = cells(row)
    room = width - line.cell_len - sum(column.gap + column.width for column in columns_without_reference)
    is_replaced = bool(row.remark) and not any(row.references) and room >= 2 + cell_len(row.remark)
    pending = 0
    columns_of_lines = columns_without_reference if is_replaced else columns
    for column, following in zip(columns_of_lines, [*columns_of_lines[1:], None], strict=True):
        pending += column.gap + column.width
        # Several values have no interval, so they extend over its column.
        if following is _INTERVAL and len(row.values) > 1:
            continue
        heading = _VALUE if column is _INTERVAL and len(row.values) > 1 else column
        line.append(f"{texts[heading.index]:>{pending}}", style=_STYLES[row.mood] if column is _SHARE else "")
        pending = 0
    if is_replaced:
        line.append(f"  {row.remark}", style="dim")
    below = wrapped(row.remark, width, _BELOW, _BELOW) if row.remark and not is_replaced else []
    for text in below:
        text.stylize("dim")
    return [*above, line, *below]


def warning_lines(warnings: Sequence[str], further: int, width: int) -> list[Text]:
    """Return the warnings, wrapped at ``width`` characters, each after ``!``.

    If ``further``, the number of warnings that are not shown, is not 0, a last line says how many. Without any
    warnings, the list is empty.
    """
    lines = [line for warning in warnings for line in wrapped(f"! {warning}", width, "  ")]
    if further:
        lines.append(Text(f"! {count(further, 'further warning')}: add --all"))
    for line in lines:
        line.stylize("yellow")
    return lines


def legend_lines(screen: FirstScreen, width: int, room: int) -> list[Text]:
    """Return a legend of the columns that have values on the first screen, wrapped at ``width`` characters.

    If the legend needs more than ``room`` lines, the explanations at its end are left out, but never those of the share
    and of the letters next to reference values. The legend says why an interval is missing only if some intervals are
    known, since the line on trust says so otherwise. The list is empty if no column needs an explanation.
    """
    references, rest = _meanings_of_references(screen), _other_meanings(screen)
    lines = wrapped("; ".join([*references, *rest]), width, "")
    while len(lines) > room and len(rest) > (0 if references else 1):
        rest.pop()
        lines = wrapped("; ".join([*references, *rest]), width, "")
    for line in lines:
        line.stylize("dim")
    return lines


def _meanings_of_references(screen: FirstScreen) -> list[str]:
    """Return the explanations of the share and of the letters next to reference values."""
    meanings = []
    if any(row.share is not None for row in screen.rows):
        of_capability = any(row.share_of == "capability" for row in screen.rows if row.share is not None)
        meanings.append("share = typical ÷ reference" + ", with o: capability ÷ reference" * of_capability)
    letters = {row.reference_kind for row in screen.rows if any(row.references)}
    return meanings + [f"{letter}: {text}" for letter, text in REFERENCE_KINDS.items() if letter in letters]


def _other_meanings(screen: FirstScreen) -> list[str]:
    """Return the explanations of the other columns, the more important one first."""
    meanings = []
    if any(known is not None for row in screen.rows for known in row.capabilities):
        meanings.append("capability: the value without interference")
    if screen.trust.half_width is not None and any(row.ci is None for row in screen.rows if len(row.values) == 1):
        meanings.append(f"±95% needs {MIN_ROUNDS} rounds")
    return meanings
