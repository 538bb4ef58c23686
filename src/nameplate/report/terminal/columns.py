"""Lay out tables so that they fit the terminal without truncating a word or a number."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

_INDENT = 2
_GAP = 2
# Columns move to a further block if they would leave less room than this to the labels.
_MIN_LABEL = 12


@dataclass(frozen=True)
class Line:
    """One row of a table: a label, one cell per column, and a note that is shown below the row ("" for no note)."""

    label: str
    cells: tuple[Text, ...]
    note: str = ""


def lay_out(headings: Sequence[str], lines: Sequence[Line], width: int, of_labels: str = "") -> list[Text]:
    """Return the lines of a table with right-aligned columns, at most ``width`` characters wide, headings first.

    ``headings`` has one entry per column, so each of ``lines`` has the same number of ``cells``; ``of_labels`` is the
    heading of the labels. A label that is too long for the column of labels is put above the values of its row. Columns
    that do not fit next to each other form further blocks below, each with its headings and all labels; notes are in
    the first block only. Words and numbers are never broken, so a word that is wider than ``width`` makes its line
    longer. If ``lines`` is empty, only the headings are returned.
    """
    widths = [max(map(cell_len, [heading, *(line.cells[i].plain for line in lines)]))
              for i, heading in enumerate(headings)]  # fmt: skip
    longest = max(map(cell_len, [of_labels, *(line.label for line in lines)]))
    blocks = _blocks(widths, width - _INDENT - min(longest, _MIN_LABEL))
    lines_of_text: list[Text] = []
    for number, block in enumerate(blocks):
        room = width - _INDENT - sum(widths[i] + _GAP for i in block)
        label_width = max(min(longest, room), 0)
        columns = [(widths[i], Text(headings[i], style="dim")) for i in block]
        lines_of_text.append(_joined(Text(of_labels, style="dim"), label_width, columns))
        for line in lines:
            cells = [(widths[i], line.cells[i]) for i in block]
            lines_of_text += _row(line, label_width, cells, width, has_note=number == 0)
    return lines_of_text


def _blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Return the indices of the columns by block."""
    blocks: list[list[int]] = [[]]
    used = 0
    for index, width in enumerate(widths):
        if blocks[-1] and used + width + _GAP > room:
            blocks.append([])
            used = 0
        blocks[-1].append(index)
        used += width + _GAP
    return blocks


def _row(line: Line, label_width: int, cells: Sequence[tuple[int, Text]], width: int, has_note: bool) -> list[Text]:
    fits = cell_len(line.label) <= label_width
    above = [] if fits else wrapped(line.label, width, " " * (_INDENT + _GAP), " " * _INDENT)
    below = (
        wrapped(line.note, width, " " * (_INDENT + 2 * _GAP), " " * (_INDENT + _GAP)) if line.note and has_note else []
    )
    for text in below:
        text.stylize("dim")
    values = (
        [_joined(Text(line.label if fits else ""), label_width, cells)]
        if fits or any(text for _, text in cells)
        else []
    )
    return [*above, *values, *below]


def wrapped(text: str, width: int, indent: str, first: str = "") -> list[Text]:
    """Return text wrapped into lines of at most ``width`` characters, or no lines if ``text`` is blank.

    The first line begins with ``first``, every other line with ``indent``; the width includes both. Words are never
    broken, so a word that is wider than ``width`` makes its line longer.
    """
    parts = textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [Text(part) for part in parts]


def _joined(label: Text, label_width: int, cells: Sequence[tuple[int, Text]]) -> Text:
    text = Text.assemble(" " * _INDENT, label, " " * (label_width - label.cell_len))
    for width, cell in cells:
        text.append(" " * (_GAP + width - cell_len(cell.plain)))
        text.append_text(cell)
    text.rstrip()
    return text
