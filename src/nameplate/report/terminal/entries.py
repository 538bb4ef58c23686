"""Lay out names with their descriptions so that they fit the terminal without truncating a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from nameplate.report.terminal.columns import wrapped

_INDENT = 2
_GAP = 2
# If the names leave fewer characters than this, descriptions start on the line below the name.
_MIN_ROOM = 24


@dataclass(frozen=True)
class Described:
    """A name and the paragraphs of its description: the first is printed next to the name, the others dimmed below.

    ``style`` is the style of the name in rich's notation, such as "bold red".
    """

    name: str
    paragraphs: tuple[str, ...]
    style: str = ""


def lay_out_entries(entries: Sequence[Described], width: int) -> list[Text]:
    """Return the lines of a list of names and their wrapped descriptions, at most ``width`` characters wide.

    All descriptions begin in the same column, or on the line below each name if the names leave fewer than 24
    characters for a description. Words are never broken, so a word that is wider than ``width`` makes its line longer.
    Empty paragraphs are left out.
    """
    column = _INDENT + max((cell_len(entry.name) for entry in entries), default=0) + _GAP
    has_column = width - column >= _MIN_ROOM
    margin = " " * (column if has_column else 2 * _INDENT)
    lines: list[Text] = []
    for entry in entries:
        head = Text(" " * _INDENT).append(entry.name, style=entry.style)
        texts = _paragraphs(entry, width, margin)
        if has_column and texts:
            first = texts.pop(0)
            head.append(" " * (column - head.cell_len)).append_text(first[len(margin) :])
        lines += [head, *texts]
    return lines


def _paragraphs(entry: Described, width: int, margin: str) -> list[Text]:
    texts: list[Text] = []
    for number, paragraph in enumerate(filter(None, entry.paragraphs)):
        below = wrapped(paragraph, width, margin, margin)
        for text in below if number else ():
            text.stylize("dim")
        texts += below
    return texts
