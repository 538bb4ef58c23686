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
from nameplate.records.atomic_write import write_atomically
from nameplate.records.replaceable import check_replaceable, marked, marked_png
from nameplate.records.result import Report
from nameplate.report.chart_files.named import NamedChart, named_charts_of
from nameplate.report.charts.theme import THEME, coloured

# Most characters are narrower, so that no line is cut at the edge of the picture.
_PX_PER_CHARACTER = 6
_PX_PER_HEADING_CHARACTER = 8
FORMATS = (".svg", ".pdf", ".png")


@dataclass(frozen=True)
class Form:
    """A use of a picture, such as a paper or a slide, which decides its size.

    - ``name``: the name of the use, and of the subdirectory
    - ``width``, ``height``: the size in pixels (SVG) or points (PDF); a chart whose size depends on its number of cells
      has its own size
    - ``has_title``: whether the title and the caption are part of the picture
    - ``scale``: the number of PNG pixels per SVG pixel
    """

    name: str
    width: int
    height: int
    has_title: bool
    scale: float


# In a column of 3.5 inches, the text of PAPER has 8 points; the document has the caption. SLIDE is 16:9.
PAPER = Form("paper", 336, 250, has_title=False, scale=4.0)
SLIDE = Form("slide", 640, 360, has_title=True, scale=2.0)


def write_charts(reports: Sequence[Report], directory: Path, force: bool = False) -> int:
    """Write every chart of the reports into ``directory``, and return the number of charts.

    Each chart is written in two sizes, ``PAPER`` and ``SLIDE``, into the subdirectories ``paper`` and ``slide``, and in
    each of ``FORMATS``. The file names are the names from ``named_charts_of``; with several reports, they start with
    ``run-1-``, ``run-2-`` and so on in the order of ``reports``, which must not be empty. Missing directories are
    created. Earlier charts of the same names are replaced; with ``force``, other files are replaced as well.

    Raises:
        UsageError: the reports have no chart.
        FileError: a directory or file cannot be written, or a file may not be replaced.
    """
    prefixes = [f"run-{number}-" for number in range(1, len(reports) + 1)] if len(reports) > 1 else [""]
    charts = {prefix + chart.name: chart
              for prefix, charts_of_report in zip(prefixes, named_charts_of(reports), strict=True)
              for chart in charts_of_report}  # fmt: skip
    if not charts:
        raise UsageError("--charts: the report on these runs has no chart; nameplate show prints their tables")
    forms = (PAPER, SLIDE)
    files = [path for form in forms for path in picture_files(charts, directory / form.name)]
    check_replaceable(dict.fromkeys(files), force)
    for form in forms:
        write_pictures(charts, directory / form.name, form, force)
    return len(charts)


def picture_files(names: Iterable[str], directory: Path) -> list[Path]:
    """Return the files that ``write_pictures`` writes into ``directory`` for charts with the file names ``names``."""
    return [directory / f"{name}{ending}" for name in names for ending in FORMATS]


def write_pictures(charts: Mapping[str, NamedChart], directory: Path, form: Form, force: bool = False) -> None:
    """Write each chart into ``directory`` as NAME.svg, NAME.pdf and NAME.png.

    - ``charts``: the charts by NAME, the file name without suffix
    - ``form``: the size of the pictures
    - ``force``: whether files that are not earlier pictures may be replaced; run files are never replaced

    The directory is created if necessary.

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
    """Write a Vega-Lite definition as a picture in the colours of the light theme, on a white background.

    - ``definition``: the definition, whose width must be a number or a step; ``background`` and ``config`` are ignored
    - ``path``: the file. The format is SVG or PDF with the suffix .svg or .pdf, otherwise PNG with two pixels for each
      pixel of the definition.
    - ``force``: whether a file that is not an earlier picture may be replaced; run files are never replaced

    Raises:
        FileError: the file cannot be written or may not be replaced.
        KeyError: the definition has a colour name that the light theme does not have.
    """
    _write(definition, [path], SLIDE.scale, force)


def _write(definition: Mapping[str, Any], paths: Sequence[Path], scale: float, force: bool) -> None:
    """Write a definition into several files, each in the format of its suffix."""
    drawn = vl_convert.vegalite_to_svg(coloured(json.dumps({**definition, "background": "white", "config": THEME})))
    for path in paths:
        write_atomically(_picture(drawn, path.suffix, scale), path, force)


def _picture(svg: str, suffix: str, scale: float) -> bytes:
    """Return an SVG drawing in the format of the suffix ``suffix``, with a checksum.

    ``scale`` is the number of PNG pixels per SVG pixel.
    """
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
