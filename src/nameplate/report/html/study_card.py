"""Build the part of the HTML report about a published study: its tables and charts with published and new values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nameplate.records.result import Report
from nameplate.records.study_record import StudyChart
from nameplate.report.charts.common import Chart, NumberedChart, placed
from nameplate.report.charts.study import make_study_chart
from nameplate.report.content.repeat_commands import plan_command
from nameplate.report.content.study_tables import study_table
from nameplate.report.html.tables import HtmlTable, html_table


@dataclass(frozen=True)
class StudyCard:
    """The page's content about a published study that the plan reproduces.

    ``anchor`` is the ``id`` of its HTML element, and ``plan`` the name of the plan. ``tables`` are the study's tables
    in the document's order, then the table of the reference tools that ran for it. ``charts`` are the study's charts.
    """

    anchor: str
    plan: str
    tables: list[HtmlTable]
    charts: list[NumberedChart]


def make_study_card(anchor: str, report: Report, charts: list[Chart]) -> StudyCard | None:
    """Return the content about a published study, and append its charts to ``charts``.

    It is None if the run has neither tables of a study nor a table of reference tools. ``anchor`` becomes the ``id`` of
    the HTML element and must be unique in the page. Charts for which neither the run nor the study has a value are left
    out. ``charts`` has the charts of the whole page; the index of each chart in the card is its position in this list.
    """
    own = [study_table(table) for table in report.study.tables] if report.study else []
    tables = [html_table(table) for table in [*own, *(table for table in report.tables if not table.probe)]]
    if not tables:
        return None
    drawn = _charts(report.study.charts if report.study else [], plan_command(report.run))
    return StudyCard(anchor, report.run.plan.name, tables, placed(drawn, charts))


def _charts(charts: Sequence[StudyChart], command: str) -> list[Chart]:
    return [made for each in charts if (made := make_study_chart(each, command))]
