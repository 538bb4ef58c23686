"""Write the tables, charts and report of a study into one folder, for ``nameplate run --study DIR``."""

from __future__ import annotations

from pathlib import Path

from nameplate.errors import FileError, UsageError
from nameplate.records.atomic_write import write_whole
from nameplate.records.model import Report
from nameplate.report.aliases import without_names
from nameplate.results.studies import study_names


def check_study(plan: str, folder: Path) -> None:
    """Create the folder, before anything is measured.

    Raises UsageError for a plan that does not reproduce a study, FileError if the folder cannot be created.
    """
    if plan not in study_names():
        raise UsageError(f"--study: {plan} does not reproduce a study; use one of {', '.join(study_names())}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"--study {folder}: cannot create the folder: {error.strerror}") from None


def write_study(report: Report, folder: Path) -> str:
    """Write tables.csv, the charts (SVG, PNG, gnuplot) and report.html; return a line that lists them."""
    from nameplate.report.charts.pictures import write_pictures  # noqa: PLC0415 (charts take a second to import)
    from nameplate.report.exports.study import export, study_charts  # noqa: PLC0415 (charts take a second to import)
    from nameplate.report.html.document import write_html  # noqa: PLC0415 (charts take a second to import)

    (named,) = without_names([report])
    for name, text in export(named).items():
        write_whole(text.encode(), folder / name)
    charts = {chart.name: chart for chart in study_charts(named)}
    write_pictures(charts, folder)
    write_html([report], folder / "report.html")
    return f"{folder}: tables.csv, {len(charts)} charts as SVG, PNG and for gnuplot, report.html"
