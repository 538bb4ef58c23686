"""The distribution of a metric over nodes: a line for each hardware class, and dots for slow nodes."""

from __future__ import annotations

from typing import Any

from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.report.charts.common import Chart
from nameplate.report.charts.node_distribution import node_distribution


def cluster(values: list[float | None], classes: list[str], slow: list[int]) -> Nodes:
    unknown: list[float | None] = [None] * len(values)
    metric = NodeMetric("Copy", "bandwidth", "B/s", "higher", values, unknown, unknown, unknown, slow)
    return Nodes([f"n{index}" for index in range(len(values))], classes, [metric])


def drawn(nodes: Nodes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the points of the lines and those of the slow nodes."""
    chart = node_distribution(nodes, nodes.metrics[0])
    assert isinstance(chart, Chart)
    points = [point for data in chart.spec["datasets"].values() for point in data]
    return [point for point in points if "node" not in point], [point for point in points if "node" in point]


def test_a_point_is_the_share_of_nodes_up_to_its_value() -> None:
    line, dots = drawn(cluster([5e9, *(float(number) * 1e9 for number in range(11, 30))], ["M"] * 20, slow=[0]))
    assert [(point["value"], point["share"]) for point in line] == [
        (5.0, 0.05), *((float(number), round((number - 9) / 20, 2)) for number in range(11, 30)),
    ]  # fmt: skip
    assert [(point["node"], point["value"], point["share"]) for point in dots] == [("n0", 5.0, 0.05)]


def test_many_nodes_have_a_hundred_points_from_the_first_to_the_last() -> None:
    line, dots = drawn(cluster([1e9 + number for number in range(10_000)], ["M"] * 10_000, slow=[]))
    assert len(line) == 100
    assert (line[0]["share"], line[-1]["share"], dots) == (0.0001, 1.0, [])


def test_small_classes_have_no_line() -> None:
    nodes = cluster([1e9] * 40, ["M"] * 21 + ["N"] * 19, slow=[39])
    line, dots = drawn(nodes)
    assert {point["line"] for point in line} == {"M"}
    assert dots == []
    few = cluster([1e9] * 19 + [None] * 5, ["M"] * 24, slow=[])
    assert node_distribution(few, few.metrics[0]) is None
