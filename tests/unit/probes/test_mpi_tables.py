"""The tables of mpi_pingpong: costs of a message, break points and their explanations, and simultaneous pairs."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from machines import MACHINE, machine_with
from nameplate.probes import ResolvedExperiment
from nameplate.probes.mpi_pingpong import PROBE
from nameplate.probes.mpi_stream import PROBE as STREAM
from nameplate.probes.shared.job import nodes_of
from nameplate.records.result import Quantity, Result, Table
from nameplate.records.run_record import NodeTimes, Sample, Spread, Work, Worker
from nameplate.report.content.aliases import without_names
from nameplate.report.content.format import cell_text, spread
from nameplate.report.html.document import DETAILS
from nameplate.report.html.facts import machine_facts
from nameplate.report.html.page import render
from nameplate.results.summarise import summarise
from report_samples import result, with_summary
from run_samples import run_of_one

JOB = {
    "library": "Open MPI v4.1.4", "ranks": 4, "nodes": ["node17", "node18"], "placement": [[0, 2], [1, 2]],
    "eager_limits": {"btl_tcp_eager_limit": 20000.0}, "mtu_bytes": {"eth0": 1500.0}, "socket_buffer_bytes": {},
}  # fmt: skip
FACTS = {"ranks": 4.0, "nodes": 2.0, "pairs_between_nodes": 1.0}
ROUND_SPREAD = (0.99, 0.995, 0.998, 1.002, 1.005, 1.01)


def measured(metric: str, value: float, size: int, pairs: int = 1, **evidence: float) -> Result:
    unit = {"latency": "s", "bandwidth": "B/s"}[metric]
    params: dict[str, Any] = {"size": size, "pairs": pairs, "pairing": "block", "data": "unchanged", "seed": 1}
    made = with_summary(result(params, value, probe="mpi_pingpong"), metric=metric, unit=unit)
    rounds = [value * spread for spread in ROUND_SPREAD]
    return msgspec.structs.replace(made, facts=FACTS, evidence=evidence, round_values=rounds)


def curve(position: int = 20_000) -> list[Result]:
    """Return the latencies of 20 µs + 1 ns/B up to ``position``, and 50 µs + 2 ns/B beyond it."""
    return [
        measured("latency", 20e-6 + 1e-9 * size if size <= position else 50e-6 + 2e-9 * size, size)
        for size in range(0, 60_001, 1000)
    ]


def tables(results: list[Result], job: dict[str, Any] | None = None) -> list[Table]:
    assert PROBE.tables is not None
    return PROBE.tables({"mpi_pingpong": results}, machine_with(job=job or JOB))


def titled(tables_of_probe: list[Table], message: str) -> Table:
    return next(table for table in tables_of_probe if message in table.title)


def test_each_line_gives_the_cost_and_the_eager_limit_explains_the_break() -> None:
    actual = tables(curve())
    cost = titled(actual, "Message cost")
    assert [row[0] for row in cost.rows] == ["0 to 20,500 B", "20,500 to 60,000 B"]
    values = [[cell.value for cell in row[1:] if isinstance(cell, Quantity)] for row in cost.rows]
    assert values[0] == pytest.approx([20e-6, 1e-9, 1e9, 8e9], rel=1e-6)
    assert values[1] == pytest.approx([50e-6, 2e-9, 5e8, 4e9], rel=1e-6)
    breaks = titled(actual, "Break points")
    assert breaks.rows[0][0] == "20,500 B"
    assert breaks.rows[0][3] == "btl_tcp_eager_limit = 20,000 B"


def test_a_break_without_a_limit_is_not_explained() -> None:
    assert titled(tables(curve(40_000)), "Break points").rows[0][3] == "no limit reported by MPI or the system"


def test_a_start_up_time_of_zero_has_an_interval_and_no_unbounded_bandwidth() -> None:
    """Small messages that all take the same time, followed by the large ones of a token bucket, give such lines."""
    flat = [measured("latency", 20e-6, size) for size in range(0, 10_000, 1000)]
    steep = [measured("latency", 1e-7 * size - 9.8e-4, size) for size in range(10_000, 40_001, 1000)]
    cost = titled(tables([*flat, *steep]), "Message cost")
    first, last = cost.rows[0], cost.rows[-1]
    assert isinstance(first[2], Quantity)
    assert first[2].value == 0
    assert first[3:] == [None, None]
    startup = last[1]
    assert isinstance(startup, Quantity)
    assert (startup.value, startup.ci and startup.ci[0]) == (0, 0)
    assert cell_text(startup).startswith("0 s (0 to ")
    assert cell_text(Quantity(0.0, "s", (0.0, 24e-6))) == "0 s (0 to 24.00 µs)"
    assert spread(0.0, (0.0, 24e-6), "s") == "0 to 24.00 µs"
    assert spread(0.0, (0.0, 0.0), "s") == "–"


def test_the_fitted_costs_are_metrics_of_their_own() -> None:
    derived = PROBE.derive({"mpi_pingpong": curve()}, machine_with(job=JOB))
    assert [r.summary.metric for r in derived] == [*["startup_time", "incremental_cost"] * 2, "breakpoint"]
    assert derived[2].summary.params == {
        "pairs": 1,
        "pairing": "block",
        "data": "unchanged",
        "seed": 1,
        "from": 20500,
        "to": 60000,
    }
    assert derived[-1].summary.value == 20_500
    assert derived[-1].summary.ci is not None
    assert len({r.id for r in derived}) == len(derived)


def test_a_few_sizes_give_no_line() -> None:
    assert PROBE.derive({"mpi_pingpong": curve()[:9]}, machine_with(job=JOB)) == []


def test_numbers_of_pairs_are_columns_and_each_pair_has_its_nodes() -> None:
    evidence = {"0-2 minimum_s": 1e-5, "0-2 median_s": 2e-5, "0-2 maximum_s": 3e-5}
    results = [
        measured(metric, value * pairs, size, pairs, **evidence)
        for size in (100_000, 1000) for pairs in (1, 2)
        for metric, value in (("latency", 2e-5), ("bandwidth", 1e8))
    ]  # fmt: skip
    actual = tables(results)
    together = titled(actual, "Bandwidth of all pairs together")
    assert (together.headings, [row[0] for row in together.rows]) == (
        ["message size", "1 pair", "2 pairs"], ["1KB", "100KB"],
    )  # fmt: skip
    item = titled(actual, "Message time of each pair, 100KB, 2 pairs at once")
    assert item.rows[0] == ["0-2 (node17, node18)", Quantity(1e-5, "s"), Quantity(2e-5, "s"), Quantity(3e-5, "s")]


def test_kinds_of_data_have_tables_of_their_own() -> None:
    kinds = ("unchanged", "fresh")
    results = [
        with_summary(item, params={**item.summary.params, "data": data})
        for data in kinds
        for item in (*curve(), measured("latency", 1e-5, 8, 1), measured("latency", 2e-5, 8, 2))
    ]
    titles = [table.title for table in tables(results)]
    for data in kinds:
        assert f"Message cost, 1 pair, block, {data} data" in titles
        assert f"Message time by number of pairs, pairing=block data={data} seed=1" in titles


def test_bandwidth_that_stops_growing_has_a_knee() -> None:
    results = [measured("bandwidth", min(pairs * 1e8, 3e8), 100_000, pairs) for pairs in (1, 2, 4, 8)]
    derived = PROBE.derive({"mpi_pingpong": results}, machine_with(job=JOB))
    values = {r.summary.metric: r.summary.value for r in derived}
    assert values == pytest.approx({"backplane_bandwidth": 3e8, "saturation_pairs": 3.0})


def sample(*elapsed_s: float) -> Sample:
    workers = [Worker(0.0, elapsed_, Work(2_000_000, 0, 2000)) for elapsed_ in elapsed_s]
    return Sample(
        id="x", index=0, start_s=0.0, elapsed_s=max(elapsed_s), repetitions=1000, disturbed={},
        counters={"cpu_user_s": 0.0, "cpu_system_s": 0.0},
        work=Work(2_000_000 * len(workers), 0, 2000 * len(workers)), workers=workers,
    )  # fmt: skip


def test_a_message_takes_half_a_round_trip_and_each_pair_is_listed() -> None:
    latency, bandwidth = PROBE.metrics
    experiment = ResolvedExperiment({"size": 1000, "pairs": 2}, FACTS, MACHINE, {"ranks": "0-2 1-3"})
    assert latency.value(experiment, sample(0.01, 0.03)) == pytest.approx(0.04 / 4000)
    assert bandwidth.value(experiment, sample(0.01, 0.03)) == pytest.approx(4e6 / 0.03)
    evidence = PROBE.evidence(experiment, [sample(0.01, 0.03), sample(0.02, 0.03), sample(0.04, 0.03)])
    assert evidence["0-2 minimum_s"] == pytest.approx(5e-6)
    assert evidence["0-2 median_s"] == pytest.approx(1e-5)
    assert evidence["0-2 maximum_s"] == pytest.approx(2e-5)
    assert evidence["1-3 maximum_s"] == pytest.approx(1.5e-5)
    assert PROBE.remarks(experiment, []) == ["1 of 2 pairs between nodes"]


def test_nodes_have_aliases_in_exports() -> None:
    report = summarise(run_of_one("mpi_pingpong", {"size": 8, "pairs": 1}, FACTS, [sample(0.01)]))
    hidden_tables = [Table("mpi_pingpong", "t", ["a"], [["0-2 (node17, node18)"]])]
    report = msgspec.structs.replace(report, machine=machine_with(report.machine, job=JOB), tables=hidden_tables)
    hidden = without_names([report])[0]
    assert hidden.machine is not None
    assert nodes_of(hidden.machine) == ["machine 2", "machine 3"]
    assert hidden.tables[0].rows == [["0-2 (machine 2, machine 3)"]]
    assert "node1" not in msgspec.json.encode(hidden).decode()


def times(average_s: float, minimum_s: float, maximum_s: float) -> Spread:
    return Spread(average_s, minimum_s, maximum_s)


def node(scale: float, ranks: int = 2) -> NodeTimes:
    """Return a node whose repeats move 8 GB each and take ``scale`` seconds on average, on each rank and as a whole."""
    rank_times = times(1.0 * scale, 0.8 * scale, 2.0 * scale)
    return NodeTimes(ranks=ranks, repeats=10, bytes_in_repeat=8 * 10**9, window=rank_times, longest=rank_times,
                     rank=rank_times, start_skew_s=1e-5 * scale)  # fmt: skip


def stream_sample(*nodes: NodeTimes) -> Sample:
    moved = sum(item.bytes_in_repeat * item.repeats for item in nodes)
    longest_s = max(item.window.average_s * item.repeats for item in nodes)
    return msgspec.structs.replace(
        sample(0.01), nodes=list(nodes), work=Work(moved, 0, 0), elapsed_s=longest_s
    )  # fmt: skip


def test_a_node_a_rank_and_the_job_have_a_bandwidth_each() -> None:
    experiment = ResolvedExperiment({"op": "triad"}, {"nodes": 2.0, "ranks": 4.0}, MACHINE, {})
    taken = stream_sample(node(1.0), node(3.0))
    values = {metric.name: metric.value(experiment, taken) for metric in STREAM.metrics if metric.when(experiment)}
    assert values == pytest.approx(
        {"node_bandwidth": 4e9, "bandwidth": 2e9, "job_bandwidth": 16e9 / 3, "rank_sum_bandwidth": 4e9,
         "start_skew": 3e-5}
    )  # fmt: skip


def test_the_slowest_is_named() -> None:
    facts = {"nodes": 2.0, "ranks": 4.0, "touched_bytes": 1e12, "last_level_bytes": 1e6, "huge_bytes": 1e12}
    params: dict[str, Any] = {"op": "triad", "threads": 1, "pages": "huge", "size": 2 * 10**9, "repeats": 10}
    nodes = [node(1.0), node(3.0)]
    actual = STREAM.evidence(
        ResolvedExperiment(params, facts, MACHINE),
        [stream_sample(node(1.0), node(3.0)), stream_sample(node(1.0), node(2.0))],
    )
    assert actual["window_worst"] == pytest.approx(8e9 / 6)
    assert actual["window_best"] == pytest.approx(8e9 / 0.8)
    assert actual["rank_worst"] == pytest.approx(4e9 / 6)
    made = with_summary(result(params, 4e9, probe="mpi_stream"), metric="node_bandwidth", unit="B/s")
    made = msgspec.structs.replace(made, facts=facts, evidence=actual, node_times=nodes)
    assert STREAM.tables is not None
    facts_table, *printed = STREAM.tables({"mpi_stream": [made]}, machine_with(job=JOB))
    assert [table.rows[0][0] for table in printed] == ["Triad"] * 3
    assert [table.rows[0][-1] for table in printed] == ["node18"] * 3
    worst = [cell for cell in printed[1].rows[0][5:7] if isinstance(cell, Quantity)]
    assert [cell.value for cell in worst] == [pytest.approx(8e9 / 6), actual["window_worst_s"]]
    assert [cell.unit for cell in worst] == ["B/s", "s"]
    assert actual["window_best_s"] < actual["window_average_s"] < actual["window_worst_s"]
    assert "4 ranks on 2 nodes, 1 thread)" in printed[0].title
    assert facts_table.title == "Configuration"


def test_a_report_names_the_line_of_each_cost_and_leaves_empty_messages_out_of_its_axis() -> None:
    report = summarise(run_of_one("mpi_pingpong", {"size": 8, "pairs": 1}, FACTS, [sample(0.01)]))
    results = curve()
    derived = PROBE.derive({"mpi_pingpong": results}, machine_with(job=JOB))
    page = render([msgspec.structs.replace(report, results=[*results, *derived], tables=tables(results))], DETAILS[0])
    assert "startup_time from=0 to=20500" in page
    assert "--mpi &#39;mpirun -n RANKS&#39;" in page
    assert "startup_time from=20500 to=60000" in page
    assert "60 sizes from 1KB to 60KB" in page


def test_the_job_is_among_the_facts_of_the_machine() -> None:
    report = summarise(run_of_one("mpi_pingpong", {"size": 8, "pairs": 1}, FACTS, [sample(0.01)]))
    facts = dict(machine_facts(machine_with(report.machine, job=JOB)))
    assert facts["MPI job"] == "4 ranks on 2 nodes, of which this is one; Open MPI v4.1.4"
