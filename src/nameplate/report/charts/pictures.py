"""Write charts as SVG and PNG files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import vl_convert

from nameplate.errors import FileError, UsageError
from nameplate.records.atomic_write import write_whole
from nameplate.records.result import Report
from nameplate.report.charts.named import NamedChart, named_charts
from nameplate.report.charts.theme import THEME, coloured

FORMATS = (".svg", ".png")

_WIDTH = 720
_PIXELS_A_POINT = 2.0


def write_charts(reports: Sequence[Report], directory: Path) -> int:
    """Write every chart of the reports into ``directory`` as SVG and PNG, and return the number of charts.

    The directory is created if necessary, and files of the same names are replaced. The file names are those of
    ``named_charts``. If there are several reports, they start with ``run-1-``, ``run-2-``, in the order of ``reports``.
    There must be at least one report.

    Raises:
        UsageError: the reports have no chart.
        FileError: the directory or a file cannot be written.
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
    """Write each chart into an existing directory as NAME.svg and NAME.png, with its title and caption inside.

    The keys of ``charts`` are the file names without a suffix. Files of the same names are replaced.

    Raises:
        FileError: a file cannot be written.
    """
    for name, chart in charts.items():
        for ending in FORMATS:
            write_picture(_by_itself(chart), directory / f"{name}{ending}")


def write_picture(definition: Mapping[str, Any], path: Path) -> None:
    """Write a Vega-Lite definition as a picture in the colours of the light theme, on white.

    The format is SVG if the suffix of ``path`` is .svg, otherwise PNG with two pixels per point. The width of
    ``definition`` must be a number or a step. Its ``background`` and ``config`` are not used. A file of the same name
    is replaced.

    Raises:
        FileError: the file cannot be written, or is a run file, which is never replaced.
        KeyError: the definition has a colour name that the light theme does not have.
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
