"""Read the tables of numbers that OSU's and Intel's MPI benchmarks print, even within the log of a job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nameplate.tools.line_prefix import LogLine
from nameplate.tools.output import MAX_DIGITS

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf)"

# A line that starts like a row, a line with only an integer, and a line with a size and a time at any position.
_BEGINS_AS_ROW = re.compile(rf"\s*\d+(?:\s+{_NUMBER}|\s{{2,}}\S+\s*$)", re.IGNORECASE)
_SIZE_ONLY = re.compile(r"\s*\d+\s*")
_HAS_ROW = re.compile(r"(?<![\w.])\d+\s{2,}\d+\.\d+(?!\S)")


@dataclass(frozen=True)
class TextRow:
    """A row of a table: ``line`` is its line number in the output, from 1, and ``cells`` are its columns as printed."""

    line: int
    cells: Sequence[str]


def table_rows(lines: Sequence[LogLine], n_columns: int) -> tuple[list[TextRow], list[str]]:
    """Return the rows of the first table in ``lines``, and a sentence for each other line that may be a damaged row.

    A row consists of an integer and ``n_columns`` - 1 more cells, the first of which is a number. The integers ascend,
    and if the first row is aligned by spaces, all rows end at the same column. The table ends at the first line of
    another form, unless an aligned row with a larger integer follows: then other output was printed in between. Lines
    that may be damaged rows start like a row but end otherwise, contain a row after other text, or consist of an
    integer alone where a row was expected.
    """
    further_cells = r"\s+(\S+)" * (n_columns - 2)
    form = re.compile(rf"\s*(\d+)\s+({_NUMBER}){further_cells}\s*", re.IGNORECASE)
    rows: list[TextRow] = []
    doubtful: list[int] = []
    width, last, has_ended = 0, -1, False
    for line in lines:
        match = form.fullmatch(line.text)
        if match is None:
            is_cut = not has_ended and _SIZE_ONLY.fullmatch(line.text)
            if is_cut or _BEGINS_AS_ROW.match(line.text) or _HAS_ROW.search(line.text):
                doubtful.append(line.number)
            has_ended = bool(rows)
            continue
        is_aligned = len(line.text.rstrip()) == width if width else not rows and "  " in line.text.strip()
        if has_ended and not is_aligned:
            continue
        # A number with more digits is not a size; its row is kept, so that a later error names the line.
        first = int(match[1]) if len(match[1]) <= MAX_DIGITS else last + 1
        if first <= last or (width and not is_aligned):
            doubtful.append(line.number)
            has_ended = True
            continue
        width = width or (len(line.text.rstrip()) if is_aligned else 0)
        last = first
        rows.append(TextRow(line.number, match.groups()))
    return rows, [f"line {number} looks like a row, but does not fit into the table" for number in doubtful]


def rows_without_heading(lines: Sequence[LogLine]) -> list[str]:
    """Return one sentence about the lines that contain a table row, or an empty list if no line does.

    ``lines`` are the lines that ``split_by_prefix`` could not assign to a process, because no heading has their prefix.
    """
    numbers = [line.number for line in lines if _HAS_ROW.search(line.text)]
    more = f" and {len(numbers) - 1} more lines" if len(numbers) > 1 else ""
    return [f"line {numbers[0]}{more}: rows with a prefix that no heading has"] if numbers else []
