"""Draw a metric of all nodes as a map: one cell per node in job order, coloured by its distance from its class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from nameplate.records.result import NodeMetric, Nodes
from nameplate.report.charts.colour_bar import LETTER, colour_bar
from nameplate.report.charts.common import Chart, Point, chart_of, definition, rounded
from nameplate.report.charts.heatmap import SHADES
from nameplate.report.content.format import count, quantity, share
from nameplate.report.content.node_values import behind, class_medians

# The colour scale ends here; nodes that are further behind have its last colour.
MAX_BEHIND = 0.25
# Up to this many nodes, cells have room for a name and a value.
MAX_NAMED = 64
# A map without text in its cells may use stronger shades.
_STRONG_SHADES = [0.06, 0.9]
# Maps are wider than high and as wide as the page; the cells of few nodes are larger.
_BREADTH = 2.5
_MIN_IN_ROW, _MAX_IN_ROW = 25, 100
_WIDTH, _MAX_CELL = 800, 26
_NAMED_HEIGHT, _MARGIN = 34, 12


@dataclass(frozen=True)
class _Layout:
    """The arrangement and size of cells in pixels; with ``is_named``, cells contain their node's name and value."""

    in_row: int
    width: int
    height: int
    is_named: bool


@dataclass(frozen=True)
class _Statistic:
    """One value per node, and the median of each hardware class, which the colours relate to."""

    name: str
    values: Sequence[float | None]
    middle: Mapping[str, float]


def statistics_of(metric: NodeMetric) -> Sequence[str]:
    """Return the names of a metric's maps, each of which ``node_map`` takes as ``statistic``.

    They are "average", "minimum" and "maximum" if the extremes of the metric's repeats are known, else only "".
    """
    return ("average", "minimum", "maximum") if metric.minimum else ("",)


def row_length(nodes: int) -> int:
    """Return the number of cells in each row of a map without names, for this number of nodes.

    It is a multiple of five from 25 to 100, which makes counting easy.
    """
    return min(_MAX_IN_ROW, max(_MIN_IN_ROW, 5 * math.ceil(math.sqrt(_BREADTH * nodes) / 5)))


def node_map(nodes: Nodes, metric: NodeMetric, statistic: str = "", command: str = "") -> Chart:
    """Return the map of a metric: one cell per node in job order, coloured by its distance behind its class median.

    ``metric`` is one of ``nodes.metrics``. ``statistic`` is one of ``statistics_of(metric)``; "minimum" and "maximum"
    show the extremes of single repeats, the others the metric's value. ``command`` is the shell command that repeats
    the measurement, or "" if it is not known. Up to ``MAX_NAMED`` nodes, cells contain the node's name and value. The
    cell of a node without a value has no colour. ``nodes`` must have at least one node.

    Raises:
        ValueError: ``statistic`` is "minimum" or "maximum", and the metric does not have it.
    """
    own = _statistic(nodes, metric, statistic)
    layout = _layout(nodes, metric, own)
    points = [_point(nodes, metric, own, layout, place) for place in range(len(nodes.names))]
    title = f"{metric.title}, {statistic}" if statistic else metric.title
    columns = (("node", "node"), ("shown", title), ("behind", "behind its class"), ("state", "slow?"))
    below = 1 + max(int(point["y"]) for point in points)
    bar = colour_bar(metric, own.middle, MAX_BEHIND, below + 1, layout.width)
    spec = _spec(points, bar, layout)
    spec["description"] = f"{title} of every node"
    commands = (command,) if command else ()
    return Chart(title, _meaning(metric), _caption(nodes, layout), spec, columns, commands)


def _statistic(nodes: Nodes, metric: NodeMetric, name: str) -> _Statistic:
    values = {"minimum": metric.minimum, "maximum": metric.maximum}.get(name, metric.value)
    return _Statistic(name, values, class_medians(nodes, values))


def _layout(nodes: Nodes, metric: NodeMetric, own: _Statistic) -> _Layout:
    number = len(nodes.names)
    if number > MAX_NAMED:
        in_row = row_length(number)
        side = min(_MAX_CELL, _WIDTH // in_row)
        return _Layout(in_row, side, side, False)
    words = [*nodes.names, *(quantity(value, metric.unit) for value in own.values)]
    width = math.ceil(LETTER * max(map(len, words)) + _MARGIN)
    return _Layout(min(number, max(1, _WIDTH // width)), width, _NAMED_HEIGHT, True)


def _caption(nodes: Nodes, layout: _Layout) -> str:
    return (
        f"One cell per node in job order, {layout.in_row} per row. The colour bar starts at the median of "
        f"{'its hardware class' if len(set(nodes.classes)) > 1 else 'all nodes'} and ends {share(MAX_BEHIND)} behind "
        "it; values beyond either end have the colour of that end. Framed nodes are slow."
    )


def _meaning(metric: NodeMetric) -> str:
    found = f"{count(len(metric.slow), 'node')} of {len(metric.value)} {'is' if len(metric.slow) == 1 else 'are'} slow."
    return (
        f"A healthy cluster is evenly pale. {found} A single strong cell is a slow node: a hot or throttled "
        "processor, a failed memory module, a job that was left running. A strong row or block of neighbours shares "
        "a cause: a switch, a rack's power or cooling, a firmware version."
    )


def _point(nodes: Nodes, metric: NodeMetric, own: _Statistic, layout: _Layout, place: int) -> Point:
    value = own.values[place]
    point: Point = {
        "x": place % layout.in_row,
        "y": place // layout.in_row,
        "node": nodes.names[place],
        "shown": quantity(value, metric.unit),
        "behind": "–",
        "state": "slow" if place in metric.slow else "",
    }
    if value is None:
        return point
    lacking = behind(value, own.middle[nodes.classes[place]], metric.better)
    return {**point, "behind": share(lacking), "gap": rounded(min(MAX_BEHIND, max(0.0, lacking)))}


def _spec(points: list[Point], bar: list[Point], layout: _Layout) -> dict[str, Any]:
    """Return the map with its colour bar, separated by one empty row."""
    across = max(layout.in_row, 1 + max(int(point["x"]) for point in bar))
    x = alt.X("x:O", axis=None, scale=alt.Scale(domain=list(range(across))))
    y = alt.Y("y:O", axis=None, scale=alt.Scale(domain=list(range(1 + int(bar[0]["y"])))))
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
    layers = [*_cells(base, points, layout), *_bar_layers(key, layout)]
    return definition(alt.layer(*layers), alt.Step(layout.height), alt.Step(layout.width))


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
