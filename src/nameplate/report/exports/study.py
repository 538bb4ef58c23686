"""Export a study: its tables as CSV with the published values, its charts as data and gnuplot scripts.

``tables.csv`` has one row per table entry, in the table's unit; ``all.gp`` draws every chart as SVG.
"""

from __future__ import annotations

import csv
import io

from nameplate.errors import UsageError
from nameplate.records.result import Report
from nameplate.records.study_record import Study
from nameplate.report.chart_files.gnuplot import charts_as_files
from nameplate.report.chart_files.named import NamedChart, named_charts
from nameplate.report.content.study_tables import ratio
from nameplate.report.formats.csv_cells import plain
from nameplate.studies import study_names

_COLUMNS = ("table", "row", "column", "unit", "measured_by", "here", "published", "ratio", "own", "own_name", "rounds",
            "seconds", "remarks")  # fmt: skip


def export(report: Report) -> dict[str, str]:
    """Return the texts of all files by file name: ``tables.csv``, NAME.dat and NAME.gp for each chart, and ``all.gp``.

    ``tables.csv`` has one row per table entry: the run's value (``here``), the ``published`` value as the document
    prints it, their ``ratio`` here ÷ published, nameplate's value by its own definition where this differs (``own``),
    the ``rounds`` and the ``seconds`` in which the run's value was measured, and ``remarks``. Unknown cells are empty.
    ``study_charts`` determines the charts and their names. The scripts must run in the directory of the files.

    Raises:
        UsageError: the run's plan reproduces no study.
    """
    if report.study is None:
        raise UsageError(f"plan {report.run.plan.name} reproduces no study; these plans do: {', '.join(study_names())}")
    return {"tables.csv": _tables(report.study), **charts_as_files(study_charts(report))}


def study_charts(report: Report) -> list[NamedChart]:
    """Return the charts of the study, then its maps of the nodes of a job; an empty list without a study."""
    return [chart for chart in named_charts(report) if chart.part == "study"]


def _tables(study: Study) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for table in study.tables:
        for row, cells in zip(table.rows, table.cells, strict=True):
            for column, cell in zip(table.columns, cells, strict=True):
                quotient = ratio(cell) if table.has_ratio else None
                cells_of_row = [
                    table.title, row, column.name, column.unit, table.here, cell.here, cell.printed or cell.published,
                    quotient, cell.alternative, table.alternative if cell.alternative is not None else "",
                    cell.rounds, cell.seconds, "; ".join(cell.remarks),
                ]  # fmt: skip
                writer.writerow([plain(value) for value in cells_of_row])
    return text.getvalue()
