"""Find positions for the labels of lines next to the lines, where they cover neither a line nor each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import altair as alt

from nameplate.report.charts.common import Point, chart_of

# A position in pixels, from the lower left corner.
_Position: TypeAlias = tuple[float, float]

# The width of the plot on a phone, in pixels. On wider pages, labels have more space.
_WIDTH = 300.0
_CHARACTER = 6.2
_LINE_OF_TEXT = 13.0
_GAP = 3.0
_STEP = 6.0


@dataclass(frozen=True)
class _Box:
    """The rectangle of a label, in pixels from the lower left corner of the plot."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def centre(self) -> _Position:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def overlaps(self, other: _Box) -> bool:
        """Return whether the two rectangles overlap."""
        return (self.left < other.right and other.left < self.right
                and self.bottom < other.top and other.bottom < self.top)  # fmt: skip


class LogPlane:
    """Convert between the values on two logarithmic axes and pixels in a plot of a phone's width (300 pixels).

    ``x`` and ``y`` are the ends (lowest, highest) of the axes, above 0. ``height`` is the height of the plot in pixels.
    """

    def __init__(self, x: tuple[float, float], y: tuple[float, float], height: float) -> None:
        self.height = height
        self._axes = (
            (math.log(x[0]), math.log(x[1] / x[0]) / _WIDTH),
            (math.log(y[0]), math.log(y[1] / y[0]) / height),
        )

    def pixels(self, x: float, y: float) -> _Position:
        """Return the position (right, up) of a point in pixels from the lower left corner of the plot."""
        (left, per_x), (bottom, per_y) = self._axes
        return (math.log(x) - left) / per_x, (math.log(y) - bottom) / per_y

    def values(self, position: _Position) -> tuple[float, float]:
        """Return the values (x, y) at a position in pixels from the lower left corner of the plot."""
        (left, per_x), (bottom, per_y) = self._axes
        return math.exp(left + position[0] * per_x), math.exp(bottom + position[1] * per_y)


def position_labels(lines: Mapping[str, Sequence[tuple[float, float]]], plane: LogPlane) -> list[Point]:
    """Return the position of each line's label, as points with the fields ``line`` (the label), ``x`` and ``y``.

    ``lines`` has the (x, y) values of each line by its label, in ascending order of x. ``plane`` has the axes of the
    chart. A position is the centre of the text, in values of the axes. A label is directly above or below its line, and
    nearer to this line than to any other. If a label has no such position on a page of a phone's width, the list is
    empty; use a legend instead.
    """
    drawn = {label: [plane.pixels(x, y) for x, y in values] for label, values in lines.items()}
    taken: list[_Box] = []
    points: list[Point] = []
    for label, points_of_line in drawn.items():
        other_lines = [line for name, line in drawn.items() if name != label]
        free = [box for box in _places(label, points_of_line, plane.height)
                if _is_free(box, points_of_line, other_lines)
                and not any(box.overlaps(other) for other in taken)]  # fmt: skip
        if not free:
            return []
        # Prefer the position nearest to the line, and then the rightmost, where a reader expects a label.
        best = min(free, key=lambda box: (round(_distance(points_of_line, box.centre) / _LINE_OF_TEXT), -box.left))
        taken.append(best)
        x, y = plane.values(best.centre)
        points.append({"line": label, "x": float(f"{x:.5g}"), "y": float(f"{y:.5g}")})
    return points


def label_layer(labels: Sequence[Point], x: alt.X, y: alt.Y, colour: alt.Color) -> list[Any]:
    """Return a list with the layer that draws the labels, or an empty list if ``labels`` is empty.

    ``labels`` are the points from ``position_labels``. ``x`` and ``y`` are the channels of the lines' axes, and
    ``colour`` is the channel of their colour by the field ``line``.
    """
    if not labels:
        return []
    base = chart_of(labels)
    text = base.mark_text(fontSize=11, fontWeight="bold", baseline="middle")
    return [text.encode(x=of_field(x, "x:Q"), y=of_field(y, "y:Q"), text=alt.Text("line:N"), color=colour)]


def of_field(channel: Any, field: str) -> Any:
    """Return a copy of the Altair channel ``channel`` for another ``field`` with its type, for example "x:Q"."""
    copy = channel.copy()
    copy.shorthand = field
    return copy


def _places(label: str, line: Sequence[_Position], height: float) -> Iterator[_Box]:
    """Yield the rectangles directly above and below the line, from right to left, that are inside the plot."""
    half = len(label) * _CHARACTER / 2
    first, last = max(line[0][0], half), min(line[-1][0], _WIDTH - half)
    for step in range(max(0, math.floor((last - first) / _STEP) + 1)):
        centre = last - step * _STEP
        low, high = _span(line, centre - half, centre + half) or (0.0, 0.0)
        for bottom in (high + _GAP, low - _GAP - _LINE_OF_TEXT):
            if bottom >= 0 and bottom + _LINE_OF_TEXT <= height:
                yield _Box(centre - half, centre + half, bottom, bottom + _LINE_OF_TEXT)


def _is_free(box: _Box, points: Sequence[_Position], other_lines: Sequence[Sequence[_Position]]) -> bool:
    """Return whether no other line crosses the rectangle or is nearer to it than the label's own line ``points``."""
    spans = [span for line in other_lines if (span := _span(line, box.left, box.right))]
    is_crossed = any(low < box.top + _GAP and box.bottom - _GAP < high for low, high in spans)
    distance = _distance(points, box.centre)
    return not is_crossed and all(distance < _distance(line, box.centre) for line in other_lines)


def _distance(line: Sequence[_Position], position: _Position) -> float:
    """Return the vertical distance of a position from a line in pixels, or infinity left or right of the line."""
    at = _height_at(line, position[0])
    return math.inf if at is None else abs(at - position[1])


def _span(line: Sequence[_Position], left: float, right: float) -> tuple[float, float] | None:
    """Return the lowest and the highest pixel of a line from ``left`` to ``right``, or None if it has no part there."""
    heights = [height for x, height in line if left <= x <= right]
    heights += [at for x in (left, right) if (at := _height_at(line, x)) is not None]
    return (min(heights), max(heights)) if heights else None


def _height_at(line: Sequence[_Position], x: float) -> float | None:
    """Return the height of a line at ``x`` in pixels, or None if the line does not extend to ``x``."""
    for (left, low), (right, high) in pairwise(line):
        if left <= x <= right:
            return low + (high - low) * ((x - left) / (right - left) if right > left else 0.0)
    return None
