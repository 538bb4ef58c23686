"""A metric of every node as a map: a cell for each, in the job's order, the stronger the farther behind its class."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from nameplate.model import NodeMetric, Nodes
from nameplate.report.charts import Chart, Point, definition
from nameplate.report.format import quantity, share

# Up to so much behind shades grow; what lies farther behind is as strong as can be.
MOST_BEHIND = 0.25
_SHADES = [0.06, 0.9]
# A map is wider than it is high, and as wide as the page; few nodes have larger cells.
_BREADTH = 2.5
_FEWEST, _MOST = 25, 100
_WIDTH, _LARGEST = 800, 26


def row_length(nodes: int) -> int:
    """How many nodes stand side by side: a multiple of five, so that one is found by counting."""
    return min(_MOST, max(_FEWEST, 5 * math.ceil(math.sqrt(_BREADTH * nodes) / 5)))


def node_map(nodes: Nodes, metric: NodeMetric) -> Chart:
    """One metric; its table is the ranking, so the map has the farthest behind alone."""
    points = [_point(nodes, metric, place) for place in range(len(nodes.names))]
    columns = (("node", "node"), ("figure", metric.title), ("behind", "behind its class"), ("state", "slow?"))
    spec = _spec(points, min(_LARGEST, _WIDTH // row_length(len(points))))
    spec["description"] = f"{metric.title} of every node"
    caption = (
        f"A cell for each node, in the job's order, {row_length(len(points))} in a row. The stronger the colour, the "
        "farther behind the median of its hardware class; framed: slow."
    )
    return Chart(metric.title, caption, spec, columns)


def _point(nodes: Nodes, metric: NodeMetric, place: int) -> Point:
    length = row_length(len(nodes.names))
    value, gap = metric.value[place], metric.gap[place]
    return {
        "x": place % length,
        "y": place // length,
        "node": nodes.names[place],
        "figure": quantity(value, metric.unit),
        "behind": share(gap),
        "state": "slow" if place in metric.slow else "",
        **({"gap": min(MOST_BEHIND, max(0.0, gap))} if gap is not None and math.isfinite(gap) else {}),
    }


def _spec(points: list[Point], size: int) -> dict[str, Any]:
    base = alt.Chart(alt.InlineData(values=points)).encode(
        x=alt.X("x:O", axis=None),
        y=alt.Y("y:O", axis=None),
        tooltip=["node:N", "figure:N", alt.Tooltip("behind:N", title="behind its class"), "state:N"],
    )
    shade = alt.Scale(domain=[0, MOST_BEHIND], range=_SHADES)
    layers = [
        base.mark_rect(color="var(--series-1)").transform_filter("isValid(datum.gap)")
        .encode(opacity=alt.Opacity("gap:Q", scale=shade, legend=None)),
        base.mark_rect(filled=False, stroke="var(--faint)", strokeDash=[2, 2]).transform_filter("!isValid(datum.gap)"),
        base.mark_rect(filled=False, stroke="var(--ink)", strokeWidth=2).transform_filter("datum.state == 'slow'"),
    ]  # fmt: skip
    return definition(alt.layer(*layers), alt.Step(size), alt.Step(size))
