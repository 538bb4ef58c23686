"""Build the colour bar of a node map: cells with the colours of the map, and their values."""

from __future__ import annotations

import math
from collections.abc import Mapping

from nameplate.records.node_record import NodeMetric
from nameplate.report.charts.common import Point, rounded
from nameplate.report.content.format import digits, scale

# The width of a character in a cell, in pixels.
LETTER = 6.2
_STEPS = 6
_LONGEST_NUMBER = len("100.00")


def colour_bar(
    metric: NodeMetric, middle: Mapping[str, float], max_behind: float, row: int, cell_width: int
) -> list[Point]:
    """Return the points of the colour bar below a node map, from left to right, with the unit as the last point.

    The bar has six steps with equal differences of ``gap``, the share by which a value is behind its class median, from
    0 to ``max_behind`` (below 1). A step has an odd number of cells, at least one, so that its middle cell can show a
    number.

    - ``metric``: the metric of the map
    - ``middle``: the median of each hardware class in the SI base unit of ``metric``, all above 0
    - ``row``: the row of the cells, used as ``y`` of all points
    - ``cell_width``: the width of a cell in pixels

    A point has the column ``x`` from 0, ``y`` and ``gap``, and ``label`` if it has a number. The last point has
    ``unit`` instead of ``gap``. The numbers are values of the metric if there is one class, otherwise percentages of
    the class median.
    """
    # An odd number puts the label in the middle of its step.
    n_cells = 1 + 2 * math.ceil((LETTER * _LONGEST_NUMBER / cell_width - 1) / 2)
    factor, unit = _scale(metric, middle)
    points: list[Point] = []
    for step in range(_STEPS):
        gap = max_behind * step / (_STEPS - 1)
        number = digits(_value(metric, middle, gap) / factor)
        points += [
            {
                "x": step * n_cells + part,
                "y": row,
                "gap": rounded(gap),
                **({"label": number} if part == n_cells // 2 else {}),
            }
            for part in range(n_cells)
        ]
    return [*points, {"x": _STEPS * n_cells, "y": row, "unit": unit}]


def _scale(metric: NodeMetric, middle: Mapping[str, float]) -> tuple[float, str]:
    if len(middle) == 1:
        return scale(next(iter(middle.values())), metric.unit)
    return 0.01, "% of the class median"


def _value(metric: NodeMetric, middle: Mapping[str, float], gap: float) -> float:
    """Return the value that is behind the median by the share ``gap``; with several classes, the median is 1."""
    typical = next(iter(middle.values())) if len(middle) == 1 else 1.0
    return typical * (1 - gap) if metric.better == "higher" else typical / (1 - gap)
