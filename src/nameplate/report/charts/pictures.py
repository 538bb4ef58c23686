"""Write charts as SVG and PNG files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import vl_convert

from nameplate.errors import FileError, UsageError
from nameplate.records.atomic_write import write_whole
from nameplate.records.model import Report
from nameplate.report.charts.named import NamedChart, named_charts
from nameplate.report.charts.theme import THEME, coloured

FORMATS = (".svg", ".png")

_WIDTH = 720
_PIXELS_A_POINT = 2.0


def write_charts(reports: Sequence[Report], directory: Path) -> int:
    """Write every chart of a report on these runs as SVG and PNG, and return their number.

    If there are several runs, the file names start with ``run-1-``, ``run-2-``.

    Raises:
        UsageError: the report would have no chart.
        FileError: a file cannot be written.
    """
    prefixes = [f"run-{number}-" for number in range(1, len(reports) + 1)] if len(reports) > 1 else [""]
    charts = {prefix + chart.name: chart for prefix, report in zip(prefixes, reports, strict=True)
              for chart in named_charts(report)}  # fmt: skip
    if not charts:
        raise UsageError("--charts: the report on these runs has no chart; nameplate show prints their tables")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot write to {directory}: {error.strerror}") from None
    write_pictures(charts, directory)
    return len(charts)


def write_pictures(charts: Mapping[str, NamedChart], directory: Path) -> None:
    """Write each chart as SVG and PNG under its name.

    Raises:
        FileError: a file cannot be written.
    """
    for name, chart in charts.items():
        for ending in FORMATS:
            write_picture(_by_itself(chart), directory / f"{name}{ending}")


def write_picture(definition: Mapping[str, Any], path: Path) -> None:
    """Write a chart's definition as SVG or PNG, by the file's suffix, in the colours of the light theme.

    Raises:
        FileError: the file cannot be written.
    """
    drawing = coloured(json.dumps({**definition, "background": "white", "config": THEME}))
    if path.suffix == ".svg":
        write_whole(vl_convert.vegalite_to_svg(drawing).encode(), path)
    else:
        write_whole(vl_convert.vegalite_to_png(drawing, scale=_PIXELS_A_POINT), path)


def _by_itself(named: NamedChart) -> dict[str, Any]:
    """Return the definition with its title inside and a fixed width."""
    spec = dict(named.chart.spec)
    if spec["width"] == "container":
        spec["width"] = _WIDTH
    title = {"text": named.title, "subtitle": named.chart.caption, "anchor": "start"}
    return {**spec, "title": title, "padding": 12}
