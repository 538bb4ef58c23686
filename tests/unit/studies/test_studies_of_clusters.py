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
from nameplate.studies._messages import _startup_cell
from nameplate.studies._two_lines import fit_line
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
    assert str(cells["break at the MTU", "below the MTU"].here).startswith("yes, at 1,")


def test_without_a_link_no_break_is_named_after_its_mtu() -> None:
    measured_results = [message(size) for size in SIZES]
    for item in measured_results:
        item.facts["pairs_between_nodes"] = 0.0
    cells = cells_of(tables("cse557-now", measured_results, {})["Cost of a message"])
    reason = "the messages stay within one node and use no link"
    for row in ("break at the MTU", "t_s, µs"):
        assert cells[row, "below the MTU"].here is None
        assert cells[row, "below the MTU"].remarks == [reason]


def test_without_a_break_at_the_mtu_one_line_holds_on_both_sides() -> None:
    """An example is a virtual network, where no packet of that size is sent on a wire."""
    straight = [
        result("mpi_pingpong", "latency", [(FROM[0] + FROM[1] * size) * (1 + 1e-4 * r) for r in range(-3, 3)],
               {"size": size, "pairs": 1, "pairing": "block", "data": "unchanged"}, {})
        for size in SIZES
    ]  # fmt: skip
    cells = cells_of(tables("cse557-now", straight, {})["Cost of a message"])
    assert cells["break at the MTU", "below the MTU"].here == "no break"
    for side in ("below the MTU", "from the MTU on"):
        assert cells["t_w, µs/B", side].here == pytest.approx(0.0918, rel=2e-3)


def burst(size: int) -> float:
    """Return the time of a message through a shaper of 100 Mbit/s that lets a burst of 32 kB pass at 1 Gbit/s."""
    burst_bytes, start_s, fast, slow = 32_000, 20.9e-6, 8e-9, 80e-9
    return start_s + fast * size + max(0, size - burst_bytes) * (slow - fast)


def test_a_shaper_with_a_burst_is_named_where_a_share_exceeds_the_link() -> None:
    times = [
        result("mpi_pingpong", "latency", [burst(size) * (1 + 1e-4 * r) for r in range(-3, 3)],
               {"size": size, "pairs": 1, "pairing": "block", "data": "unchanged"}, {})
        for size in (*SIZES, *range(2000, 100_000, 3000))
    ]  # fmt: skip
    printed = tables("cse557-now", sorted(times, key=lambda r: int(r.summary.params["size"])), {"net B/s": 100e6 / 8})
    cells = cells_of(printed["Cost of a message"])
    below = cells["1/t_w, % of the link", "below the MTU"]
    assert isinstance(below.here, float)
    assert below.here > 900
    assert (
        "as with a shaper that lets a burst pass; each further byte takes the time of 100 % of it" in below.remarks[0]
    )
    assert str(cells["break at the MTU", "below the MTU"].here).startswith("no, only at 3")
    # The line from the MTU on, through both parts, starts below the time of the smallest message.
    start = cells["t_s, µs", "from the MTU on"]
    assert start.here is None
    assert start.published == pytest.approx(275.2)
    assert "which is no start-up time: a message of 0 B takes 20.9 µs" in start.remarks[0]
    segments = printed["Cost of a message, by segment"]
    last = cells_of(segments)[segments.rows[-1], "of the link"]
    assert last.here == pytest.approx(100, rel=2e-3)
    assert last.remarks == []


def test_a_share_above_the_link_is_an_error_of_one_of_the_two() -> None:
    printed = tables("cse557-now", [message(size) for size in SIZES], {"net B/s": 50e6 / 8})
    cell = cells_of(printed["Cost of a message"])["1/t_w, % of the link", "from the MTU on"]
    assert cell.here == pytest.approx(174.3, rel=2e-3)
    assert "more than the link carries: the rate given with --rated is not this link's" in cell.remarks[0]


def test_the_lines_are_fitted_to_all_pairs_of_nodes() -> None:
    """Ten pairs, of which one is slower: its points count as the others do."""
    sizes = (0, 500, 1000, 1400, 1500, 20_000, 60_000, 100_000)
    pairs = [
        msgspec.structs.replace(
            result("mpi_pairs", "latency", [1.0], {"size": size}, {}),
            pairs=[(BELOW if size < MTU else FROM)[0] * (2 if pair == 0 else 1)
                   + (BELOW if size < MTU else FROM)[1] * size for pair in range(10)],
        )
        for size in sizes
    ]  # fmt: skip
    measured_results = [message(size) for size in SIZES] + pairs
    cells = cells_of(tables("cse557-now", measured_results, {})["Cost of a message"])
    assert cells["t_s, µs", "below the MTU"].here == pytest.approx(1.1 * 181.6, rel=1e-3)
    assert cells["t_s, µs, 95 % interval", "below the MTU"].here == "181.6 to 236.1"
    study = make_study(StudyRun(plan="cse557-now", results=measured_results, machine=JOB))
    assert study is not None
    figure = next(chart for chart in study.charts if chart.title.startswith("Figure 3"))
    assert len(figure.lines[0].points) == len(sizes) * 10


def test_the_interval_of_a_line_is_that_of_this_line() -> None:
    """Outliers among the pairs shift the line of all of them, and with it the interval."""
    slopes = [1e-7] * 9 + [3e-7] * 3
    curves = [[(size, 1e-5 + slope * size) for size in (2e3, 1e4, 5e4, 1e5)] for slope in slopes]
    line = fit_line(curves)
    assert line is not None
    assert line.per_byte_ci is not None
    low, high = line.per_byte_ci
    assert line.per_byte_s == pytest.approx(1.5e-7)
    assert low < line.per_byte_s < high
    assert 1e-7 <= low < 1.3e-7
    assert 1.7e-7 < high < 2.3e-7
    assert fit_line(curves[:5]).per_byte_ci is None  # type: ignore[union-attr]


def test_a_line_that_starts_below_zero_says_so() -> None:
    cell = _startup_cell(0.0, (0.0, 20e-6), None)
    assert cell.remarks[0].startswith("the line starts at 0 µs or below, which is no start-up time")


def test_the_slowdown_of_several_pairs_is_the_median_of_an_even_number_of_sizes() -> None:
    longer = {8: 0.0, 16: 10e-6, 32: 30e-6, 64: 100e-6}
    measured_results = [message(size, pairs, longer[size] * (pairs == 3)) for size in longer for pairs in (1, 3)]
    cell = cells_of(tables("cse557-now", measured_results, {})["Messages, in the text"])[
        "most processors slower by, µs", "value"
    ]
    assert cell.here == pytest.approx(20.0, rel=1e-3)


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
    assert [x for x, _ in scatter.points] == [float(size) for size in SIZES for _ in range(6)]
    assert sum(line.is_published for line in charts["Figure 3"].lines) == 2
    times = dict(scatter.points)
    below, above = [line for line in charts["Figure 3"].lines if line.is_joined and not line.is_published]
    assert [at for at, _ in below.points] == [0, MTU]
    assert [at for at, _ in above.points] == [MTU, 100_000]
    assert below.points[0][1] == pytest.approx(times[0], rel=1e-3)
    assert above.points[1][1] == pytest.approx(times[100_000], rel=1e-3)
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
    assert [cells["clock, MHz", name].printed for name in ("melmak", "cocoa-server", "cocoa-node")] == [
        "",
        "450",
        "400",
    ]
    assert cells["peak per clock, FLOP/cycle", "cocoa-server"].printed == "0.567"
    assert cells["peak per clock, FLOP/cycle", "cocoa-node"].printed == "0.563"


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
