"""Read the tables of numbers that OSU's and Intel's MPI benchmarks print, also out of the log of a job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nameplate.errors import Unreadable
from nameplate.tools.output import MAX_DIGITS

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf)"

_BEGINS_AS_ROW = re.compile(rf"\s*\d+\s+{_NUMBER}", re.IGNORECASE)


@dataclass(frozen=True)
class TextRow:
    """A row of a table: the number of its line in the output, from 1, and its cells as they are printed."""

    line: int
    cells: Sequence[str]


def without_prefix(text: str, heading: str) -> str:
    """Return a text without the prefix that a launcher wrote before each line of the process that printed a heading.

    The prefix, such as ``[1,0]<stdout>:`` or ``0: ``, is what precedes the regular expression ``heading`` in its first
    line. Lines with other prefixes remain as they are. Without the heading, the text is returned unchanged.

    Raises:
        Unreadable: rows of a table have other prefixes.
    """
    match = re.search(rf"^(\S{{0,40}} ?)(?={heading})", text, re.MULTILINE)
    if match is None or not match[1]:
        return text
    stripped = re.sub(rf"^{re.escape(match[1])}", "", text, flags=re.MULTILINE)
    if re.search(r"^\S{1,40} ?\d+ {2,}\d+\.\d+\s*$", stripped, re.MULTILINE):
        raise Unreadable("rows have different prefixes, such as the time of each line: remove them")
    return stripped


def table_rows(lines: Sequence[str], first_line: int, n_columns: int) -> tuple[list[TextRow], list[int]]:
    """Return the rows of the first table in the lines, and the numbers of lines that may be rows of it as well.

    A row consists of a whole number and ``n_columns`` - 1 further cells, of which the first is a number. The whole
    numbers ascend, and if the first row is aligned by spaces, all rows end at the same column. Any other line ends the
    table, unless a row follows that is aligned and ascends: then other output came in between. Lines that begin as rows
    do, and end otherwise, may be rows with other output in them. ``first_line`` is the
    number of the first line in the whole output, from 1.
    """
    further_cells = r"\s+(\S+)" * (n_columns - 2)
    form = re.compile(rf"\s*(\d+)\s+({_NUMBER}){further_cells}\s*", re.IGNORECASE)
    rows: list[TextRow] = []
    doubtful: list[int] = []
    width, last, has_ended = 0, -1, False
    for number, line in enumerate(lines, start=first_line):
        match = form.fullmatch(line)
        if match is None:
            if rows and _BEGINS_AS_ROW.match(line):
                doubtful.append(number)
            has_ended = bool(rows)
            continue
        is_aligned = len(line.rstrip()) == width if width else not rows and "  " in line.strip()
        if has_ended and not is_aligned:
            continue
        # A longer number is no size: its row is kept for the error that names it.
        first = int(match[1]) if len(match[1]) <= MAX_DIGITS else last + 1
        if first <= last or (width and not is_aligned):
            doubtful.append(number)
            has_ended = True
            continue
        width = width or (len(line.rstrip()) if is_aligned else 0)
        last = first
        rows.append(TextRow(number, match.groups()))
    return rows, doubtful
