"""Write the tables, charts and report of a study into one folder, for ``nameplate run --study DIR``."""

from __future__ import annotations

from pathlib import Path

from nameplate.errors import FileError, UsageError
from nameplate.records.atomic_write import write_atomically
from nameplate.records.replaceable import check_replaceable
from nameplate.records.result import Report
from nameplate.studies import study_names

_TABLES, _REPORT = "tables.csv", "report.html"


def check_study(plan: str, folder: Path, force: bool) -> None:
    """Check, before anything is measured, that a plan reproduces a study, and create the folder for its results.

    ``plan`` is the name of the plan. The folder may exist; missing parents are created. With ``force``, the table and
    the report in the folder may be any files except run files.

    Raises:
        UsageError: the plan does not reproduce a study.
        FileError: the folder cannot be created, or its table or report may not be replaced.
    """
    if plan not in study_names():
        raise UsageError(f"--study: {plan} does not reproduce a study; use one of {', '.join(study_names())}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"--study {folder}: cannot create the folder: {error.strerror}") from None
    check_replaceable(dict.fromkeys([folder / _TABLES, folder / _REPORT]), force)


def write_study(report: Report, folder: Path, force: bool) -> str:
    """Write the results of a study into a folder, and return a line that lists the written files.

    ``report`` has the results of the run, and ``folder`` must exist. The files are tables.csv, the charts (SVG, PDF,
    PNG, and data and scripts for gnuplot) and report.html. They have the names of the nodes, unlike ``show --format
    study``. Earlier files of nameplate with these names are replaced; with ``force``, any files except run files.

    Raises:
        UsageError: the plan of the run does not reproduce a study.
        FileError: a file may not be replaced, in which case no file is written, or cannot be written.
    """
    from nameplate.report.chart_files.pictures import SLIDE, picture_files, write_pictures  # noqa: PLC0415 (charts take a second to import)
    from nameplate.report.exports.study import export, study_charts  # noqa: PLC0415 (charts take a second to import)
    from nameplate.report.html.document import write_html  # noqa: PLC0415 (charts take a second to import)

    files = {folder / name: text.encode() for name, text in export(report).items()}
    charts = {chart.name: chart for chart in study_charts(report)}
    check_replaceable({**files, **dict.fromkeys([folder / _REPORT, *picture_files(charts, folder)])}, force)
    for path, content in files.items():
        write_atomically(content, path, force)
    write_pictures(charts, folder, SLIDE, force)
    write_html([report], folder / _REPORT, identify=True, force=force)
    return f"{folder}: tables.csv, {len(charts)} charts as SVG, PDF, PNG and for gnuplot, report.html"
