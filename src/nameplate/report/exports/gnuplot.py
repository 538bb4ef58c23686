"""gnuplot: for each figure of the report its data and a script that draws it, and ``all.gp`` that draws all of them."""

from __future__ import annotations

from nameplate.errors import UsageError
from nameplate.records.model import Report
from nameplate.report.charts.gnuplot import charts_as_files
from nameplate.report.charts.named import named_charts


def export(report: Report) -> dict[str, str]:
    """The files by their names. Raises UsageError for a run of which the report draws nothing."""
    charts = named_charts(report)
    if not charts:
        raise UsageError("gnuplot draws the report's figures, and of this run the report has none: show it as a table")
    return charts_as_files(charts)
