"""Write the node maps as a picture file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nameplate.errors import UsageError
from nameplate.records.result import Nodes
from nameplate.report.chart_files.pictures import FORMATS, write_picture
from nameplate.report.charts.common import Chart
from nameplate.report.charts.node_map import node_map, statistics_of


def write_maps(nodes: Nodes, path: Path, force: bool = False) -> None:
    """Write a picture with one row of maps for each metric of the nodes.

    A row has the map of the metric's values, or the maps of their average, minimum and maximum if the extremes of
    single repeats are known. ``nodes`` must have at least one node and one metric. The suffix of ``path``, .svg, .pdf
    or .png, chooses the format; an existing picture is replaced.

    Raises:
        UsageError: the file name has no suffix of a picture format.
        FileError: the file cannot be written.
    """
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: not a picture format; use {', '.join(FORMATS)}")
    rows = [[node_map(nodes, metric, name) for name in statistics_of(metric)] for metric in nodes.metrics]
    # Properties of a whole chart are allowed only at the top level.
    data = {name: points for row in rows for chart in row for name, points in chart.spec["datasets"].items()}
    views = [{"hconcat": [_view(chart) for chart in row]} for row in rows]
    write_picture({"vconcat": views, "datasets": data}, path, force)


def _view(chart: Chart) -> dict[str, Any]:
    own = {key: part for key, part in chart.spec.items() if key not in ("datasets", "background")}
    return {**own, "title": chart.title}
