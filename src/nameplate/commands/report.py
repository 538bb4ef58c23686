"""``nameplate report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.commands._reading import read_reports
from nameplate.errors import UsageError
from nameplate.records.outputs import check_output
from nameplate.report.aliases import without_names


def command(
    *runs: Path,
    identify: bool = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], show_default=False)] = None,
    figures: Annotated[Path | None, Parameter(show_default=False)] = None,
) -> int:
    """Write an HTML report: one file, offline, charts and tables.

    Parameters
    ----------
    runs
        Run files (.jsonl), or reports (.html), which hold their runs; several are shown one after the other.
    identify
        Keep the hosts' names; by default they are "machine 1", "machine 2".
    output
        The file to write; default: nameplate-report.html.
    figures
        Write each of its charts into this directory, as SVG and PNG; without -o nothing else.
    """
    from nameplate.report.charts.pictures import write_figures  # noqa: PLC0415 (charts take a second to import)
    from nameplate.report.html.document import write_html  # noqa: PLC0415 (charts take a second to import)

    if not runs:
        raise UsageError("nothing to report: name one or more run files (.jsonl)")
    page = output or (Path("nameplate-report.html") if figures is None else None)
    check_output("-o", page, inputs=runs)
    reports = read_reports(runs)
    if figures is not None:
        number = write_figures(reports if identify else without_names(reports), figures)
        print(f"wrote {number} figures to {figures}, each as SVG and PNG")
    if page is not None:
        write_html(reports, page, identify)
        print(f"wrote {page}")
    return 0
