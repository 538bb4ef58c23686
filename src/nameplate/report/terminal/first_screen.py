"""Print the first screen of a run: at most 24 lines of 80 characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from nameplate.planning.budget import MIN_ROUNDS
from nameplate.probes.shared.areas import label_of_area
from nameplate.report.content.brief import cells
from nameplate.report.content.first_screen import FirstScreen, ScreenRow
from nameplate.report.content.format import count
from nameplate.report.terminal.columns import wrapped

_AREA_WIDTH = 5
_LABEL_WIDTH = 22
_INDENT = " " * 9
_BELOW = " " * (_AREA_WIDTH + 2)
_STYLES = {"good": "green", "poor": "red", "plain": "", "high": "green", "medium": "yellow", "low": "red"}


@dataclass(frozen=True)
class _Column:
    """A column of values after ``gap`` spaces. That with the highest ``rank`` is left out first if space is short.

    ``place`` is the index of its texts in ``cells``.
    """

    heading: str
    place: int
    gap: int
    width: int
    rank: int


# In the order of ``cells``.
_COLUMNS = (
    _Column("typical", 0, gap=2, width=12, rank=0),
    _Column("±95%", 1, gap=1, width=4, rank=1),
    _Column("capability", 2, gap=2, width=12, rank=4),
    _Column("reference", 3, gap=2, width=12, rank=3),
    _Column("share", 4, gap=1, width=5, rank=2),
)
_VALUE, _INTERVAL, _, _REFERENCE, _SHARE = _COLUMNS


def screen_lines(screen: FirstScreen, width: int) -> list[Text]:
    """Return the machine, the verdict, the trust and the values, in lines of at most ``width`` characters.

    A line is longer if a single word is wider, or the narrowest table.
    """
    return [
        *wrapped(f"{screen.machine} · {screen.run}", width, ""),
        Text(),
        *wrapped(f"VERDICT  {screen.verdict}", width, _INDENT),
        *trust_lines(screen, width),
        Text(),
        *row_lines(screen.rows, width),
    ]


def trust_lines(screen: FirstScreen, width: int) -> list[Text]:
    """Return the lines on trust, whose level has a colour."""
    lines = wrapped(f"TRUST    {screen.trust.level.upper()}: {screen.trust.why}.", width, _INDENT)
    lines[0].stylize(_STYLES[screen.trust.level], 9, 9 + len(screen.trust.level))
    return lines


def row_lines(rows: Sequence[ScreenRow], width: int) -> list[Text]:
    """Return the table of values with as many columns as fit ``width``, the most important ones.

    A remark stands in the place of a reference value, or in a line of its own if there is one.
    """
    if not rows:
        return []
    columns = _fitting(width)
    headings = "".join(f"{'':{column.gap}}{column.heading:>{column.width}}" for column in columns)
    lines = [Text(f"{'':{_AREA_WIDTH + _LABEL_WIDTH}}{headings}", style="dim")]
    previous = ""
    for row in rows:
        lines += _lines_of(row, columns, "" if row.area == previous else label_of_area(row.area), width)
        previous = row.area
    return lines


def _fitting(width: int) -> list[_Column]:
    columns = list(_COLUMNS)
    while len(columns) > 1 and _AREA_WIDTH + _LABEL_WIDTH + sum(c.gap + c.width for c in columns) > width:
        columns.remove(max(columns, key=lambda column: column.rank))
    return columns


def _lines_of(row: ScreenRow, columns: Sequence[_Column], area: str, width: int) -> list[Text]:
    fits = cell_len(row.label) <= _LABEL_WIDTH
    above = [] if fits else [Text(f"{area:<{_AREA_WIDTH}}{row.label}")]
    line = Text(f"{area if fits else '':<{_AREA_WIDTH}}{row.label if fits else '':<{_LABEL_WIDTH}}")
    usual = [column for column in columns if column not in (_REFERENCE, _SHARE)]
    texts = cells(row)
    room = width - line.cell_len - sum(column.gap + column.width for column in usual)
    is_replaced = bool(row.remark) and not any(row.references) and room >= 2 + cell_len(row.remark)
    pending = 0
    shown_columns = usual if is_replaced else columns
    for column, following in zip(shown_columns, [*shown_columns[1:], None], strict=True):
        pending += column.gap + column.width
        # Several values also have the place of their interval.
        if following is _INTERVAL and len(row.values) > 1:
            continue
        shown = _VALUE if column is _INTERVAL and len(row.values) > 1 else column
        line.append(f"{texts[shown.place]:>{pending}}", style=_STYLES[row.mood] if column is _SHARE else "")
        pending = 0
    if is_replaced:
        line.append(f"  {row.remark}", style="dim")
    below = wrapped(row.remark, width, _BELOW, _BELOW) if row.remark and not is_replaced else []
    for text in below:
        text.stylize("dim")
    return [*above, line, *below]


def warning_lines(warnings: Sequence[str], further: int, width: int) -> list[Text]:
    """Return the warnings, and a line on how many more there are if ``further`` is not 0."""
    lines = [line for warning in warnings for line in wrapped(f"! {warning}", width, "  ")]
    if further:
        lines.append(Text(f"! {count(further, 'further warning')}: add --all"))
    for line in lines:
        line.stylize("yellow")
    return lines


def legend_lines(screen: FirstScreen, width: int, room: int) -> list[Text]:
    """Return what the columns of the first screen mean, as far as its values have them, in at most ``room`` lines.

    The first meaning is always there. Why an interval is missing is said if only some are; if most are, the trust says
    it.
    """
    meanings = _meanings(screen)
    lines = wrapped("; ".join(meanings), width, "")
    while len(lines) > max(1, room) and len(meanings) > 1:
        meanings.pop()
        lines = wrapped("; ".join(meanings), width, "")
    for line in lines:
        line.stylize("dim")
    return lines


def _meanings(screen: FirstScreen) -> list[str]:
    """Return what the columns mean, the most important one first."""
    meanings = []
    if any(row.share is not None for row in screen.rows):
        meanings.append("share = typical ÷ reference")
    if any(known is not None for row in screen.rows for known in row.capabilities):
        meanings.append("capability: the value if nothing else had run")
    if screen.trust.half_width is not None and any(row.ci is None for row in screen.rows if len(row.values) == 1):
        meanings.append(f"±95% needs {MIN_ROUNDS} rounds")
    if any(row.unit == "B" and any(row.references) for row in screen.rows):
        meanings.append("reference of a cache: its listed size, of which a guest may have a part")
    return meanings
