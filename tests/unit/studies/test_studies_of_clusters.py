"""The published studies of MPI jobs: under their own conditions nameplate reproduces their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest

from machines import machine_with
from nameplate.records.plan_record import Value
from nameplate.records.result import Rated, Result, Series, Summary
from nameplate.records.study_record import StudyTable
from nameplate.report.content.aliases import without_names
from nameplate.report.content.study_tables import MAX_WIDTH, study_table
from nameplate.report.terminal.run import table_lines
from nameplate.studies import StudyRun, make_study
from report_samples import report
from study_runs import cells_of

# The document's two lines, below and from the MTU on: t_s in seconds and t_w in seconds per byte.
BELOW, FROM = (181.6e-6, 0.1509e-6), (275.2e-6, 0.0918e-6)
MTU = 1500
SIZES = (0, 64, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1400, 1460,
         1600, 1750, 2000, 3000, 5000, 10_000, 20_000, 40_000, 60_000, 80_000, 100_000)  # fmt: skip
JOB = machine_with(
    job={"nodes": ["a", "b", "c", "d"], "mtu_bytes": {"eth0": MTU}, "eager_limits": {}, "socket_buffer_bytes": {}}
)


def result(probe: str, metric: str, values: Sequence[float], params: Mapping[str, Value], evidence: Mapping[str, float]
           ) -> Result:  # fmt: skip
    middle = sorted(values)[len(values) // 2]
    summary = Summary(
        probe=probe, params=dict(params), metric=metric, value=middle, unit="s", ci=None, rounds=len(values), samples=3,
        mean=middle, best=middle, sustained=middle, p95=middle, p99=middle, rated=None, efficiency=None, outcome="ok",
        reason="", stop="rounds", disturbed=0.0,
    )  # fmt: skip
    return Result(
        id=f"{probe} {dict(params)}", summary=summary, better="lower", rated=Rated(None, ""), efficiency_ci=None,
        series=Series([], [], [], []), round_values=list(values), utilisation=1.0, oversubscribed=False,
        facts={"pairs_between_nodes": float(params.get("pairs", 1))}, evidence=dict(evidence),
    )  # fmt: skip


def message(size: int, pairs: int = 1, slower_s: float = 0.0) -> Result:
    """Return the time of a message on the document's lines, in six rounds that differ by a ten-thousandth."""
    startup, per_byte = BELOW if size < MTU else FROM
    time_s = startup + per_byte * size + slower_s
    times = [time_s * (1 + 1e-4 * (round_number - 2.5)) for round_number in range(6)]
    return result(
        "mpi_pingpong", "latency", times, {"size": size, "pairs": pairs, "pairing": "block", "data": "unchanged"}, {}
    )


def tables(plan: str, results: Sequence[Result], rated: Mapping[str, float]) -> dict[str, StudyTable]:
    study = make_study(StudyRun(plan=plan, results=results, machine=JOB, rated=rated))
    assert study is not None
    return {table.title: table for table in study.tables}


def test_the_published_lines_are_reproduced_on_both_sides_of_the_mtu() -> None:
    printed = tables("cse557-now", [message(size) for size in SIZES], {"net B/s": 100e6 / 8})
    cells = cells_of(printed["Cost of a message"])
    for side in ("below the MTU", "from the MTU on"):
        for row in ("t_s, µs", "t_w, µs/B", "1/t_w, Mbit/s", "1/t_w, % of the link"):
            cell = cells[row, side]
            if cell.published is not None:
                assert cell.here == pytest.approx(cell.published, rel=2e-3), (row, side)
    assert cells["1/t_w, % of the link", "below the MTU"].published is None  # the document gives only one share
    assert cells["1/t_w, % of the link", "from the MTU on"].published == pytest.approx(87.15)
    at = cells["break point, B", "below the MTU"].here
    assert isinstance(at, float)
    assert 1460 <= at <= 1600


def test_without_a_link_no_break_is_named_after_its_mtu() -> None:
    measured_results = [message(size) for size in SIZES]
    for item in measured_results:
        item.facts["pairs_between_nodes"] = 0.0
    cells = cells_of(tables("cse557-now", measured_results, {})["Cost of a message"])
    cell = cells["break point, B", "below the MTU"]
    assert cell.here is None
    assert cell.remarks == ["the messages stay within one node and use no link"]
    assert cells["t_s, µs", "below the MTU"].here is None


def test_without_a_break_at_the_mtu_one_line_holds_on_both_sides() -> None:
    """An example is a virtual network, where no packet of that size is sent on a wire."""
    straight = [
        result("mpi_pingpong", "latency", [(FROM[0] + FROM[1] * size) * (1 + 1e-4 * r) for r in range(-3, 3)],
               {"size": size, "pairs": 1, "pairing": "block", "data": "unchanged"}, {})
        for size in SIZES
    ]  # fmt: skip
    cells = cells_of(tables("cse557-now", straight, {})["Cost of a message"])
    assert cells["break point, B", "below the MTU"].here is None
    assert cells["break point, B", "below the MTU"].remarks == [
        "the curve has no break: one line holds on both sides of the MTU"
    ]
    for side in ("below the MTU", "from the MTU on"):
        assert cells["t_w, µs/B", side].here == pytest.approx(0.0918, rel=2e-3)


def test_several_pairs_show_the_slowdown_per_message() -> None:
    measured_results = [message(size, pairs, 50e-6 * (pairs == 3)) for size in SIZES for pairs in (1, 3)]
    cell = cells_of(tables("cse557-now", measured_results, {})["Messages, in the text"])[
        "most processors slower by, µs", "value"
    ]
    assert cell.here == pytest.approx(50.0, rel=1e-3)
    assert cell.published == "50 (6 pairs against 1 or 3)"


@pytest.mark.parametrize("plan", ["cse557-now", "distributed-stream"])
def test_tables_fit_100_columns(plan: str) -> None:
    measured_results = [message(size, pairs) for size in SIZES for pairs in (1, 2, 4)]
    for table in tables(plan, measured_results, {}).values():
        printed = study_table(table)
        assert len(table_lines(printed, MAX_WIDTH)) == len(printed.rows) + 1, table.title


def test_published_figures_3_and_4_have_every_message() -> None:
    measured_results = [message(size, pairs) for size in SIZES for pairs in (1, 2, 4)]
    study = make_study(StudyRun(plan="cse557-now", results=measured_results, machine=JOB))
    assert study is not None
    charts = {chart.title.partition(":")[0]: chart for chart in study.charts}
    scatter = next(line for line in charts["Figure 3"].lines if not line.is_joined)
    assert [x for x, _ in scatter.points] == [float(size) for size in SIZES]
    assert sum(line.is_published for line in charts["Figure 3"].lines) == 2
    times = dict(scatter.points)
    fitted = [line for line in charts["Figure 3"].lines if line.is_joined and not line.is_published]
    assert len({line.name for line in fitted}) == len(fitted) >= 2  # lines with the same name would be drawn as one
    for line in fitted:
        for at, time in line.points:
            near = min(times, key=lambda size: abs(size - at))
            assert time == pytest.approx(times[near], rel=0.35)
    assert [line.name for line in charts["Figure 4"].lines] == ["1 pair", "2 pairs", "4 pairs"]
    assert charts["Figure 3"].marks


def test_the_levels_of_the_working_set_are_shown_next_to_the_published_machines() -> None:
    measured_results = [
        result("cpu_workset", "rate", [350e6], {"size": 4096, "build": "plain"}, {}),
        result("cpu_workset", "rate", [84e6], {"size": 2**23, "build": "plain"}, {}),
    ]
    cells = cells_of(tables("cse557-now", measured_results, {})["Rate by working set"])
    assert cells["peak, MFLOP/s", "melmak"].here == pytest.approx(350.0)
    assert cells["peak, MFLOP/s", "melmak"].published == 175.0
    assert cells["peak in the conclusions, MFLOP/s", "melmak"].published == 170.0
    assert cells["L1 data cache, KiB", "cocoa-node"].published == 16.0


def test_a_study_that_travels_names_no_host() -> None:
    """The slowest node's name, and whatever a reason or a note names."""
    machine = machine_with(JOB, job={"nodes": ["rack7-n1", "rack7-n2"]})
    measured_results = [result("mpi_stream", "node_bandwidth", [1.0], {"op": "copy"}, {"rank_worst_node": 1.0})]
    study = make_study(StudyRun(plan="distributed-stream", results=measured_results, machine=machine))
    made = msgspec.structs.replace(report([]), machine=machine, study=study)
    assert b"rack7-n2" in msgspec.json.encode(made.study)
    (named,) = without_names([made])
    assert b"rack7" not in msgspec.json.encode(named.study)
    assert b"machine 3" in msgspec.json.encode(named.study)


# The document's times of copy and its results: 48 processes, each with 1/48 of the bytes of a node.
PROCESSES, AVERAGE_S, SHORTEST_S, LONGEST_S = 48, 0.0283, 0.028457, 0.029185


def test_the_average_in_the_node_table_may_exceed_its_maximum() -> None:
    """The average uses the mean time of the processes; maximum and minimum use the slowest process of a repeat."""
    node_bytes = 135_686.9e6 * AVERAGE_S
    evidence = {
        "rank_sum_average": node_bytes / AVERAGE_S, "rank_sum_average_s": AVERAGE_S,
        "longest_average": 1.0, "longest_average_s": 1.0,
        "longest_best": node_bytes / SHORTEST_S, "longest_best_s": SHORTEST_S,
        "longest_worst": node_bytes / LONGEST_S, "longest_worst_s": LONGEST_S,
        "rank_average": node_bytes / PROCESSES / AVERAGE_S, "rank_average_s": AVERAGE_S,
        "rank_best": 1.0, "rank_best_s": 1.0, "rank_worst": 1.0, "rank_worst_s": 1.0, "rank_worst_node": 2.0,
    }  # fmt: skip
    measured_results = [result("mpi_stream", "node_bandwidth", [1.0], {"op": "copy"}, evidence)]
    printed = tables("distributed-stream", measured_results, {})
    node = cells_of(printed["Each node, bandwidth"])
    for column in ("average", "maximum", "minimum"):
        assert node["Copy", column].here == pytest.approx(node["Copy", column].published, rel=2e-4), column
    assert cells_of(printed["Each process, bandwidth"])["Copy", "average"].here == pytest.approx(2826.8, rel=1e-4)
    assert cells_of(printed["Each process, time"])["Copy", "slowest node"].here == "c"
