"""Build the part of the HTML report about a published study: tables and charts of published and measured values."""

from __future__ import annotations

from dataclasses import dataclass

from nameplate.records.result import Report
from nameplate.report.charts.common import Chart, NumberedChart, placed
from nameplate.report.charts.node_map import node_map, statistics_of
from nameplate.report.charts.study import make_study_chart
from nameplate.report.content.repeat_commands import plan_command
from nameplate.report.content.study_tables import study_table
from nameplate.report.html.tables import HtmlTable, html_table


@dataclass(frozen=True)
class StudyCard:
    """The page's content about a published study that the plan reproduces.

    - ``anchor``: the ``id`` of its HTML element
    - ``plan``: the name of the plan
    - ``tables``: the tables of the study in the order of its document, then the table of the reference tools that ran
    - ``charts``: the charts of the study, then its maps of the nodes
    """

    anchor: str
    plan: str
    tables: list[HtmlTable]
    charts: list[NumberedChart]


def make_study_card(anchor: str, report: Report, charts: list[Chart]) -> StudyCard | None:
    """Return the page's content about a published study, and append its charts to ``charts``.

    The result is None if the run has neither tables of a study nor a table of reference tools. ``anchor`` is the ``id``
    of the HTML element and must be unique in the page. Charts without any value, measured or published, are left out.
    ``charts`` has the charts of the whole page; a chart in the card has its index in this list.
    """
    study_tables = [study_table(table) for table in report.study.tables] if report.study else []
    tables = [html_table(table) for table in [*study_tables, *(table for table in report.tables if not table.probe)]]
    if not tables:
        return None
    command = plan_command(report.run)
    drawn = [make_study_chart(chart, command) for chart in (report.study.charts if report.study else [])]
    maps = []
    if report.study and report.nodes:
        for metric in report.study.maps:
            maps += [node_map(report.nodes, metric, name, command) for name in statistics_of(metric)]
    return StudyCard(anchor, report.run.plan.name, tables, placed([*filter(None, drawn), *maps], charts))
