"""Draw a metric of all nodes as a map: one cell per node by group, coloured by its gap to its class median."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.report.charts.colour_bar import LETTER, colour_bar
from nameplate.report.charts.common import Chart, Point, chart_of, definition, rounded
from nameplate.report.charts.heatmap import SHADES
from nameplate.report.charts.plot import Axis, Marks, Plot
from nameplate.report.content.class_medians import behind, class_medians
from nameplate.report.content.format import count, quantity, share

# The gap (a share) at which the colour scale ends; nodes with a larger gap have the last colour.
MAX_BEHIND = 0.25
# With more nodes, cells have no space for a name and a value.
MAX_NAMED = 64
# Shades for cells without text, which need not be readable.
_STRONG_SHADES = [0.06, 0.9]
# The ratio of width to height of a map without names. Sizes are in pixels.
_BREADTH = 2.5
_MIN_IN_ROW, _MAX_IN_ROW = 25, 100
_WIDTH, _MAX_CELL = 800, 26
_NAMED_HEIGHT, _MARGIN = 34, 12


@dataclass(frozen=True)
class _Layout:
    """The arrangement of the cells: ``in_row`` cells per row, each ``width`` by ``height`` pixels.

    With ``is_named``, a cell shows the name and the value of its node. ``cells`` has the column and the row of each
    node, and ``headings`` the name of each group by its row, which has no cells.
    """

    in_row: int
    width: int
    height: int
    is_named: bool
    cells: Sequence[tuple[int, int]]
    headings: Mapping[int, str]


@dataclass(frozen=True)
class _Statistic:
    """One value per node (None if not measured), and the median ``middle`` of each hardware class."""

    name: str
    values: Sequence[float | None]
    middle: Mapping[str, float]


def statistics_of(metric: NodeMetric) -> Sequence[str]:
    """Return the names of a metric's maps, each a valid argument ``statistic`` of ``node_map``.

    The names are "average", "minimum" and "maximum" if the probe recorded the extremes of its repeats, otherwise only
    "".
    """
    return ("average", "minimum", "maximum") if metric.minimum else ("",)


def row_length(nodes: int) -> int:
    """Return the number of cells per row of a map without names, for a job of ``nodes`` nodes.

    The number is a multiple of five from 25 to 100, which makes counting easy.
    """
    return min(_MAX_IN_ROW, max(_MIN_IN_ROW, 5 * math.ceil(math.sqrt(_BREADTH * nodes) / 5)))


def node_map(nodes: Nodes, metric: NodeMetric, statistic: str = "", command: str = "") -> Chart:
    """Return the map of a metric: one cell per node, coloured by the value's gap to its class median.

    The cells are in the order of the job, or in a block for each group of nodes under its name.

    - ``nodes``: the nodes of the job, at least one
    - ``metric``: one of ``nodes.metrics``
    - ``statistic``: one of ``statistics_of(metric)``. "minimum" and "maximum" draw the extremes of single repeats;
      "average" and "" draw the value of the metric.
    - ``command``: the shell command that repeats the measurement, or "" if it is not known

    The colour scale ends at a gap of 25 % (``MAX_BEHIND``). With up to 64 nodes (``MAX_NAMED``), the cells show the
    names and values of the nodes. A node without a value has a cell without colour.

    Raises:
        ValueError: ``statistic`` is "minimum" or "maximum", but the metric has no extremes.
    """
    values = _statistic(nodes, metric, statistic)
    layout = _layout(nodes, metric, values)
    points = [_point(nodes, metric, values, layout, index) for index in range(len(nodes.names))]
    title = f"{metric.title}, {statistic}" if statistic else metric.title
    columns = (("node", "node"), ("shown", title), ("behind", "behind its class"), ("state", "slow?"))
    below = 1 + max(int(point["y"]) for point in points)
    bar = colour_bar(metric, values.middle, MAX_BEHIND, below + 1, layout.width)
    spec, plot = _drawing(points, bar, layout)
    spec["description"] = f"{title} of every node"
    commands = (command,) if command else ()
    return Chart(title, _meaning(metric), _caption(nodes, layout), spec, plot, columns, commands)


def _statistic(nodes: Nodes, metric: NodeMetric, name: str) -> _Statistic:
    values = {"minimum": metric.minimum, "maximum": metric.maximum}.get(name, metric.value)
    return _Statistic(name, values, class_medians(nodes, values))


def _layout(nodes: Nodes, metric: NodeMetric, values: _Statistic) -> _Layout:
    number = len(nodes.names)
    if number > MAX_NAMED:
        in_row = row_length(number)
        side = min(_MAX_CELL, _WIDTH // in_row)
        return _Layout(in_row, side, side, False, *_arranged(nodes, in_row))
    texts = [*nodes.names, *(quantity(value, metric.unit) for value in values.values)]
    width = math.ceil(LETTER * max(map(len, texts)) + _MARGIN)
    in_row = min(number, max(1, _WIDTH // width))
    return _Layout(in_row, width, _NAMED_HEIGHT, True, *_arranged(nodes, in_row))


def _arranged(nodes: Nodes, in_row: int) -> tuple[list[tuple[int, int]], dict[int, str]]:
    """Return the column and the row of each node, and the names of groups by the row above their nodes."""
    if not nodes.groups:
        return [(index % in_row, index // in_row) for index in range(len(nodes.names))], {}
    members: dict[str, list[int]] = {}
    for index, group in enumerate(nodes.groups):
        members.setdefault(group, []).append(index)
    cells, headings, row = [(0, 0)] * len(nodes.names), {}, 0
    for group, indices in members.items():
        headings[row] = f"{group}: {count(len(indices), 'node')}"
        for position, index in enumerate(indices):
            cells[index] = (position % in_row, row + 1 + position // in_row)
        row += 1 + -(-len(indices) // in_row)
    return cells, headings


def _caption(nodes: Nodes, layout: _Layout) -> str:
    return (
        f"One cell per node {'by group' if layout.headings else 'in job order'}, {layout.in_row} per row. "
        "The colour bar starts at the median of "
        f"{'its hardware class' if len(set(nodes.classes)) > 1 else 'all nodes'} and ends {share(MAX_BEHIND)} behind "
        "it; values beyond either end have the colour of that end. Framed nodes are slow."
    )


def _meaning(metric: NodeMetric) -> str:
    sentence = (
        f"{count(len(metric.slow), 'node')} of {len(metric.value)} {'is' if len(metric.slow) == 1 else 'are'} slow."
    )
    return (
        f"A healthy cluster is evenly pale. {sentence} A single strong cell is a slow node: a hot or throttled "
        "processor, a failed memory module, a job that was left running. A strong row or block of neighbours shares "
        "a cause: a switch, a rack's power or cooling, a firmware version."
    )


def _point(nodes: Nodes, metric: NodeMetric, values: _Statistic, layout: _Layout, index: int) -> Point:
    value = values.values[index]
    point: Point = {
        "x": layout.cells[index][0],
        "y": layout.cells[index][1],
        "node": nodes.names[index],
        "shown": quantity(value, metric.unit),
        "behind": "–",
        "state": "slow" if index in metric.slow else "",
    }
    if value is None:
        return point
    lacking = behind(value, values.middle[nodes.classes[index]], metric.better)
    return {**point, "behind": share(lacking), "gap": rounded(min(MAX_BEHIND, max(0.0, lacking)))}


def _drawing(points: list[Point], bar: list[Point], layout: _Layout) -> tuple[dict[str, Any], Plot]:
    """Return the definition and the plot of the map, with its colour bar below, separated by an empty row."""
    columns = list(range(max(layout.in_row, 1 + max(int(point["x"]) for point in bar))))
    rows = list(range(1 + int(bar[0]["y"])))
    x = alt.X("x:O", axis=None, scale=alt.Scale(domain=columns))
    y = alt.Y("y:O", axis=None, scale=alt.Scale(domain=rows))
    base = chart_of(points).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("node:N"),
            alt.Tooltip("shown:N", title="value"),
            alt.Tooltip("behind:N", title="behind its class"),
            alt.Tooltip("state:N"),
        ],
    )
    key = chart_of(bar).encode(x=x, y=y)
    headings: list[Point] = [{"x": 0, "y": row, "group": text} for row, text in layout.headings.items()]
    layers = [*_cells(base, points, layout), *_bar_layers(key, layout)]
    if headings:
        names = chart_of(headings).encode(x=x, y=y, text=alt.Text("group:N"))
        layers.append(names.mark_text(fontSize=11, color="var(--ink)", align="left", dx=-layout.width / 2))
    plot = Plot(
        Axis(categories=columns, has_labels=False),
        Axis(categories=rows, has_labels=False),
        [
            Marks("cells", points, ("x", "y", "gap")),
            Marks("frames", [point for point in points if "gap" not in point], ("x", "y")),
            Marks("frames", [point for point in points if point["state"] == "slow"], ("x", "y"), colour="ink"),
            *(
                [Marks("text above", points, ("x", "y", "node")), Marks("text below", points, ("x", "y", "shown"))]
                if layout.is_named
                else []
            ),
            Marks("cells", bar, ("x", "y", "gap")),
            Marks("text", bar, ("x", "y", "label")),
            Marks("text on the right", bar, ("x", "y", "unit")),
            *([Marks("text on the right", headings, ("x", "y", "group"))] if headings else []),
        ],
        shade=Axis(ends=(0, MAX_BEHIND)),
    )
    return definition(alt.layer(*layers), alt.Step(layout.height), alt.Step(layout.width)), plot


def _shade(layout: _Layout) -> alt.Opacity:
    shades = SHADES if layout.is_named else _STRONG_SHADES
    return alt.Opacity("gap:Q", scale=alt.Scale(domain=[0, MAX_BEHIND], range=shades), legend=None)


def _cells(base: Any, points: list[Point], layout: _Layout) -> list[Any]:
    layers = [base.mark_rect(color="var(--series-1)").transform_filter("isValid(datum.gap)").encode(_shade(layout))]
    # Screen readers announce an empty group of marks as an unnamed picture.
    if any("gap" not in point for point in points):
        unknown = base.mark_rect(filled=False, stroke="var(--faint)", strokeDash=[2, 2])
        layers.append(unknown.transform_filter("!isValid(datum.gap)"))
    if any(point["state"] == "slow" for point in points):
        slow = base.mark_rect(filled=False, stroke="var(--ink)", strokeWidth=2)
        layers.append(slow.transform_filter("datum.state == 'slow'"))
    if layout.is_named:
        layers += [base.mark_text(fontSize=10, color="var(--ink)", dy=offset).encode(text=alt.Text(f"{field}:N"))
                   for field, offset in (("node", -7), ("shown", 7))]  # fmt: skip
    return layers


def _bar_layers(key: Any, layout: _Layout) -> list[Any]:
    below = 0 if layout.is_named else layout.height / 2 + 8
    numbers = key.mark_text(fontSize=10, color="var(--ink)", dy=below).transform_filter("isValid(datum.label)")
    unit = key.mark_text(fontSize=10, color="var(--ink)", align="left", dx=-layout.width / 2 + 4)
    return [
        key.mark_rect(color="var(--series-1)").transform_filter("isValid(datum.gap)").encode(_shade(layout)),
        numbers.encode(text=alt.Text("label:N")),
        unit.transform_filter("isValid(datum.unit)").encode(text=alt.Text("unit:N")),
    ]
