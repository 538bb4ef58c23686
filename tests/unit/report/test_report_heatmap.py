"""Heat maps of the HTML report: which experiments form a grid, and the content of its cells."""

from __future__ import annotations

import pytest

from machines import GUEST
from nameplate.probes import load_probes
from nameplate.records.result import Quantity, Table
from nameplate.report.charts.common import Chart
from nameplate.report.charts.grids import Grid, grids, holds
from nameplate.report.charts.heatmap import heat_map
from report_samples import block_results, read_at, result, swept, with_summary

PLACES = [(row, column) for row in (1, 2, 3) for column in (1, 2)]


def only(drawn: list[Grid]) -> Grid:
    assert len(drawn) == 1
    return drawn[0]


def points_of(chart: Chart) -> list[dict[str, object]]:
    (points,) = chart.spec["datasets"].values()
    return list(points)


class TestGrids:
    def test_there_is_one_per_metric_and_set_of_other_parameters(self) -> None:
        assert [grid.title for grid in grids(block_results())] == [
            "bandwidth pattern=sequential",
            "bandwidth pattern=random",
            "latency pattern=sequential",
            "latency pattern=random",
        ]

    def test_numbers_of_threads_are_columns(self) -> None:
        grid = grids(block_results())[0]
        assert (grid.rows, grid.columns) == ("block", "threads")

    @pytest.mark.parametrize(("measured", "expected"), [(12, 1), (10, 1), (9, 0)])
    def test_are_nearly_full(self, measured: int, expected: int) -> None:
        places = [(row, column) for row in range(4) for column in range(3)]
        results = [result({"a": row, "b": column}) for row, column in places]
        results = [with_summary(item, value=None) if i >= measured else item for i, item in enumerate(results)]
        assert len(grids(results)) == expected

    def test_few_experiments_are_not_a_grid(self) -> None:
        assert grids([result({"a": row, "b": column}) for row in (1, 2) for column in (1, 2)]) == []

    def test_words_do_not_form_an_axis(self) -> None:
        assert grids([result({"mix": mix, "threads": n}) for mix in ("fma", "mul", "add") for n in (1, 2)]) == []

    def test_an_experiment_is_in_one_grid_only(self) -> None:
        results = [result({"a": a, "b": b, "c": c}) for a in (1, 2, 3) for b in (1, 2, 3, 4) for c in (1, 2)]
        assert {(grid.rows, grid.columns) for grid in grids(results)} == {("b", "a")}

    def test_numa_nodes_are_a_grid(self) -> None:
        nodes = [read_at(2**26, node=node, memory_node=memory) for node in range(3) for memory in range(3)]
        assert {only(grids(nodes)).rows, only(grids(nodes)).columns} == {"node", "memory_node"}

    def test_a_derived_result_is_in_no_grid(self) -> None:
        results = [result({"a": row, "b": column}) for row, column in PLACES]
        derived = with_summary(result({}), stop="derived")
        assert len(only(grids([*results, derived])).cells) == len(PLACES)

    def test_the_table_of_the_probe_is_recognised(self) -> None:
        results = block_results(["sequential"])
        tables = load_probes()["memory_block"].tables
        assert tables is not None
        bandwidth, latency = grids(results)
        probe_tables = tables({"memory_block": results}, GUEST)
        assert [holds(bandwidth, table) for table in probe_tables] == [True, False]
        assert [holds(latency, table) for table in probe_tables] == [False, True]
        assert not holds(bandwidth, Table("memory_block", "", [""], [["8B", Quantity(1.0, "B/s"), None]]))


class TestMap:
    def test_a_cell_has_its_value_as_the_terminal_prints_it(self) -> None:
        points = points_of(heat_map(grids(block_results())[0]))
        assert len(points) == 16
        assert points[0] == {
            "row": "8B", "column": "1", "shown": "300.0 MB/s", "interval": "294.0 to 306.0 MB/s",
            "state": "one CPU per thread", "value": 3e8,
        }  # fmt: skip
        assert points[-1]["shown"] == "17.00 GB/s"
        assert points[-1]["state"] == "oversubscribed"

    def test_values_are_drawn_over_the_colour(self) -> None:
        layers = heat_map(grids(block_results())[0]).spec["layer"]
        assert [layer["mark"]["type"] for layer in layers] == ["rect", "rect", "text"]
        assert layers[-1]["encoding"]["text"]["field"] == "shown"

    def test_rows_and_columns_ascend(self) -> None:
        encoding = heat_map(grids(block_results())[0]).spec["layer"][0]["encoding"]
        assert encoding["y"]["sort"] == ["8B", "8KiB", "1MiB", "80MB"]
        assert encoding["x"]["sort"] == ["1", "2", "4", "8"]

    @pytest.mark.parametrize(("greatest", "kind"), [(7e9, "linear"), (9e9, "log")])
    def test_a_wide_range_is_shaded_logarithmically(self, greatest: float, kind: str) -> None:
        results = [result({"a": a, "b": b}, greatest if a == b == 1 else 1e9) for a, b in PLACES]
        shade = heat_map(only(grids(results))).spec["layer"][0]["encoding"]["opacity"]["scale"]
        assert shade["type"] == kind
        assert shade["domain"] == [1e9, greatest]

    def test_a_missing_value_is_named_and_has_no_colour(self) -> None:
        places = [(a, b) for a in (1, 2, 3) for b in (1, 2, 3)]
        results = [swept("memory_block", {"a": a, "b": b}, 1e9, "bandwidth", "B/s") for a, b in places]
        results[0] = with_summary(results[0], value=None, ci=None, outcome="failed")
        first = points_of(heat_map(only(grids(results))))[0]
        assert first["shown"] == "failed"
        assert "value" not in first

    def test_it_can_be_measured_again(self) -> None:
        (command,) = heat_map(grids(block_results(["random"]))[0]).commands
        assert command == (
            "nameplate run memory_block op=copy generator=pcg pattern=random"
            " block=8,8192,1048576,80000000 threads=1,2,4,8"
        )

    def test_the_caption_mentions_oversubscription_only_if_there_is_any(self) -> None:
        assert "oversubscribed" in heat_map(grids(block_results())[0]).caption
        assert "oversubscribed" not in heat_map(only(grids([result({"a": a, "b": b}) for a, b in PLACES]))).caption
