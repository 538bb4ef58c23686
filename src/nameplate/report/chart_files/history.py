"""Draw metrics over the runs of a folder as a picture file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import altair as alt

from nameplate.errors import UsageError
from nameplate.history.changes import ChangeReport, MetricHistory
from nameplate.report.chart_files.pictures import FORMATS, write_picture
from nameplate.report.charts.common import definition
from nameplate.report.content.format import scale
from nameplate.report.content.metric_names import MetricNames

_HEIGHT = 200
_WIDTH = 720
_MAX_CHARTS = 30


def write_series(
    series: Sequence[MetricHistory],
    changes: Sequence[ChangeReport],
    names: MetricNames,
    path: Path,
    force: bool = False,
) -> None:
    """Write a picture with one chart for each metric, below each other, with a line for each machine.

    ``series`` must not be empty and must be grouped by metric. The change points among ``changes`` are marked in the
    chart of their metric; the run ``since`` of each must be among the points of that metric. Drifts, and changes of
    metrics that are not in ``series``, are not marked. ``names`` gives the titles of the charts. The suffix of
    ``path``, .svg, .pdf or .png, chooses the format; an earlier picture is replaced, with ``force`` also
    another file.

    Raises:
        UsageError: the file name has no suffix of a picture format, or there are more than 30 metrics.
        FileError: the file cannot be written or may not be replaced.
    """
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: not a picture format; use {', '.join(FORMATS)}")
    by_metric = [list(own) for _, own in groupby(series, key=lambda each: each.key)]
    if len(by_metric) > _MAX_CHARTS:
        raise UsageError(
            f"-o: {len(by_metric)} metrics do not fit one picture; add words to the pattern so that fewer match"
        )
    write_picture({"vconcat": [_chart(own, changes, names) for own in by_metric]}, path, force)


def _chart(own: Sequence[MetricHistory], changes: Sequence[ChangeReport], names: MetricNames) -> dict[str, Any]:
    """Return the chart of one metric: a line for each machine, and a rule with the verdict at each change point."""
    key = own[0].key
    factor, unit = scale(own[0].usual, key.unit)
    points = [
        {"started": point.started, "value": point.value / factor, "machine": each.machine}
        for each in own
        for point in each.points
    ]
    steps = [
        {"started": _started(own, change), "words": f"{change.verdict} {change.machine}"}
        for change in changes
        if change.kind == "step" and change.key == key
    ]
    x = alt.X("started:T", title=None)
    y = alt.Y("value:Q", title=f"{key.metric} ({unit})", scale=alt.Scale(zero=False))
    machines = alt.Scale(domain=[each.machine for each in own])
    runs, rules = alt.Chart().encode(x, y), alt.Chart().encode(x)
    layers = alt.layer(
        runs.mark_line(strokeWidth=1).encode(alt.Color("machine:N", scale=machines, legend=None)),
        runs.mark_point(filled=True, size=24, opacity=1).encode(
            alt.Color("machine:N", scale=machines), alt.Shape("machine:N", scale=machines)
        ),
        rules.mark_rule(strokeDash=[4, 4]),
        rules.mark_text(align="left", dx=4, dy=-_HEIGHT // 2 - 4).encode(text=alt.Text("words:N")),
    )
    made = {**definition(layers, _HEIGHT, _WIDTH), "title": {"text": names.of(key), "anchor": "start"}}
    # The charts of a picture share one background.
    del made["background"]
    for layer, values in zip(made["layer"], (points, points, steps, steps), strict=True):
        layer["data"] = {"values": values}
    return made


def _started(own: Sequence[MetricHistory], change: ChangeReport) -> str:
    return next(point.started for each in own for point in each.points if point.path == change.since)
