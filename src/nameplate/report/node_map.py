"""A metric of every node as a map: a cell for each, in the job's order, the stronger the farther behind its class."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from nameplate.model import NodeMetric, Nodes
from nameplate.report.charts import Chart, Point, definition
from nameplate.report.format import count, quantity, share

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


def node_map(nodes: Nodes, metric: NodeMetric, command: str = "") -> Chart:
    """One metric, and what measures it again, if that is known."""
    points = [_point(nodes, metric, place) for place in range(len(nodes.names))]
    columns = (("node", "node"), ("figure", metric.title), ("behind", "behind its class"), ("state", "slow?"))
    spec = _spec(points, min(_LARGEST, _WIDTH // row_length(len(points))))
    spec["description"] = f"{metric.title} of every node"
    caption = (
        f"A cell for each node, in the job's order, {row_length(len(points))} in a row. The stronger the colour, the "
        "farther behind the median of its hardware class; framed: slow."
    )
    commands = (command,) if command else ()
    return Chart(metric.title, _meaning(metric), caption, spec, columns, commands)


def _meaning(metric: NodeMetric) -> str:
    found = f"{count(len(metric.slow), 'node')} of {len(metric.value)} {'is' if len(metric.slow) == 1 else 'are'} slow."
    return (
        f"A healthy cluster is evenly pale. {found} A single strong cell is a slow node: a hot or throttled processor, "
        "a lost memory module, a job left over. A strong row or block of neighbours shares something: a switch, a "
        "rack's power or cooling, a firmware version."
    )


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
    ]  # fmt: skip
    # An empty group of marks would be a picture without a name to a screen reader.
    if any("gap" not in point for point in points):
        unknown = base.mark_rect(filled=False, stroke="var(--faint)", strokeDash=[2, 2])
        layers.append(unknown.transform_filter("!isValid(datum.gap)"))
    if any(point["state"] == "slow" for point in points):
        slow = base.mark_rect(filled=False, stroke="var(--ink)", strokeWidth=2)
        layers.append(slow.transform_filter("datum.state == 'slow'"))
    return definition(alt.layer(*layers), alt.Step(size), alt.Step(size))
