"""Every chart of a report, of whatever kind, has its meaning, its table and its command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import altair as alt
import pytest
from jsonschema.exceptions import ValidationError

from nameplate.records.result import Report
from nameplate.report.charts.common import Chart
from nameplate.report.charts.side_by_side import append_side_by_side_chart
from nameplate.report.content.aliases import without_names
from nameplate.report.content.repeat_commands import node_command, plan_command, repeat_command
from nameplate.report.content.side_by_side import side_by_side
from nameplate.report.html.document import DETAILS
from nameplate.report.html.page import make_section, render
from report_kinds import cluster, every_kind, one_machine
from report_samples import latency_at, twenty_seconds

KINDS = {
    "Attainable rate against arithmetic intensity, 1 thread", "Latency against size", "Bandwidth against size",
    "Thread scaling",
    "Bandwidth against block", "Bandwidth by library", "Times of single operations", "Latency against payload",
    "Distribution of operation times", "Bandwidth against pairs", "bandwidth pattern=random", "threads=1",
    "disk against block", "mpi_stream op=triad node_bandwidth, average",
    "Relative to the first run",
}  # fmt: skip
LONGEST_MEANING = 700


def charts_of(reports: Sequence[Report]) -> list[Chart]:
    charts: list[Chart] = []
    for number, report in enumerate(reports, start=1):
        make_section(number, report, DETAILS[0], charts)
    append_side_by_side_chart(side_by_side(reports), charts)
    return charts


CHARTS = charts_of(every_kind())


def test_every_kind_is_there() -> None:
    assert {chart.title for chart in CHARTS} >= KINDS
    assert any("between=nodes" in chart.title for chart in CHARTS)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.title)
def test_every_chart_has_an_explanation_a_table_and_a_command(chart: Chart) -> None:
    assert re.fullmatch(r"[A-Z0-9p].*\.", chart.meaning)
    assert len(chart.meaning) <= LONGEST_MEANING
    fields = {field for points in points_of(chart) for point in points for field in point}
    assert chart.columns
    assert {field for field, _ in chart.columns} <= fields
    assert chart.commands
    assert all(command.startswith("nameplate run ") for command in chart.commands)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.title)
def test_every_definition_is_valid_by_the_schema(chart: Chart) -> None:
    """Making a report skips the check, which takes a second."""
    alt.Chart.from_dict(deepcopy(dict(chart.spec)))
    with pytest.raises(ValidationError):
        alt.Chart.from_dict({**deepcopy(dict(chart.spec)), "height": "high"})


def points_of(chart: Chart) -> list[list[dict[str, Any]]]:
    spec = chart.spec
    return [spec["data"]["values"]] if "values" in spec.get("data", {}) else list(spec["datasets"].values())


def test_explanation_table_and_command_are_in_the_page() -> None:
    text = render(without_names(every_kind()), DETAILS[0])
    drawn = len(CHARTS)
    counts = {message: len(re.findall(message, text)) for message in (
        '<div class="chart" data-chart=', '<details class="points"', '<details class="again">',
    )}  # fmt: skip
    assert set(counts.values()) == {drawn}
    assert len(re.findall(r'</figcaption>\s*<p class="meaning">', text)) == drawn


class TestCommands:
    def test_the_command_of_a_series_measures_a_series(self) -> None:
        assert repeat_command(twenty_seconds()) == "nameplate run cpu_flops threads=1 --series 20s/1s"

    def test_the_command_of_a_derived_result_measures_all_experiments(self) -> None:
        derived = [r for r in one_machine().results if r.summary.stop == "derived"]
        assert {repeat_command(item) for item in derived} == {"nameplate run memory_latency"}
        assert repeat_command(latency_at(4096)).startswith("nameplate run memory_latency size=4096")

    def test_the_command_of_a_node_map_measures_all_nodes(self) -> None:
        run = cluster().run
        expected = "nameplate run mpi_stream op=triad --mpi 'mpirun -n RANKS'"
        assert node_command(run, "mpi_stream op=triad") == expected
        assert node_command(run, "what another program measured") == ""

    def test_the_command_of_a_plan_keeps_its_budget(self) -> None:
        assert plan_command(cluster().run) == "nameplate run mpi_stream --budget 60s --mpi 'mpirun -n RANKS'"
