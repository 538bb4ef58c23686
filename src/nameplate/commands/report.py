"""Implement ``nameplate report``."""

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
    charts: Annotated[Path | None, Parameter(show_default=False)] = None,
) -> int:
    """Write an HTML report of one or more runs: one file with charts and tables, which works offline.

    Parameters
    ----------
    runs
        Run files (.jsonl), or reports (.html), which contain their runs. Several runs are first compared side by side.
    identify
        Keep the host names. By default hosts are called "machine 1", "machine 2".
    output
        The file to write. Default: nameplate-report.html.
    charts
        Write each chart into this directory as SVG and PNG. Without -o, the report itself is not written.
    """
    from nameplate.report.charts.pictures import write_charts  # noqa: PLC0415 (charts take a second to import)
    from nameplate.report.html.document import write_html  # noqa: PLC0415 (charts take a second to import)

    if not runs:
        raise UsageError("nothing to report: name one or more run files (.jsonl)")
    page = output or (Path("nameplate-report.html") if charts is None else None)
    check_output("-o", page, inputs=runs)
    reports = read_reports(runs)
    if charts is not None:
        number = write_charts(reports if identify else without_names(reports), charts)
        print(f"wrote {number} charts to {charts}, each as SVG and PNG")
    if page is not None:
        write_html(reports, page, identify)
        print(f"wrote {page}")
    return 0
