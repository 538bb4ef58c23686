"""Curves of the HTML report: their points, their axes, and the levels marked in them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nameplate.records.result import Result
from nameplate.report.charts.common import Chart, log_axis
from nameplate.report.charts.curves import LevelEnd, curve_lines, curves, level_ends
from report_samples import KIB, latency_at, memory_report, read_at, sizes, with_summary

L1D = LevelEnd("L1d", 32 * KIB, (30 * KIB, 36 * KIB))
L2 = LevelEnd("L2", 64 * KIB, (50 * KIB, 4096 * KIB))


def drawn(results: list[Result], *ends: LevelEnd) -> Chart:
    (chart,) = curves(curve_lines(results), ends)
    return chart


def points_with(chart: Chart, field: str) -> list[dict[str, Any]]:
    return next(points for points in chart.spec["datasets"].values() if field in points[0])


def encoding(chart: Chart, mark: str) -> dict[str, Any]:
    actual: dict[str, Any] = next(x["encoding"] for x in chart.spec["layer"] if x["mark"]["type"] == mark)
    return actual


class TestPoints:
    def test_are_the_experiments_with_their_intervals(self) -> None:
        chart = drawn([latency_at(size) for size in sizes(9)])
        points = points_with(chart, "value")
        assert len(points) == 9
        first = {"line": "measured", "size": 4096, "at": "4KiB", "value": 1.0, "low": 0.98, "high": 1.02}
        assert points[0] == first
        assert dict(chart.columns)["value"] == "latency (ns)"

    def test_missing_values_are_not_drawn(self) -> None:
        results = [latency_at(size) for size in sizes(10)]
        results[3] = with_summary(results[3], value=None, ci=None)
        assert len(points_with(drawn(results), "value")) == 9

    def test_without_an_interval_a_point_has_no_bar(self) -> None:
        results = [with_summary(latency_at(size), ci=None) for size in sizes(9)]
        assert all("low" not in point for point in points_with(drawn(results), "value"))
        assert "Bars" not in drawn(results).caption

    def test_each_set_of_other_parameters_is_a_line(self) -> None:
        pages = [latency_at(size, stride=4096) for size in sizes(3)]
        chart = drawn([latency_at(size) for size in sizes(9)] + pages)
        assert {point["line"] for point in points_with(chart, "value")} == {"stride=64B", "stride=4KiB"}
        assert chart.columns[0] == ("line", "parameters")

    def test_few_sizes_are_not_a_curve(self) -> None:
        assert curve_lines([latency_at(size) for size in sizes(7)]) == []

    def test_two_sizes_next_to_a_curve_are_not_a_line(self) -> None:
        beside = [latency_at(size, stride=4096) for size in sizes(2)]
        assert len(curve_lines([latency_at(size) for size in sizes(9)] + beside)) == 1

    def test_a_curve_can_be_measured_again(self) -> None:
        chart = drawn([latency_at(2**power) for power in range(12, 20)])
        assert chart.commands == (
            "nameplate run memory_latency size=4096,8192,16384,32768,65536,131072,262144,524288"
            " stride=64 pages=huge chains=1 load=0",
        )


class TestAxes:
    def test_sizes_are_powers_of_two_between_the_ends(self) -> None:
        x = encoding(drawn([latency_at(size) for size in sizes(30)]), "line")["x"]
        assert x["scale"] == {"type": "log", "base": 2, "domain": [4096, sizes(30)[-1]], "nice": False}
        assert x["axis"]["values"] == [4**power for power in range(6, 14)]

    @pytest.mark.parametrize(
        ("low", "high", "ends"),
        [(1.1, 160, (1, 200)), (26, 29, (20, 50)), (0.3, 0.4, (0.2, 0.5)), (5, 5, (5, 10)), (1, 10, (1, 10))],
    )
    def test_values_lie_between_round_numbers(self, low: float, high: float, ends: tuple[float, float]) -> None:
        domain, numbers = log_axis(low, high)
        assert domain == ends
        assert numbers[0] == ends[0]
        assert numbers[-1] == ends[1]

    def test_a_long_axis_has_powers_of_ten_only(self) -> None:
        domain, numbers = log_axis(2.5, 3e8)
        assert domain == (2, 5e8)
        assert all(math.log10(number).is_integer() for number in numbers)

    def test_intervals_lie_within_the_axis(self) -> None:
        results = [with_summary(latency_at(size), ci=(1e-10, 1e-6)) for size in sizes(9)]
        assert encoding(drawn(results), "line")["y"]["scale"]["domain"] == [0.1, 1000]


class TestLevels:
    def test_are_the_derived_sizes_of_all_probes_without_duplicates(self) -> None:
        ends = level_ends(memory_report().results)
        assert [end.name for end in ends] == ["L1d", "L2"]
        assert 32 * KIB <= ends[0].size < 46 * KIB
        assert ends[0].interval[0] <= ends[0].size <= ends[0].interval[1]

    def test_a_metric_of_an_experiment_is_not_a_level(self) -> None:
        assert level_ends([with_summary(latency_at(4096), metric="page_size")]) == []

    def test_the_listed_size_is_marked_too(self) -> None:
        (first, *_) = level_ends(memory_report().results)
        assert first.listed == 32 * KIB
        end = LevelEnd("L1d", 24 * KIB, (20 * KIB, 30 * KIB), 32 * KIB)
        chart = drawn([latency_at(size) for size in sizes(20)], end, LevelEnd("L3", 64 * KIB, (1.0, 1.0), 1e12))
        assert points_with(chart, "listed") == [{"name": "L1d", "listed": 32 * KIB}]
        assert "Dotted lines mark the sizes that the system lists (L1d 32KiB)." in chart.caption
        assert "Dotted" not in drawn([latency_at(size) for size in sizes(20)], L1D).caption

    def test_are_marked_with_their_names_and_intervals(self) -> None:
        chart = drawn([latency_at(size) for size in sizes(20)], L1D)
        mark = {"name": "L1d", "end": 32 * KIB, "from": 30 * KIB, "to": 36 * KIB, "lift": 0}
        assert points_with(chart, "end") == [mark]
        assert encoding(chart, "text")["text"]["field"] == "name"
        assert (encoding(chart, "rect")["x"]["field"], encoding(chart, "rect")["x2"]["field"]) == ("from", "to")
        assert "L1d 32KiB" in chart.caption

    def test_an_interval_ends_where_the_sizes_end(self) -> None:
        chart = drawn([latency_at(size) for size in sizes(12)], L2)
        assert points_with(chart, "end")[0]["to"] == sizes(12)[-1]

    def test_a_level_beyond_the_sizes_is_not_marked(self) -> None:
        chart = drawn([latency_at(size) for size in sizes(9)], LevelEnd("L3", 2**25, (2**24, 2**26)))
        assert "L3" not in str(chart)

    def test_names_close_to_each_other_are_raised_alternately(self) -> None:
        close = [LevelEnd(f"L{n}", 16 * KIB * 1.5**n, (16 * KIB, 64 * KIB)) for n in range(3)]
        marks = points_with(drawn([latency_at(size) for size in sizes(20)], *close), "end")
        assert [bool(mark["lift"]) for mark in marks] == [False, True, False]

    def test_a_curve_of_another_probe_has_them_too(self) -> None:
        chart = drawn([read_at(size) for size in sizes(20)], L1D)
        assert points_with(chart, "end")[0]["name"] == "L1d"
        assert dict(chart.columns)["value"] == "bandwidth (GB/s)"
