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
    """Write a picture with one chart per metric, one below the other, in which each machine has a line.

    - ``series``: the values of each metric and machine over time, grouped by metric, at least one
    - ``changes``: the changes to mark with a vertical line at the run ``since``, which must be among the metric's
      points. Only changes of the kind "step" of metrics in ``series`` are marked.
    - ``names``: gives the titles of the charts
    - ``path``: the file; its suffix .svg, .pdf or .png chooses the format
    - ``force``: whether a file that is not an earlier picture may be replaced; run files are never replaced

    Raises:
        UsageError: the file name has no suffix of a picture format, or there are more than 30 metrics.
        FileError: the file cannot be written or may not be replaced.
    """
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: not a picture format; use {', '.join(FORMATS)}")
    by_metric = [list(group) for _, group in groupby(series, key=lambda metric: metric.key)]
    if len(by_metric) > _MAX_CHARTS:
        raise UsageError(
            f"-o: {len(by_metric)} metrics do not fit into one picture; select fewer, for example by a parameter or "
            "a metric name"
        )
    write_picture({"vconcat": [_chart(group, changes, names) for group in by_metric]}, path, force)


def _chart(series: Sequence[MetricHistory], changes: Sequence[ChangeReport], names: MetricNames) -> dict[str, Any]:
    """Return the chart of one metric: one line per machine, and the verdict at a vertical line at each change point."""
    key = series[0].key
    factor, unit = scale(series[0].typical, key.unit)
    points = [
        {"started": point.started, "value": point.value / factor, "machine": metric.machine}
        for metric in series
        for point in metric.points
    ]
    started = {point.path: point.started for metric in series for point in metric.points}
    steps = [
        {"started": started[change.since], "words": f"{change.verdict} {change.machine}"}
        for change in changes
        if change.kind == "step" and change.key == key
    ]
    x = alt.X("started:T", title=None)
    y = alt.Y("value:Q", title=f"{key.metric} ({unit})", scale=alt.Scale(zero=False))
    machines = alt.Scale(domain=[metric.machine for metric in series])
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
