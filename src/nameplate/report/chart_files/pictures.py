"""Write charts as SVG, PDF and PNG files."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vl_convert

from nameplate.errors import FileError, UsageError
from nameplate.records.atomic_write import write_whole
from nameplate.records.replaceable import check_replaceable, marked, marked_png
from nameplate.records.result import Report
from nameplate.report.chart_files.named import NamedChart, named_charts_of
from nameplate.report.charts.theme import THEME, coloured

# Characters are narrower on average, so that no line is cut at the edge of the picture.
_PX_PER_CHARACTER = 6
_PX_PER_HEADING_CHARACTER = 8
FORMATS = (".svg", ".pdf", ".png")


@dataclass(frozen=True)
class Form:
    """A use of a picture, which decides its size: ``width`` and ``height`` are in pixels (SVG) or points (PDF).

    Charts whose size depends on their number of cells keep it. A picture with ``has_title`` has its title and caption
    inside. ``scale`` is the number of pixels of a PNG for each pixel of the SVG.
    """

    name: str
    width: int
    height: int
    has_title: bool
    scale: float


# Fitted into a column of 3.5 inches, the text has 8 points; the caption is part of the document. A slide is 16:9.
PAPER = Form("paper", 336, 250, has_title=False, scale=4.0)
SLIDE = Form("slide", 640, 360, has_title=True, scale=2.0)


def write_charts(reports: Sequence[Report], directory: Path, force: bool = False) -> int:
    """Write every chart of the reports into ``directory``, and return the number of charts.

    Each chart is written as ``PAPER`` and as ``SLIDE``, into the subdirectories ``paper`` and ``slide``, in each of
    ``FORMATS``. Directories are created if necessary, and earlier charts of the same names are replaced, with
    ``force`` also other files. The file names are those of ``named_charts_of``. If there are several reports, they
    start with ``run-1-``, ``run-2-``, in the order of ``reports``. There must be at least one report.

    Raises:
        UsageError: the reports have no chart.
        FileError: the directory or a file cannot be written.
    """
    prefixes = [f"run-{number}-" for number in range(1, len(reports) + 1)] if len(reports) > 1 else [""]
    charts = {prefix + chart.name: chart for prefix, own in zip(prefixes, named_charts_of(reports), strict=True)
              for chart in own}  # fmt: skip
    if not charts:
        raise UsageError("--charts: the report on these runs has no chart; nameplate show prints their tables")
    forms = (PAPER, SLIDE)
    files = [path for form in forms for path in picture_files(charts, directory / form.name)]
    check_replaceable(dict.fromkeys(files), force)
    for form in forms:
        write_pictures(charts, directory / form.name, form, force)
    return len(charts)


def picture_files(names: Iterable[str], directory: Path) -> list[Path]:
    """Return the files that ``write_pictures`` writes for charts of these names."""
    return [directory / f"{name}{ending}" for name in names for ending in FORMATS]


def write_pictures(charts: Mapping[str, NamedChart], directory: Path, form: Form, force: bool = False) -> None:
    """Write each chart into a directory as NAME.svg, NAME.pdf and NAME.png.

    The keys of ``charts`` are the file names without a suffix. The directory is created if necessary, and earlier
    charts of the same names are replaced, with ``force`` also other files.

    Raises:
        FileError: the directory or a file cannot be written, or a file may not be replaced.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot write to {directory}: {error.strerror}") from None
    for name, chart in charts.items():
        _write(_by_itself(chart, form), picture_files([name], directory), form.scale, force)


def write_picture(definition: Mapping[str, Any], path: Path, force: bool = False) -> None:
    """Write a Vega-Lite definition as a picture in the colours of the light theme, on white.

    The format is SVG or PDF if the suffix of ``path`` is .svg or .pdf, otherwise PNG with two pixels for each pixel of
    the definition. The width of ``definition`` must be a number or a step. Its ``background`` and ``config`` are not
    used. An earlier picture of the same name is replaced, with ``force`` also another file.

    Raises:
        FileError: the file cannot be written or may not be replaced.
        KeyError: the definition has a colour name that the light theme does not have.
    """
    _write(definition, [path], SLIDE.scale, force)


def _write(definition: Mapping[str, Any], paths: Sequence[Path], scale: float, force: bool) -> None:
    """Write a definition into several files, each in the format of its suffix."""
    drawn = vl_convert.vegalite_to_svg(coloured(json.dumps({**definition, "background": "white", "config": THEME})))
    for path in paths:
        write_whole(_picture(drawn, path.suffix, scale), path, force)


def _picture(svg: str, suffix: str, scale: float) -> bytes:
    """Return a drawing in the format of a suffix, with its checksum."""
    if suffix == ".svg":
        return marked(svg.encode(), b"<!-- ", b" -->")
    if suffix == ".pdf":
        return marked(vl_convert.svg_to_pdf(svg), b"% ")
    return marked_png(vl_convert.svg_to_png(svg, scale=scale))


def _by_itself(named: NamedChart, form: Form) -> dict[str, Any]:
    """Return the definition in the size of the form, with its title inside if the form has one."""
    spec = {**named.chart.spec, "padding": 6}
    if spec["width"] == "container":
        spec |= {"width": form.width, "height": form.height, "autosize": {"type": "fit", "contains": "padding"}}
    if not form.has_title:
        return spec
    caption = textwrap.wrap(named.chart.caption, form.width // _PX_PER_CHARACTER)
    heading = textwrap.wrap(named.title, form.width // _PX_PER_HEADING_CHARACTER)
    title = {"text": heading, "subtitle": caption, "anchor": "start", "limit": form.width}
    return {**spec, "title": title}
