"""Describe the content of a chart, its axes and its marks with their data, for programs other than Vega-Lite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Rows: TypeAlias = Sequence[Mapping[str, str | float]]

# The kinds of marks, with the fields that they need.
Kind: TypeAlias = Literal[
    "line", "dashed line", "steps",  # x, y
    "points", "rings", "dots",  # x, y; rings are hollow, and white dots make points hollow
    "intervals", "band",  # x, low, high
    "stretches",  # x of the start, y, x of the end
    "cells", "frames",  # x, y; the third field of cells is the value of the shade
    "text", "text above", "text below", "text on the left", "text on the right",  # x, y, text
    "rules", "dotted rules", "headings",  # x; the second field of headings is the text above the plot
    "level",  # y
    "spans",  # x of the start, x of the end
]  # fmt: skip

# The indices of the fields along the y axis, for the kinds in which these are not the second field alone.
_Y_FIELDS: Mapping[Kind, tuple[int, ...]] = {
    "intervals": (1, 2), "band": (1, 2), "level": (0,), "rules": (), "dotted rules": (), "headings": (), "spans": (),
}  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """An axis of numbers or of categories.

    - ``title``: the title with the unit, or None
    - ``base``: the base of a logarithmic axis, or 0 for a linear one
    - ``ends``: the numbers at the start and at the end of the axis, or None if they follow from the data. For shades,
      the first number has the weakest shade.
    - ``numbers``: the numbers at ticks; empty if the drawing program chooses them
    - ``names``: the labels of ticks by number, in place of ``numbers``
    - ``has_zero``: whether an axis without ``ends`` starts at 0
    - ``categories``: the categories in their order, from top to bottom on a y axis; empty for an axis of numbers
    - ``has_labels``: whether the names of the categories are shown
    """

    title: str | None = None
    base: int = 0
    ends: tuple[float, float] | None = None
    numbers: Sequence[float] = ()
    names: Mapping[float, str] = field(default_factory=dict)
    has_zero: bool = False
    categories: Sequence[str | float] = ()
    has_labels: bool = True


@dataclass(frozen=True)
class Marks:
    """Marks of one kind: one mark per row, or one line through all rows.

    - ``kind``: the kind of the marks, one of ``Kind``
    - ``rows``: the data, as mappings from field names to values
    - ``fields``: the names of the fields that ``Kind`` lists for this kind, in that order; a row that lacks one of them
      has no mark
    - ``by``: the field with the name of the line to which a row belongs, which decides the colour; or ""
    - ``colour``: one of the page's colours for all rows, or ""
    - ``suffix``: a text that follows the names of the lines in a legend, so that lines of one name can differ in kind

    Rows of a line that differ in the field ``segment`` are not joined.

    A row of "headings" with the field ``lift`` is moved up by that number of pixels.
    """

    kind: Kind
    rows: Rows
    fields: tuple[str, ...]
    by: str = ""
    colour: Literal["", "ink", "series-3"] = ""
    suffix: str = ""

    @property
    def rows_with_marks(self) -> Rows:
        """Return the rows that have all fields of the marks."""
        return [row for row in self.rows if all(name in row for name in self.fields)]


@dataclass(frozen=True)
class Plot:
    """The axes ``x`` and ``y`` and the marks of a chart. Later marks are drawn above earlier ones.

    ``lines`` has the names of the lines in the order of their colours. ``shade`` is the scale of the shades of "cells".
    """

    x: Axis
    y: Axis
    marks: Sequence[Marks]
    lines: Sequence[str] = ()
    shade: Axis = Axis()

    def extent_of_y(self) -> tuple[float, float] | None:
        """Return the lowest and the highest number that the y axis must show, or None if it has categories or no marks.

        The lowest number is at most 0 if ``y.has_zero``.
        """
        values = [0.0] * self.y.has_zero + [
            float(row[marks.fields[index]])
            for marks in self.marks for index in _Y_FIELDS.get(marks.kind, (1,)) for row in marks.rows_with_marks
            if not self.y.categories
        ]  # fmt: skip
        return (min(values), max(values)) if values else None


def marks_of_lines(rows: Rows, x: str, is_joined: bool = True) -> list[Marks]:
    """Return the marks of lines with intervals: the intervals, then the lines if ``is_joined``, then the points.

    Each of ``rows`` has the fields ``line`` and ``value``, the field named by ``x``, and ``low`` and ``high`` if it has
    an interval.
    """
    joined = [Marks("line", rows, (x, "value"), by="line")] if is_joined else []
    intervals = Marks("intervals", rows, (x, "low", "high"), by="line")
    return [intervals, *joined, Marks("points", rows, (x, "value"), by="line")]
