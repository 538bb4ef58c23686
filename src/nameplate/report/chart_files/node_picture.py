"""Write the node maps of a job as a picture file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nameplate.errors import UsageError
from nameplate.records.node_record import Nodes
from nameplate.report.chart_files.pictures import FORMATS, write_picture
from nameplate.report.charts.common import Chart
from nameplate.report.charts.node_map import node_map, statistics_of


def write_maps(nodes: Nodes, path: Path, force: bool = False) -> None:
    """Write a picture with the maps of all metrics of the nodes, one row per metric.

    A row has one map with the metric's values, or three with the average, minimum and maximum if the extremes of single
    repeats are known. ``nodes`` must have at least one node and one metric. The suffix of ``path``, .svg, .pdf or .png,
    chooses the format. An earlier picture is replaced; with ``force``, another file is replaced as well.

    Raises:
        UsageError: the file name has no suffix of a picture format.
        FileError: the file cannot be written or may not be replaced.
    """
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: not a picture format; use {', '.join(FORMATS)}")
    rows = [[node_map(nodes, metric, name) for name in statistics_of(metric)] for metric in nodes.metrics]
    # Properties of a whole chart are allowed only at the top level.
    data = {name: points for row in rows for chart in row for name, points in chart.spec["datasets"].items()}
    views = [{"hconcat": [_view(chart) for chart in row]} for row in rows]
    write_picture({"vconcat": views, "datasets": data}, path, force)


def _view(chart: Chart) -> dict[str, Any]:
    view = {key: part for key, part in chart.spec.items() if key not in ("datasets", "background")}
    return {**view, "title": chart.title}
