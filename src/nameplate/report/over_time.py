"""A cell's samples one after the other."""

from __future__ import annotations

from functools import cache
from typing import Any

import altair as alt

from nameplate.model import Result, Series
from nameplate.report.charts import Chart, Point, definition, rounded
from nameplate.report.format import parameters, scale

_HEIGHT = 120


def over_time(result: Result, limit: int) -> Chart:
    """Every sample's value, or of each stretch of time the least and the greatest where there are over ``limit``."""
    row = result.summary
    factor, unit = scale(row.value or 0.0, row.unit)
    shown = thin(result.series, limit)
    points = [_point(result.series, index, factor) for index in shown]
    count = len(result.series.value)
    caption = f"{count} samples, {sum(result.series.disturbed)} disturbed."
    if len(shown) < count:
        caption += f" {len(shown)} of them are drawn: the least and the greatest of each stretch of time."
    spec = {
        **_spec(unit),
        "data": {"values": points},
        "description": f"{row.metric} in {unit} over time, {row.probe} {parameters(row.params)}",
    }
    return Chart("", caption, spec, (("start", "start (s)"), ("value", f"{row.metric} ({unit})"), ("state", "state")))


def thin(series: Series, limit: int) -> list[int]:
    """At most ``limit`` indices that keep the outline: minimum and maximum of each of ``limit / 2`` stretches."""
    count = len(series.value)
    if count <= limit:
        return list(range(count))
    stretches = max(1, limit // 2)
    kept: set[int] = set()
    for k in range(stretches):
        stretch = range(k * count // stretches, (k + 1) * count // stretches)
        kept.add(min(stretch, key=series.value.__getitem__))
        kept.add(max(stretch, key=series.value.__getitem__))
    return sorted(kept)


def _point(series: Series, index: int, factor: float) -> Point:
    return {
        "start": round(series.start_s[index], 3),
        "value": rounded(series.value[index] / factor),
        "state": "disturbed" if series.disturbed[index] else "undisturbed",
    }


@cache
def _spec(unit: str) -> dict[str, Any]:
    x = alt.X("start:Q", title="seconds of measuring", scale=alt.Scale(padding=6), axis=alt.Axis(tickCount=5))
    y = alt.Y("value:Q", title=unit, scale=alt.Scale(zero=False, nice=False, padding=6), axis=alt.Axis(tickCount=4))
    states = alt.Scale(domain=["undisturbed", "disturbed"], range=["circle", "triangle-up"])
    colours = alt.Scale(domain=["undisturbed", "disturbed"], range=["var(--series-1)", "var(--series-2)"])
    base = alt.Chart(alt.InlineData(values=[]))
    points = base.mark_point(filled=True, size=34, opacity=0.75).encode(
        x=x,
        y=y,
        shape=alt.Shape("state:N", scale=states, legend=None),
        color=alt.Color("state:N", scale=colours, legend=None),
        tooltip=[alt.Tooltip("start:Q", title="seconds"), alt.Tooltip("value:Q", title=unit), "state:N"],
    )
    middle = base.mark_rule(strokeDash=[4, 3]).encode(y=alt.Y("median(value):Q", title=unit))
    return definition(alt.layer(middle, points), _HEIGHT)
