"""The maps of nodes as a picture file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import vl_convert

from nameplate.errors import FileError, UsageError
from nameplate.model import Nodes
from nameplate.report.node_map import node_map

# The page's colours by day: a picture has no theme.
_COLOURS = {"--series-1": "#c2410c", "--faint": "#94a3b8", "--ink": "#0f172a"}
_FORMATS = (".svg", ".png")


def write_maps(nodes: Nodes, path: Path) -> None:
    """Every metric's map, one below the other. Raises UsageError or FileError."""
    if path.suffix not in _FORMATS:
        raise UsageError(f"{path}: maps are written as {' or '.join(_FORMATS)}")
    charts = [node_map(nodes, metric) for metric in nodes.metrics]
    # What a chart by itself has at its top stands there only once.
    data = {name: points for chart in charts for name, points in chart.spec["datasets"].items()}
    own = [{key: part for key, part in chart.spec.items() if key not in ("datasets", "background")} for chart in charts]
    views = [{**spec, "title": chart.title} for chart, spec in zip(charts, own, strict=True)]
    drawing = _coloured(json.dumps({"vconcat": views, "datasets": data, "background": "white"}))
    try:
        if path.suffix == ".svg":
            path.write_text(vl_convert.vegalite_to_svg(drawing), encoding="utf-8")
        else:
            path.write_bytes(vl_convert.vegalite_to_png(drawing, scale=2))
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from None


def _coloured(spec: str) -> str:
    return re.sub(r"var\((--[\w-]+)\)", lambda match: _COLOURS[match[1]], spec)
