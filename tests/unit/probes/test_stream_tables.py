"""The tables of mpi_stream: the published values of DistributedStream, and names that distinguish rows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from machines import GUEST, machine_with
from nameplate.probes import ResolvedExperiment
from nameplate.probes.mpi_stream import PROBE
from nameplate.records.result import Quantity, Report, Result, Table
from nameplate.records.run_record import NodeTimes, Sample, Spread, Work
from nameplate.report.content.aliases import without_names
from nameplate.report.exports import csv, markdown
from nameplate.report.html.document import DETAILS
from nameplate.report.html.page import render
from nameplate.studies import StudyRun, make_study
from nameplate.studies.published import Published, published
from report_samples import report, result, with_summary

# The published job: 1,104 processes, 48 on each of 23 nodes, with 5,000,000 elements of 8 bytes in each array.
RANKS, NODES, ARRAY_BYTES = 48, 23, 40_000_000
ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
JOB = {
    "library": "Open MPI v4.1.4", "ranks": RANKS * NODES, "nodes": [f"n{index:02}" for index in range(NODES)],
    "hardware": [["M", NODES]], "placement": [[index, RANKS] for index in range(NODES)],
    "eager_limits": {}, "mtu_bytes": {}, "socket_buffer_bytes": {},
}  # fmt: skip
FACTS = {
    "ranks": float(RANKS * NODES), "nodes": float(NODES), "touched_bytes": 1e10, "last_level_bytes": 1e6,
    "huge_bytes": 1e10, "bus_bytes_per_byte": 1.0,
}  # fmt: skip
PRINTED = [printed for printed in published("distributed-stream") if printed.table in ("rank", "node")]


def printed(op: str, table: str, metric: str) -> float:
    (actual,) = (f for f in PRINTED if (f.op, f.table, f.metric) == (op, table, metric))
    return actual.value


def document_sample(op: str) -> Sample:
    """Return a sample whose times give the printed bandwidths; each extreme is on another node."""
    moved = ARRAYS[op] * ARRAY_BYTES
    average_s, shortest_s, longest_s = (
        RANKS * moved / (printed(op, "node", f"bandwidth_{which}") * 1e6) for which in ("avg", "max", "min")
    )
    first_s = moved / (printed(op, "rank", "bandwidth_max") * 1e6)
    typical = Spread(0.999 * longest_s, shortest_s * 1.001, longest_s * 0.999)
    nodes = [
        NodeTimes(
            ranks=RANKS, repeats=10, bytes_in_repeat=RANKS * moved, window=typical, start_skew_s=1e-6,
            longest=Spread(typical.average_s, shortest_s if index == 3 else typical.minimum_s,
                           longest_s if index == 5 else typical.maximum_s),
            rank=Spread(average_s * (1 + 0.02 * (index - NODES // 2) / NODES),
                        first_s if index == 7 else first_s * 1.01,
                        longest_s if index == 5 else typical.maximum_s),
        )
        for index in range(NODES)
    ]  # fmt: skip
    return Sample(
        id="x", index=0, start_s=0.0, elapsed_s=0.3, repetitions=1, disturbed={},
        counters={"cpu_user_s": 1.0, "cpu_system_s": 0.0}, work=Work(RANKS * moved * 10 * NODES, 0, 0), nodes=nodes,
    )  # fmt: skip


def measured(op: str, **given: Any) -> Result:
    """Return the result of an experiment; ``given`` has the parameters that its plan sets besides the operation."""
    params = {"op": op, "threads": 1, "size": ARRAY_BYTES, "repeats": 10, "pages": "huge", "stores": "plain", **given}
    taken = document_sample(op)
    assert isinstance(taken.nodes, list)
    made = with_summary(result(params, 4e9, probe="mpi_stream"), metric="node_bandwidth", unit="B/s")
    identity = " ".join(["mpi_stream", f"op={op}", *(f"{name}={value}" for name, value in given.items())])
    evidence = PROBE.evidence(ResolvedExperiment(params, FACTS, GUEST), [taken, taken])
    return msgspec.structs.replace(made, id=identity, facts=FACTS, evidence=evidence, node_times=taken.nodes)


def tables(*results: Result) -> list[Table]:
    assert PROBE.tables is not None
    return PROBE.tables({"mpi_stream": list(results)}, machine_with(job=JOB))


@pytest.mark.parametrize("printed", PRINTED, ids=lambda f: f"{f.table} {f.op} {f.metric}")
def test_the_published_times_give_the_published_values_to_every_digit(printed: Published) -> None:
    level = {"rank": "rank", "node": "longest"}[printed.table]
    key = {
        "bandwidth_avg": "rank_average" if printed.table == "rank" else "rank_sum_average",
        "time_avg": "rank_average_s" if printed.table == "rank" else "rank_sum_average_s",
        "bandwidth_max": f"{level}_best", "time_min": f"{level}_best_s",
        "bandwidth_min": f"{level}_worst", "time_max": f"{level}_worst_s",
    }[printed.metric]  # fmt: skip
    value = measured(printed.op).evidence[key]
    output = f"{value:.6f}" if printed.unit == "s" else f"{value / 1e6:.1f}"
    assert float(output) == printed.value


def test_the_study_compares_averages_of_the_same_definition() -> None:
    results = [measured(op) for op in ARRAYS]
    study = make_study(StudyRun(plan="distributed-stream", results=results, machine=machine_with(GUEST, job=JOB)))
    assert study is not None
    cells = [cell for table in study.tables[1:] for row in table.cells for cell in row if cell.published is not None]
    assert len(cells) == 48 + 7  # the header of a run has seven values
    for cell in cells:
        assert isinstance(cell.here, float)
        decimals = len(cell.printed.partition(".")[2])
        assert cell.here == pytest.approx(cell.published, rel=1e-4) or f"{cell.here:.{decimals}f}" == cell.printed


def test_the_maps_of_the_study_have_its_averages_and_the_extremes_of_its_repeats() -> None:
    """The original computes a node's average from the mean time of its processes, the extremes from the slowest one."""
    study = make_study(
        StudyRun(plan="distributed-stream", results=[measured("copy")], machine=machine_with(GUEST, job=JOB))
    )
    assert study is not None
    (copy,) = study.maps
    assert copy.title == "Node Copy"
    extremes = copy.value[NODES // 2], max(filter(None, copy.maximum)), min(filter(None, copy.minimum))
    assert [f"{(value or 0) / 1e6:.1f}" for value in extremes] == ["135686.9", "134939.7", "131574.2"]


def test_the_averages_of_a_node_are_shown_with_their_definitions() -> None:
    table = tables(measured("copy"))[3]
    assert table.headings[1:5] == ["rank average", "time", "average", "time"]
    rates = [cell.value for cell in table.rows[0][1:-1:2] if isinstance(cell, Quantity)]
    assert [f"{rate / 1e6:.1f}" for rate in rates] == ["135686.9", "131705.9", "134939.7", "131574.2"]
    assert "sum of its ranks' bandwidths" in " ".join(table.notes)


def test_the_configuration_is_that_of_the_document() -> None:
    table = tables(*(measured(op) for op in ARRAYS))[0]
    assert table.headings == [
        "Functions", "element", "elements", "per array", "per process", "per node", "repeats", "processes × threads",
        "processes per node",
    ]  # fmt: skip
    assert [[cell.value if isinstance(cell, Quantity) else cell for cell in row] for row in table.rows] == [
        ["Copy, Scale", "8 B", "5,000,000", 4e7, 8e7, 48 * 8e7, "10", "1104 × 1", "48"],
        ["Add, Triad", "8 B", "5,000,000", 4e7, 12e7, 48 * 12e7, "10", "1104 × 1", "48"],
    ]


def test_rows_name_every_parameter_that_distinguishes_them() -> None:
    results = [measured(op, threads=threads, stores=stores, size=ARRAY_BYTES) for op in ("copy", "triad")
               for threads in (1, 2) for stores in ("plain", "nontemporal")]  # fmt: skip
    for table in tables(*results)[1:]:
        assert table.headings[:3] == ["Function", "threads", "stores"]
        assert [row[:3] for row in table.rows[:4]] == [
            ["Copy", "1", "plain"], ["Copy", "1", "nontemporal"], ["Copy", "2", "plain"], ["Copy", "2", "nontemporal"],
        ]  # fmt: skip
        assert "thread" not in table.title.partition("(")[2], "rows differ in it"


def test_a_parameter_chosen_by_the_rank_has_no_column() -> None:
    few, many = measured("copy", threads=1), measured("copy", threads=2)
    params = {**many.summary.params, "size": ARRAY_BYTES // 2}
    many = with_summary(many, params=params)
    assert tables(few, many)[1].headings[:3] == ["Function", "threads", "average"]


def two_thread_counts() -> Report:
    results = [measured("copy", threads=1), measured("copy", threads=2)]
    made = report(results)
    return msgspec.structs.replace(made, machine=machine_with(made.machine, job=JOB), tables=tables(*results))


def test_thread_counts_are_distinguished_in_every_export() -> None:
    output = without_names([two_thread_counts()])[0]
    lines = [line for line in markdown.export(output).splitlines() if line.startswith("| Copy |")]
    assert [line.split(" | ")[1] for line in lines if "8 B" not in line] == ["1", "2"] * 3
    assert len([line for line in lines if "8 B" in line and ("| 1104 × 1 |" in line or "| 1104 × 2 |" in line)]) == 2
    assert "param.threads" in csv.export(output).splitlines()[0]
    page = render([output], DETAILS[-1])
    assert page.count('scope="col">threads</th>') >= 3 or page.count(">threads<") >= 3
