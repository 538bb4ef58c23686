"""The maps of nodes as a picture file."""

from __future__ import annotations

from pathlib import Path

from nameplate.errors import UsageError
from nameplate.model import Nodes
from nameplate.report.node_map import node_map
from nameplate.report.pictures import FORMATS, write_picture


def write_maps(nodes: Nodes, path: Path) -> None:
    """Every metric's map, one below the other. Raises UsageError or FileError."""
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: maps are written as {' or '.join(FORMATS)}")
    charts = [node_map(nodes, metric) for metric in nodes.metrics]
    # What a chart by itself has at its top stands there only once.
    data = {name: points for chart in charts for name, points in chart.spec["datasets"].items()}
    own = [{key: part for key, part in chart.spec.items() if key not in ("datasets", "background")} for chart in charts]
    views = [{**spec, "title": chart.title} for chart, spec in zip(charts, own, strict=True)]
    write_picture({"vconcat": views, "datasets": data}, path)
