"""Build the part of the HTML report about a published study: its tables and charts with published and new values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nameplate.records.model import Report, StudyChart
from nameplate.report.charts.common import Chart, NumberedChart, placed
from nameplate.report.charts.study import make_study_chart
from nameplate.report.html.tables import HtmlTable, html_table
from nameplate.report.repeat_commands import plan_command
from nameplate.report.study_tables import study_table


@dataclass(frozen=True)
class StudyCard:
    """The study's tables and charts, and the table of the reference tools that ran for it."""

    anchor: str
    plan: str
    tables: list[HtmlTable]
    charts: list[NumberedChart]


def make_study_card(anchor: str, report: Report, charts: list[Chart]) -> StudyCard | None:
    """Return the card, or None if the plan reproduces no study; its charts are appended to ``charts``."""
    own = [study_table(table) for table in report.study.tables] if report.study else []
    tables = [html_table(table) for table in [*own, *(table for table in report.tables if not table.probe)]]
    if not tables:
        return None
    drawn = _charts(report.study.charts if report.study else [], plan_command(report.run))
    return StudyCard(anchor, report.run.plan.name, tables, placed(drawn, charts))


def _charts(charts: Sequence[StudyChart], command: str) -> list[Chart]:
    return [made for each in charts if (made := make_study_chart(each, command))]
