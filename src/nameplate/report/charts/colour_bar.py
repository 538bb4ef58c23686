"""Build the colour bar of a node map: cells with the colours of the map, and their values."""

from __future__ import annotations

import math
from collections.abc import Mapping

from nameplate.records.result import NodeMetric
from nameplate.report.charts.common import Point, rounded
from nameplate.report.content.format import digits, scale

# The width of a character in a cell, in pixels.
LETTER = 6.2
_STEPS = 6
_LONGEST_NUMBER = len("100.00")


def colour_bar(
    metric: NodeMetric, middle: Mapping[str, float], max_behind: float, row: int, cell_width: int
) -> list[Point]:
    """Return the points of the colour bar below a node map, from left to right, with the unit at the end.

    Each point has the column ``x``, from 0, and the given ``row`` as ``y``. There are six equal steps from a ``gap`` of
    0 to ``max_behind``, a share below 1 of the median; each step has one or more cells, and its middle cell has a
    number as ``label``. The last point has the ``unit`` instead of a gap. ``middle`` is the median of each hardware
    class, above 0, in the unit of ``metric``. The numbers are values of the metric if there is exactly one class,
    otherwise percentages of the class median. ``cell_width`` is in pixels.
    """
    # An odd number puts the label in the middle of its step.
    each = 1 + 2 * math.ceil((LETTER * _LONGEST_NUMBER / cell_width - 1) / 2)
    factor, unit = _scale(metric, middle)
    points: list[Point] = []
    for step in range(_STEPS):
        gap = max_behind * step / (_STEPS - 1)
        number = digits(_value(metric, middle, gap) / factor)
        points += [
            {"x": step * each + part, "y": row, "gap": rounded(gap), **({"label": number} if part == each // 2 else {})}
            for part in range(each)
        ]
    return [*points, {"x": _STEPS * each, "y": row, "unit": unit}]


def _scale(metric: NodeMetric, middle: Mapping[str, float]) -> tuple[float, str]:
    if len(middle) == 1:
        return scale(next(iter(middle.values())), metric.unit)
    return 0.01, "% of the class median"


def _value(metric: NodeMetric, middle: Mapping[str, float], gap: float) -> float:
    """Return the value that is ``gap`` behind the median, or its share of the median if there are several classes."""
    usual = next(iter(middle.values())) if len(middle) == 1 else 1.0
    return usual * (1 - gap) if metric.better == "higher" else usual / (1 - gap)
