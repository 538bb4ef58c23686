"""Maps of nodes: names and values in the cells, a colour bar with numbers, and average, minimum and maximum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.report.charts.common import Chart
from nameplate.report.charts.node_map import MAX_NAMED, node_map, statistics_of
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from simulated_cluster import write_stream_run

Points = list[dict[str, Any]]


def cluster(values: list[float | None], unit: str = "B/s", classes: list[str] | None = None) -> Nodes:
    unknown: list[float | None] = [None] * len(values)
    metric = NodeMetric(
        "Copy", "bandwidth", unit, "lower" if unit == "s" else "higher", values, unknown, unknown, unknown, [],
        minimum=[None if value is None else value * 0.9 for value in values],
        maximum=[None if value is None else value * 1.1 for value in values],
    )  # fmt: skip
    names = [f"node{index + 1:03}" for index in range(len(values))]
    return Nodes(names, classes or ["M"] * len(values), [metric])


def parts(chart: Chart) -> tuple[Points, Points]:
    """Return the cells of the nodes and those of the colour bar."""
    nodes, bar = sorted(chart.spec["datasets"].values(), key=lambda points: "node" not in points[0])
    return list(nodes), list(bar)


def drawn(nodes: Nodes, statistic: str = "average") -> tuple[Points, Points]:
    return parts(node_map(nodes, nodes.metrics[0], statistic))


def texts_in(chart: Chart) -> set[str]:
    return {layer["encoding"]["text"]["field"] for layer in chart.spec["layer"] if "text" in layer["encoding"]}


def test_each_kernel_has_a_map_of_average_minimum_and_maximum() -> None:
    nodes = cluster([100e9, 80e9, 100e9])
    assert statistics_of(nodes.metrics[0]) == ("average", "minimum", "maximum")
    for statistic, printed in (("average", "80.00 GB/s"), ("minimum", "72.00 GB/s"), ("maximum", "88.00 GB/s")):
        chart = node_map(nodes, nodes.metrics[0], statistic)
        assert chart.title == f"Copy bandwidth, {statistic}"
        assert parts(chart)[0][1]["shown"] == printed
        assert parts(chart)[0][1]["behind"] == "20.0 %"


def test_a_metric_without_extremes_has_one_map() -> None:
    metric = NodeMetric("x", "y", "B/s", "higher", [1.0], [None], [None], [None], [])
    assert statistics_of(metric) == ("",)
    assert node_map(Nodes(["a"], [""], [metric]), metric).title == "x y"


@pytest.mark.parametrize(("number", "is_named"), [(1, True), (MAX_NAMED, True), (MAX_NAMED + 1, False)])
def test_few_nodes_have_names_and_values_in_their_cells(number: int, is_named: bool) -> None:
    nodes = cluster([100e9] * number)
    chart = node_map(nodes, nodes.metrics[0], "average")
    assert ({"node", "shown"} <= texts_in(chart)) == is_named
    assert {"label", "unit"} <= texts_in(chart)
    assert len(parts(chart)[0]) == number


def test_a_cell_is_wide_enough_for_its_text() -> None:
    nodes = cluster([100e9] * 3)
    longest = "a-host-with-a-long-name.example.org"
    chart = node_map(Nodes(["a", longest, "c"], nodes.classes, nodes.metrics), nodes.metrics[0], "average")
    assert chart.spec["width"]["step"] >= 6 * len(longest)


@pytest.mark.parametrize(
    ("unit", "typical", "labels", "printed"),
    [
        ("B/s", 100e9, ["100.0", "95.00", "90.00", "85.00", "80.00", "75.00"], "GB/s"),
        ("s", 3e-6, ["3.000", "3.158", "3.333", "3.529", "3.750", "4.000"], "µs"),
    ],
)
def test_the_colour_bar_shows_the_values_of_its_colours(
    unit: str, typical: float, labels: list[str], printed: str
) -> None:
    for number in (5, 500):
        cells, bar = drawn(cluster([typical] * number, unit))
        assert [point["label"] for point in bar if point.get("label")] == labels
        assert bar[-1]["unit"] == printed
        assert min(point["y"] for point in bar) > max(cell["y"] for cell in cells), "below the nodes"


def test_the_shade_of_a_value_agrees_with_the_bar() -> None:
    cells, bar = drawn(cluster([100e9, 100e9, 90e9, 60e9, 110e9]))
    of_label = {point["label"]: point["gap"] for point in bar if point.get("label")}
    assert [cell["gap"] for cell in cells] == [0, 0, of_label["90.00"], of_label["75.00"], 0]


def test_several_classes_have_a_bar_of_shares() -> None:
    cells, bar = drawn(cluster([100e9, 90e9, 100e9, 50e9, 50e9], classes=["new"] * 3 + ["old"] * 2))
    assert next(point["label"] for point in bar if point.get("label")) == "100.0"
    assert bar[-1]["unit"] == "% of the class median"
    assert [cell["behind"] for cell in cells] == ["0.0 %", "10.0 %", "0.0 %", "0.0 %", "0.0 %"]


def test_a_node_that_was_not_measured_has_no_shade() -> None:
    cells, _ = drawn(cluster([100e9, None]))
    assert "gap" not in cells[1]
    assert cells[1]["shown"] == "–"


def test_the_extremes_of_a_run_are_those_of_single_repeats(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 5, rounds=1)
    nodes = summarise(read_run(tmp_path / "run.jsonl")).nodes
    assert nodes is not None
    for metric in nodes.metrics:
        shares = [(low / value, high / value) for low, value, high in zip(metric.minimum, metric.value, metric.maximum,
                  strict=True) if low and value and high]  # fmt: skip
        assert shares == [pytest.approx((1 / 1.02, 1 / 0.99), rel=1e-4)] * 5


def test_each_group_has_a_block_under_its_name() -> None:
    """A row or block of strong cells then shows a rack whose nodes share a cause."""
    nodes = msgspec.structs.replace(cluster([*[100e9] * 7, 80e9]), groups=["r1"] * 3 + ["r2", "r1", "r2", "r2", "r2"])
    chart = node_map(nodes, nodes.metrics[0])
    headings = next(list(points) for points in chart.spec["datasets"].values() if "group" in points[0])
    cells = next(list(points) for points in chart.spec["datasets"].values() if "node" in points[0])
    assert [(point["y"], point["group"]) for point in headings] == [(0, "r1: 4 nodes"), (2, "r2: 4 nodes")]
    assert [(point["x"], point["y"]) for point in cells] == [
        (0, 1), (1, 1), (2, 1), (0, 3), (3, 1), (1, 3), (2, 3), (3, 3),
    ]  # fmt: skip
    assert chart.caption.startswith("One cell per node by group, ")
