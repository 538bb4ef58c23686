"""Implement ``nameplate report``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from nameplate.commands._expected import with_judgement
from nameplate.commands._fleet import is_fleet, read_fleet_report
from nameplate.commands._reading import read_reports
from nameplate.errors import UsageError
from nameplate.extras import check_extra
from nameplate.records.outputs import check_output
from nameplate.report.content.aliases import without_names
from nameplate.studies import with_study

GROUP = "Read results"

# More runs next to each other cannot be read.
MAX_SIDE_BY_SIDE = 8


def command(
    *runs: Path,
    identify: bool = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], show_default=False)] = None,
    expect: Annotated[Path | None, Parameter(show_default=False)] = None,
    charts: Annotated[Path | None, Parameter(name=["--charts", "--figures"], show_default=False)] = None,
    force: bool = False,
    json: bool = False,
) -> int:
    """Write an HTML report of one or more runs: one file with charts and tables, which works offline.

    Parameters
    ----------
    runs
        Run files (.jsonl), or reports (.html), which contain their runs. Several runs are first compared side by side.
        A directory with runs of several machines, and more than eight run files, are a fleet: which machines are slow,
        and the median of the machines for each value.
    identify
        Keep the host names. By default hosts are called "machine 1", "machine 2".
    output
        The file to write. Default: the name of the first run with .html, or a free name such as RUN-2.html.
    expect
        A site file of nameplate check, by whose expected ranges the machines are judged, and which give reference
        values where there are no others. Default: what others measured on such a machine, if nameplate-catalogue is
        installed.
    charts
        Write each chart as SVG, PDF and PNG, in a size for a paper and for a slide, into subdirectories of this
        directory. Without -o, the report itself is not written.
    force
        Overwrite the output file even if its checksum does not show that nameplate wrote it. Run files are never
        overwritten.
    json
        Print the paths of the report and of the directory of charts, and the number of charts, as JSON.
    """
    check_extra("report", "report")
    if not runs:
        raise UsageError("nothing to report: name one or more run files (.jsonl)")
    page = output or (_free_name(runs[0]) if charts is None else None)
    check_output("-o", page, inputs=[*runs, expect], force=force)
    from nameplate.report.chart_files.pictures import write_charts  # noqa: PLC0415 (charts take a second to import)
    from nameplate.report.html.document import write_html  # noqa: PLC0415 (charts take a second to import)

    is_of_fleet = len(runs) > MAX_SIDE_BY_SIDE or (len(runs) == 1 and is_fleet(runs[0]))
    reports_of_runs = [read_fleet_report(runs)] if is_of_fleet else read_reports(runs)
    judged = [with_judgement(with_study(report), expect) for report in reports_of_runs]
    reports = [report for report, _ in judged]
    n_charts = 0
    if charts is not None:
        n_charts = write_charts(reports if identify else without_names(reports), charts, force)
    if page is not None:
        write_html(reports, page, identify, [judgement for _, judgement in judged], force)
    _print_written(page, charts, n_charts, json)
    return 0


def _free_name(run: Path) -> Path:
    """Return a name for the report of a run that no file in the current directory has.

    An existing file, such as another report, would otherwise be lost.
    """
    stem = run.resolve().stem or "nameplate-report"
    names = (f"{stem}.html", *(f"{stem}-{number}.html" for number in range(2, 100)))
    free = next((name for name in names if not os.path.lexists(name)), None)
    if free is None:
        raise UsageError(f"{names[0]} to {names[-1]} exist: name the report with -o")
    return Path(free)


def _print_written(page: Path | None, charts: Path | None, n_charts: int, as_json: bool) -> None:
    if as_json:
        document = {"report": page and str(page), "charts": charts and str(charts), "n_charts": n_charts}
        print(msgspec.json.encode(document).decode())
        return
    if charts is not None:
        print(f"wrote {n_charts} charts to {charts}, each as SVG, PDF and PNG for a paper and for a slide")
    if page is not None:
        print(f"wrote {page}")
