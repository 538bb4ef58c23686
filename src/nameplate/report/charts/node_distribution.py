"""Draw the distribution of a metric over all nodes: the share of the nodes of a class with at most a given value."""

from __future__ import annotations

import altair as alt
import numpy as np

from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.report.charts.common import (
    HEIGHT,
    LINES_IN_A_CHART,
    Chart,
    Point,
    channel,
    chart_of,
    definition,
    legend,
    rounded,
)
from nameplate.report.charts.plot import Axis, Marks, Plot
from nameplate.report.content.format import scale

# Of fewer nodes, the ranking says as much.
MIN_NODES = 20
# A line of more points looks the same, and each adds text to the page.
_MAX_POINTS = 100

_MEANING = (
    "A steep line means that the nodes are alike; dots far out at the slow end are slow nodes. A step in the middle "
    "means two kinds of nodes, such as two firmware versions, memory configurations or power limits."
)


def node_distribution(nodes: Nodes, metric: NodeMetric, command: str = "") -> Chart | None:
    """Return the chart of the share of nodes that have at most a value, with a line for each hardware class.

    ``metric`` is one of ``nodes.metrics``, and ``command`` the shell command that repeats the measurement, or "". The
    up to 8 (``LINES_IN_A_CHART``) largest classes have lines; slow nodes are dots on them. The result is None if no
    class has at least 20 (``MIN_NODES``) nodes with a value.
    """
    by_class: dict[str, list[int]] = {}
    for index, (name, value) in enumerate(zip(nodes.classes, metric.value, strict=True)):
        if value is not None:
            by_class.setdefault(name, []).append(index)
    largest = sorted(by_class.items(), key=lambda entry: -len(entry[1]))[:LINES_IN_A_CHART]
    classes = {name: indices for name, indices in largest if len(indices) >= MIN_NODES}
    if not classes:
        return None
    factor, unit = scale(float(np.median([value for value in metric.value if value is not None])), metric.unit)
    line: list[Point] = []
    dots: list[Point] = []
    for name, indices in classes.items():
        line += _points(name, metric, indices, factor)
        dots += _slow(nodes, name, metric, indices, factor)
    return _chart(metric, list(classes), line, dots, unit, command)


def _points(name: str, metric: NodeMetric, indices: list[int], factor: float) -> list[Point]:
    values = sorted(metric.value[index] or 0.0 for index in indices)
    ranks = np.unique(np.linspace(1, len(values), min(len(values), _MAX_POINTS)).round().astype(int))
    return [
        {"line": name, "value": rounded(values[rank - 1] / factor), "share": rounded(rank / len(values))}
        for rank in ranks.tolist()
    ]


def _slow(nodes: Nodes, name: str, metric: NodeMetric, indices: list[int], factor: float) -> list[Point]:
    values = np.sort([metric.value[index] or 0.0 for index in indices])
    slow = [(nodes.names[index], metric.value[index] or 0.0) for index in indices if index in metric.slow]
    return [
        {"line": name, "node": node, "value": rounded(value / factor),
         "share": rounded(float(np.searchsorted(values, value, side="right")) / len(values))}
        for node, value in slow
    ]  # fmt: skip


def _chart(
    metric: NodeMetric, names: list[str], line: list[Point], dots: list[Point], unit: str, command: str
) -> Chart:  # fmt: skip
    title = f"{metric.title}, distribution"
    x, y = Axis(f"{metric.metric} ({unit})"), Axis("share of nodes", ends=(0, 1))
    tooltip = [alt.Tooltip("line:N", title="class"), alt.Tooltip("value:Q", title=x.title),
               alt.Tooltip("share:Q", format=".1%")]  # fmt: skip
    horizontal = channel(alt.X, "value", x, {"zero": False})
    vertical = alt.Y("share:Q", title=y.title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    colour = alt.Color("line:N", scale=alt.Scale(domain=names), legend=legend(names))
    steps = chart_of(line).mark_line(strokeWidth=1.6, interpolate="step-after")
    layers = [steps.encode(horizontal, vertical, colour, tooltip=tooltip if len(names) > 1 else tooltip[1:])]
    if dots:
        points = chart_of(dots).mark_point(filled=True, size=36, color="var(--ink)", opacity=1)
        layers.append(points.encode(horizontal, vertical, tooltip=[alt.Tooltip("node:N"), *tooltip[1:]]))
    columns = (("line", "class"), ("share", "share"), ("value", x.title or ""))
    caption = "The share of nodes whose value is at most this one. Dots are slow nodes."
    marks = [Marks("steps", line, ("value", "share"), by="line")]
    if dots:
        marks.append(Marks("points", dots, ("value", "share"), colour="ink"))
    plot = Plot(x, y, marks, names)
    return Chart(
        title, _MEANING, caption, definition(alt.layer(*layers), HEIGHT), plot,
        columns if len(names) > 1 else columns[1:], (command,) if command else (),
    )  # fmt: skip
