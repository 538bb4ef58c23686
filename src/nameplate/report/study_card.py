"""The part of the HTML report on the study that a plan reproduces: its tables and figures, published and new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from nameplate.model import Beside, Report
from nameplate.report.charts import Chart, Figure, Point, definition, log_axis, placed, rounded
from nameplate.report.repeat import plan_command
from nameplate.report.tables import OwnTable, own_table

_ROW_PX = 20
_LINES = ["here", "published"]
_MEANING = (
    "Each row is one figure of the study, with the published value beside the one from this machine. Newer machines "
    "should lie off to one side of the published marks by about the same distance in all rows. A row that breaks ranks "
    "measures something else here than it did there: a cache, a protocol or a file system that came between."
)
_COLUMNS = (("row", "of the study"), ("line", "whose"), ("value", "value"))


@dataclass(frozen=True)
class StudyCard:
    """A study's tables, and a figure for each of their columns."""

    anchor: str
    plan: str
    tables: list[OwnTable]
    figures: list[Figure]


def make_study_card(anchor: str, report: Report, charts: list[Chart]) -> StudyCard | None:
    """None for a plan that reproduces no study; the figures go to the end of ``charts``."""
    tables = [own_table(table) for table in report.tables if not table.probe]
    if not tables:
        return None
    figures = [_chart(each, plan_command(report.run)) for each in report.study]
    return StudyCard(anchor, report.run.plan.name, tables, placed(figures, charts))


def _chart(study: Beside, command: str) -> Chart:
    """A row for each of the study's, on a logarithmic axis: machines lie powers of ten apart."""
    points = _points(study.rows)
    values = [float(point["value"]) for point in points]
    ends, shown = log_axis(min(values), max(values))
    x = alt.X("value:Q", title=study.unit, scale=alt.Scale(type="log", domain=ends, nice=False),
              axis=alt.Axis(values=shown, format="~g", labelOverlap=True))  # fmt: skip
    y = alt.Y("row:N", title=None, sort=None, axis=alt.Axis(labelLimit=220, grid=True))
    lines = alt.Scale(domain=_LINES)
    key = alt.Legend(title=None, orient="top")
    marks = alt.Chart(alt.InlineData(values=points)).mark_point(filled=True, size=70, opacity=1)
    chart = marks.encode(
        x, y, alt.Color("line:N", scale=lines, legend=key), alt.Shape("line:N", scale=lines, legend=key)
    )
    spec = definition(chart, _ROW_PX * len(study.rows))
    spec["description"] = f"{study.title}: published, and measured here"
    caption = "Published figures in the corrected unit. Logarithmic."
    return Chart(study.title, _MEANING, caption, spec, _COLUMNS, (command,))


def _points(rows: Sequence[tuple[str, float | None, float]]) -> list[Point]:
    return [
        {"row": row, "line": line, "value": rounded(value)}
        for row, here, printed in rows
        for line, value in zip(_LINES, (here, printed), strict=True)
        if value
    ]
