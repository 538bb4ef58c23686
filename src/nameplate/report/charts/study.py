"""Draw a study's charts: the run's values as solid lines, the published ones dashed and hollow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import altair as alt

from nameplate.records.study_record import StudyAxis, StudyChart, StudyLine
from nameplate.report.charts.common import (
    HEIGHT,
    Chart,
    Point,
    channel,
    chart_of,
    definition,
    layers_of_positions,
    legend,
    log_axis,
)
from nameplate.report.charts.plot import Axis, Marks, Plot

_CAPTION = "Solid lines and filled marks are this run; dashed lines and hollow marks are published values."
# Longer lines are drawn without marks.
_MAX_MARKS = 100
_POINT = 40
_LINE_OF_TEXT = 14
_MEANING = (
    "The line of a newer machine should be at about the same distance from the published line everywhere. Where the "
    "two lines have different shapes, something else limits this machine: a cache, a protocol, a file system."
)
_COLUMNS = (("line", "line"), ("source", "source"), ("x", "x"), ("y", "y"))


def make_study_chart(study: StudyChart, command: str) -> Chart | None:
    """Return a chart of a published study, with the run's lines solid and the published lines dashed.

    ``study`` has the axes and the lines of both. ``command`` is the shell command that repeats the run. The result is
    None if no line has a point.

    Raises:
        ValueError: an axis is logarithmic, but no value on it is above 0.
    """
    lines = [line for line in study.lines if line.points]
    if not lines:
        return None
    has_published = any(line.is_published for line in lines)
    columns = tuple((key, {"x": study.x.title, "y": study.y.title}.get(key, name)) for key, name in _COLUMNS)
    spec, plot = _drawing(study, lines)
    spec["description"] = f"{study.title}: {study.y.title} against {study.x.title}"
    return Chart(
        study.title,
        _MEANING if has_published else "",
        _CAPTION if has_published else "",
        spec,
        plot,
        columns,
        (command,),
    )


def _drawing(study: StudyChart, lines: Sequence[StudyLine]) -> tuple[dict[str, Any], Plot]:
    names = list(dict.fromkeys(line.name for line in lines))
    points = [point for line in lines for point in _points(line, 0)]
    x_axis = _axis(study.x, [float(p["x"]) for p in points], has_zero=study.x.has_zero)
    y_axis = _axis(study.y, [float(p["y"]) for p in points], has_zero=True)
    x, y = _channel(alt.X, "x", x_axis), _channel(alt.Y, "y", y_axis)
    layers: list[Any] = []
    marks: list[Marks] = []
    for is_published, is_joined in product((False, True), (True, False)):
        alike = [line for line in lines if (line.is_published, line.is_joined) == (is_published, is_joined)]
        if alike:
            # Names of positions are above the plot.
            key = legend(names, above=_LINE_OF_TEXT * bool(study.marks)) if not layers else None
            drawn, described = _layers(alike, x, y, names, key)
            layers += drawn
            marks += described
    drawn, described = layers_of_positions([{"x": at, "name": name} for at, name in study.marks], x, "name")
    layers += drawn
    marks += described
    spec = definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), HEIGHT)
    return spec, Plot(x_axis, y_axis, marks, names)


def _layers(
    lines: Sequence[StudyLine], x: Any, y: Any, names: Sequence[str], key: alt.Legend | None
) -> tuple[list[Any], list[Marks]]:
    """Return the layers and the marks of lines that agree in ``is_published`` and ``is_joined``."""
    published, joined = lines[0].is_published, lines[0].is_joined
    points = [point for segment, line in enumerate(lines) for point in _points(line, segment)]
    suffix = ", published" if published else ""
    drawn = chart_of(points).encode(x=x, y=y)
    scale = alt.Scale(domain=list(names))
    has_points = not joined or max(len(line.points) for line in lines) <= _MAX_MARKS
    layers: list[Any] = []
    marks: list[Marks] = []
    if joined:
        line = drawn.mark_line(strokeWidth=1.6, strokeDash=[5, 4] if published else alt.Undefined)
        colour = alt.Color("line:N", scale=scale, legend=None if has_points else key)
        layers.append(line.encode(colour, detail="segment:N"))
        marks.append(Marks("dashed line" if published else "line", points, ("x", "y"), by="line", suffix=suffix))
    if has_points:
        dots = drawn.mark_point(filled=not published, size=_POINT, opacity=1)
        layers.append(dots.encode(alt.Color("line:N", scale=scale, legend=key),
                                  alt.Shape("line:N", scale=scale, legend=key)))  # fmt: skip
        marks.append(Marks("rings" if published else "points", points, ("x", "y"), by="line", suffix=suffix))
    return layers, marks


def _points(line: StudyLine, segment: int) -> list[Point]:
    source = "published" if line.is_published else "here"
    return [{"line": line.name, "source": source, "segment": segment, "x": x, "y": y} for x, y in line.points]


def _axis(axis: StudyAxis, values: Sequence[float], has_zero: bool) -> Axis:
    if not axis.is_logarithmic:
        return Axis(axis.title, names=dict(axis.names), has_zero=has_zero)
    ends, numbers = log_axis(min(v for v in values if v > 0), max(values))
    return Axis(axis.title, base=10, ends=ends, numbers=numbers, names=dict(axis.names))


def _channel(kind: Any, field: str, axis: Axis) -> Any:
    scale = {} if axis.base or axis.has_zero else {"zero": False, "padding": 14}
    return channel(kind, field, axis, scale, **({"grid": False} if axis.names else {}))
