"""Export gnuplot files: data and a script for each chart of the report, and ``all.gp``, which draws all of them."""

from __future__ import annotations

from nameplate.errors import UsageError
from nameplate.records.result import Report
from nameplate.report.chart_files.gnuplot import charts_as_files
from nameplate.report.chart_files.named import named_charts


def export(report: Report) -> dict[str, str]:
    """Return the texts of all files by file name: NAME.dat and NAME.gp for each chart, and all.gp.

    ``named_charts`` determines the charts and their names. The scripts must run in the directory of the files;
    ``gnuplot all.gp`` draws every chart as NAME.svg.

    Raises:
        UsageError: the report has no chart for this run.
    """
    charts = named_charts(report)
    if not charts:
        raise UsageError("gnuplot: the report on this run has no chart; use --format table")
    return charts_as_files(charts)
