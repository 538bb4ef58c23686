"""Draw a study's charts: the run's values as solid lines, the published ones dashed and hollow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nameplate.records.study_record import StudyAxis, StudyChart, StudyLine
from nameplate.report.charts.common import (
    HEIGHT,
    Chart,
    Point,
    chart_of,
    definition,
    legend,
    log_axis,
    rounded,
    tick_labels,
)

_CAPTION = "Solid lines and filled marks are this run; dashed lines and hollow marks are published values."
# Longer lines are drawn without marks.
_MAX_MARKS = 100
_POINT = 40
_LABEL_Y = -6  # above the plot
_MEANING = (
    "The line of a newer machine should be at about the same distance from the published line everywhere. Where the "
    "two lines have different shapes, something else limits this machine: a cache, a protocol, a file system."
)
_COLUMNS = (("line", "line"), ("source", "source"), ("x", "x"), ("y", "y"))


def make_study_chart(study: StudyChart, command: str) -> Chart | None:
    """Return the chart of a study with the run's lines solid and the published ones dashed.

    ``command`` is the shell command that repeats the run. The result is None if neither the run nor the study has a
    point for the chart.

    Raises:
        ValueError: an axis is logarithmic, and no point is above 0 on it.
    """
    lines = [line for line in study.lines if line.points]
    if not lines:
        return None
    has_published = any(line.is_published for line in lines)
    columns = tuple((key, {"x": study.x.title, "y": study.y.title}.get(key, name)) for key, name in _COLUMNS)
    spec = _spec(study, lines)
    spec["description"] = f"{study.title}: {study.y.title} against {study.x.title}"
    return Chart(
        study.title, _MEANING if has_published else "", _CAPTION if has_published else "", spec, columns, (command,)
    )


def _spec(study: StudyChart, lines: Sequence[StudyLine]) -> dict[str, Any]:
    names = list(dict.fromkeys(line.name for line in lines))
    points = [point for line in lines for point in _points(line)]
    x = _axis(alt.X, "x", study.x, [float(p["x"]) for p in points])
    y = _axis(alt.Y, "y", study.y, [float(p["y"]) for p in points])
    scale = alt.Scale(domain=names)
    layers: list[Any] = []
    for is_published in (False, True):
        for is_joined in (True, False):
            own = [line for line in lines if (line.is_published, line.is_joined) == (is_published, is_joined)]
            if own:
                layers += _layers(own, x, y, scale, legend(names) if not layers else None)
    layers += _marks(study, x)
    return definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), HEIGHT)


def _layers(lines: Sequence[StudyLine], x: Any, y: Any, scale: Any, key: Any) -> list[Any]:
    published, joined = lines[0].is_published, lines[0].is_joined
    drawn = chart_of([p for line in lines for p in _points(line)]).encode(x=x, y=y)
    colour = alt.Color("line:N", scale=scale, legend=None)
    layers: list[Any] = []
    if joined:
        dashes = [5, 4] if published else alt.Undefined
        layers.append(drawn.mark_line(strokeWidth=1.6, strokeDash=dashes).encode(color=colour))
    if not joined or max(len(line.points) for line in lines) <= _MAX_MARKS:
        marks = drawn.mark_point(filled=not published, size=_POINT, opacity=1)
        layers.append(marks.encode(alt.Color("line:N", scale=scale, legend=key),
                                   alt.Shape("line:N", scale=scale, legend=key)))  # fmt: skip
    elif key is not None:
        layers[0] = layers[0].encode(color=alt.Color("line:N", scale=scale, legend=key))
    return layers


def _marks(study: StudyChart, x: Any) -> list[Any]:
    if not study.marks:
        return []
    places = chart_of([{"x": at, "name": name} for at, name in study.marks]).encode(x=x)
    return [
        places.mark_rule(strokeDash=[2, 3], color="var(--ink)", opacity=0.5),
        places.mark_text(align="left", dx=3, color="var(--ink)").encode(y=alt.value(_LABEL_Y), text=alt.Text("name:N")),
    ]


def _points(line: StudyLine) -> list[Point]:
    source = "published" if line.is_published else "here"
    return [{"line": line.name, "source": source, "x": rounded(x), "y": rounded(y)} for x, y in line.points]


def _axis(kind: Any, field: str, axis: StudyAxis, values: Sequence[float]) -> Any:
    if axis.names:
        shown = alt.Axis(values=[at for at, _ in axis.names], labelExpr=tick_labels(dict(axis.names)), grid=False)
    else:
        shown = alt.Axis(tickCount=6)
    if not axis.is_logarithmic:
        linear = alt.Scale(zero=True) if field == "y" else alt.Scale(zero=False, padding=14)
        return kind(f"{field}:Q", title=axis.title, axis=shown, scale=linear)
    ends, numbers = log_axis(min(v for v in values if v > 0), max(values))
    if not axis.names:
        shown = alt.Axis(values=numbers, format="~g")
    return kind(f"{field}:Q", title=axis.title, axis=shown, scale=alt.Scale(type="log", domain=ends, nice=False))
