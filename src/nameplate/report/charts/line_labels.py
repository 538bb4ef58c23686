"""Place the labels of lines next to the lines, where they cover neither a line nor each other."""

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

# The plot of the narrowest page, a phone's. In a wider one, labels have more room.
_WIDTH = 300.0
_CHARACTER = 6.2
_LINE_OF_TEXT = 13.0
_GAP = 3.0
_STEP = 6.0


@dataclass(frozen=True)
class _Box:
    """The place of a label in pixels."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def centre(self) -> _Position:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def overlaps(self, other: _Box) -> bool:
        """Return whether the two places have a point in common."""
        return (self.left < other.right and other.left < self.right
                and self.bottom < other.top and other.bottom < self.top)  # fmt: skip


class LogPlane:
    """A plot with two logarithmic axes, whose data are converted to pixels and back.

    ``x`` and ``y`` are the two ends of each axis, above 0 and in ascending order, and ``height`` is in pixels.
    """

    def __init__(self, x: tuple[float, float], y: tuple[float, float], height: float) -> None:
        self.height = height
        self._axes = (
            (math.log(x[0]), math.log(x[1] / x[0]) / _WIDTH),
            (math.log(y[0]), math.log(y[1] / y[0]) / height),
        )

    def pixels(self, x: float, y: float) -> _Position:
        """Return where a value is drawn."""
        (left, per_x), (bottom, per_y) = self._axes
        return (math.log(x) - left) / per_x, (math.log(y) - bottom) / per_y

    def values(self, position: _Position) -> tuple[float, float]:
        """Return the values of both axes at a position."""
        (left, per_x), (bottom, per_y) = self._axes
        return math.exp(left + position[0] * per_x), math.exp(bottom + position[1] * per_y)


def place_labels(lines: Mapping[str, Sequence[tuple[float, float]]], plane: LogPlane) -> list[Point]:
    """Return a point for each line's label, with the fields ``line``, ``x`` and ``y``: the centre of the text.

    ``lines`` has the values of each line by its label, in ascending order of x. A label stands above or below its line
    and nearer to it than to any other. The list is empty if a label has no such place on a page as narrow as a phone;
    the lines then need a legend.
    """
    drawn = {label: [plane.pixels(x, y) for x, y in values] for label, values in lines.items()}
    taken: list[_Box] = []
    points: list[Point] = []
    for label, own in drawn.items():
        others = [line for name, line in drawn.items() if name != label]
        free = [box for box in _places(label, own, plane.height)
                if _is_free(box, own, others) and not any(box.overlaps(other) for other in taken)]  # fmt: skip
        if not free:
            return []
        # Near the line, and of equally near places the one on the right, where a reader looks for a label.
        best = min(free, key=lambda box: (round(_distance(own, box.centre) / _LINE_OF_TEXT), -box.left))
        taken.append(best)
        x, y = plane.values(best.centre)
        points.append({"line": label, "x": float(f"{x:.5g}"), "y": float(f"{y:.5g}")})
    return points


def label_layer(labels: Sequence[Point], x: alt.X, y: alt.Y, colour: alt.Color) -> list[Any]:
    """Return the layer of the labels from ``place_labels``, as a list that is empty if there are none.

    ``x`` and ``y`` are the axes of the lines, and ``colour`` is their colour by the field ``line``.
    """
    if not labels:
        return []
    base = chart_of(labels)
    text = base.mark_text(fontSize=11, fontWeight="bold", baseline="middle")
    return [text.encode(x=of_field(x, "x:Q"), y=of_field(y, "y:Q"), text=alt.Text("line:N"), color=colour)]


def of_field(channel: Any, field: str) -> Any:
    """Return the same axis for another field."""
    copy = channel.copy()
    copy.shorthand = field
    return copy


def _places(label: str, line: Sequence[_Position], height: float) -> Iterator[_Box]:
    """Yield the places along a line, directly above and below it, that are inside the plot."""
    half = len(label) * _CHARACTER / 2
    first, last = max(line[0][0], half), min(line[-1][0], _WIDTH - half)
    for step in range(max(0, math.floor((last - first) / _STEP) + 1)):
        centre = last - step * _STEP
        low, high = _span(line, centre - half, centre + half) or (0.0, 0.0)
        for bottom in (high + _GAP, low - _GAP - _LINE_OF_TEXT):
            if bottom >= 0 and bottom + _LINE_OF_TEXT <= height:
                yield _Box(centre - half, centre + half, bottom, bottom + _LINE_OF_TEXT)


def _is_free(box: _Box, own: Sequence[_Position], others: Sequence[Sequence[_Position]]) -> bool:
    """Return whether no other line crosses a box or is nearer to it than its own line."""
    spans = [span for line in others if (span := _span(line, box.left, box.right))]
    is_crossed = any(low < box.top + _GAP and box.bottom - _GAP < high for low, high in spans)
    distance = _distance(own, box.centre)
    return not is_crossed and all(distance < _distance(line, box.centre) for line in others)


def _distance(line: Sequence[_Position], position: _Position) -> float:
    """Return the vertical distance of a position from a line, or infinity beside the line."""
    at = _height_at(line, position[0])
    return math.inf if at is None else abs(at - position[1])


def _span(line: Sequence[_Position], left: float, right: float) -> tuple[float, float] | None:
    """Return the lowest and the highest place of a line between two positions, or None if it has none there."""
    heights = [height for x, height in line if left <= x <= right]
    heights += [at for x in (left, right) if (at := _height_at(line, x)) is not None]
    return (min(heights), max(heights)) if heights else None


def _height_at(line: Sequence[_Position], x: float) -> float | None:
    """Return the height of a line at a position, or None beside the line."""
    for (left, low), (right, high) in pairwise(line):
        if left <= x <= right:
            return low + (high - low) * ((x - left) / (right - left) if right > left else 0.0)
    return None
