"""The tables of the disk probe."""

from __future__ import annotations

from typing import Any

import msgspec

from nameplate.probes import ParameterChart
from nameplate.probes.shared.disk_tables import tables
from nameplate.records.result import Quantity, Result, Table
from nameplate.report.charts.parameters import along, percentiles
from report_samples import result, with_summary

TYPICAL: dict[str, Any] = {
    "op": "read", "pattern": "sequential", "pass": "again", "block": 4096, "threads": 1, "library": "pread", "depth": 1,
    "cache": "warm", "sync": "none", "size": 1 << 20,
}  # fmt: skip
FACTS = {"file_bytes": 1 << 20, "memory_bytes": 8 << 30, "clock_cost_s": 25e-9, "timed_every": 1}


def measured(value: float, metric: str = "bandwidth", served: str = "page cache", **params: Any) -> Result:
    all_params = {**TYPICAL, **params}
    unit = "s" if "latency" in metric else "B/s"
    made = with_summary(result(all_params, value, probe="disk_block"), metric=metric, unit=unit)
    identity = " ".join(["disk_block", *(f"{name}={value}" for name, value in all_params.items())])
    return msgspec.structs.replace(
        made, is_detail=metric.startswith("latency_"), id=identity, facts=FACTS, remarks=[f"served by {served}"],
        evidence={"fetched": 0.25}, round_values=[value] * 6,
    )  # fmt: skip


def titled(tables_of_probe: list[Table], message: str) -> Table:
    return next(table for table in tables_of_probe if message in table.title)


def test_the_table_of_the_study_has_blocks_threads_and_the_source_of_the_bytes() -> None:
    results = [
        measured(value, metric, block=block, threads=threads)
        for block in (1, 1024) for threads in (1, 2) for metric, value in (("bandwidth", 1e6), ("latency", 1e-6))
    ]  # fmt: skip
    table = titled(tables(results), "By operation, pattern and block")
    assert [row[0] for row in table.rows] == ["read sequential 1B", "read sequential 1KiB"]
    assert table.headings[1:] == ["bandwidth, 1 thread", "latency, 1 thread", "bandwidth, 2 threads",
                                  "latency, 2 threads", "served by"]  # fmt: skip
    assert table.rows[0][-1] == "page cache"
    assert "smaller than memory" in table.notes[0]


def test_an_experiment_served_by_another_source_is_marked_in_its_row() -> None:
    results = [
        measured(1e6, block=b, threads=t, served="device sda" if t == 2 else "page cache")
        for b in (1, 2)
        for t in (1, 2)
    ]
    assert titled(tables(results), "By operation").rows[0][-1] == "page cache, device sda"


def test_libraries_are_columns() -> None:
    results = [measured(value, library=name) for name, value in (("stdio", 1e6), ("pread", 2e6), ("uring", 3e6))]
    table = titled(tables(results), "by library")
    assert table.headings == ["", "stdio", "pread", "uring", "served by"]
    assert [entry.value for entry in table.rows[0] if isinstance(entry, Quantity)] == [1e6, 2e6, 3e6]


def test_a_write_has_three_metrics() -> None:
    results = [
        measured(3e9, op="write"),
        measured(2e9, op="write", sync="end"),
        measured(1e9, op="write", cache="direct"),
    ]
    table = titled(tables(results), "Durability of writes")
    assert [entry.value for entry in table.rows[0] if isinstance(entry, Quantity)] == [3e9, 2e9, 1e9]
    assert titled(tables(results), "Steady state").rows[0][-1] == "steady"


def test_bytes_that_the_system_counts_by_the_page_are_explained() -> None:
    def note(written: float) -> str:
        result = msgspec.structs.replace(measured(1e6, op="write", block=16), evidence={"given": written})
        return " ".join(titled(tables([result]), "came from").notes)

    assert "Process wrote 256 bytes per byte: a write into the page cache counts as a whole page" in note(256.0)
    assert "whole page" not in note(1.0)


def test_a_mixture_has_the_times_of_its_reads_and_of_its_writes() -> None:
    params = {"op": "readwrite:70", "pattern": "random"}
    parts = {"latency": 2e-4, "read_latency": 1e-4, "write_latency": 3e-4}
    results = [
        msgspec.structs.replace(measured(value, f"{part}_{name}", **params), is_detail=True)
        for part, value in parts.items()
        for name in ("p50", "p90", "max")
    ]
    table = titled(tables([measured(1e6, **params), *results]), "Times of single operations")
    assert [row[0] for row in table.rows] == [
        "single experiment",
        "single experiment reads",
        "single experiment writes",
    ]
    assert [row[1].value for row in table.rows if isinstance(row[1], Quantity)] == list(parts.values())
    (chart,) = percentiles(results)
    drawn = set(chart.plot.lines)
    assert drawn == {"single experiment", "single experiment reads", "single experiment writes"}


def test_results_without_evidence_have_no_table_of_it() -> None:
    skipped = msgspec.structs.replace(with_summary(measured(1e6), value=None), evidence={})
    assert all("came from" not in table.title for table in tables([skipped]))


def test_evidence_and_percentiles_have_a_row_per_experiment() -> None:
    timed = [measured(value, f"latency_{name}") for name, value in (("p50", 1e-6), ("p99", 2e-6), ("max", 9e-6))]
    actual = tables([measured(1e6), *timed])
    assert titled(actual, "Where the bytes came from").rows[0][1:5] == ["page cache", None, None, "0.25"]
    percentiles = titled(actual, "single operations")
    assert [entry.value if isinstance(entry, Quantity) else entry for entry in percentiles.rows[0][1:]] == [
        1e-6, None, 2e-6, None, 9e-6,
    ]  # fmt: skip
    assert "25 ns" in percentiles.notes[0]


def test_the_matrix_of_iozone_replaces_the_other_tables() -> None:
    kinds = [("write", "sequential"), ("read", "sequential"), ("read", "random"), ("write", "random"),
             ("read", "backward"), ("write", "record"), ("read", "stride")]  # fmt: skip
    results = [
        measured(2048.0, op=op, pattern=pattern, library=library, **{"pass": which})
        for op, pattern in kinds for which in ("first", "again") for library in ("posix", "stdio")
    ]  # fmt: skip
    (table,) = tables(results)
    assert table.headings[:4] == ["kB", "reclen", "write", "rewrite"]
    assert table.rows == [["1024", "4", *["2"] * 13]]


def test_a_study_with_iozones_columns_keeps_its_other_tables() -> None:
    """The experiments on several threads do not belong to IOzone's matrix."""
    kinds = [("write", "sequential"), ("read", "sequential"), ("read", "random"), ("write", "random"),
             ("read", "backward"), ("write", "record"), ("read", "stride")]  # fmt: skip
    results = [
        measured(2048.0, op=op, pattern=pattern, library=library, **{"pass": which})
        for op, pattern in kinds for which in ("first", "again") for library in ("posix", "stdio")
    ]  # fmt: skip
    actual = tables([*results, measured(1e6, threads=2)])
    assert not any("IOzone" in table.title for table in actual)
    assert titled(actual, "Where the bytes came from").rows


def test_a_stopped_plan_still_prints_iozones_matrix() -> None:
    """One of two file sizes was measured, with three of its columns."""
    kinds = [("write", "sequential"), ("read", "sequential"), ("read", "random"), ("write", "random"),
             ("read", "backward"), ("write", "record"), ("read", "stride")]  # fmt: skip
    planned = [
        measured(2048.0, op=op, pattern=pattern, library=library, size=size, **{"pass": which})
        for size in (1 << 20, 2 << 20)
        for op, pattern in kinds for which in ("first", "again") for library in ("posix", "stdio")
    ]  # fmt: skip
    reached = {("write", "first"), ("read", "first"), ("read", "again")}
    results = [
        result
        if (params["op"], params["pass"]) in reached
        and (params["pattern"], params["library"], params["size"]) == ("sequential", "posix", 1 << 20)
        else msgspec.structs.replace(result, summary=msgspec.structs.replace(result.summary, value=None))
        for result in planned
        for params in [result.summary.params]
    ]
    (table,) = tables(results)
    assert table.rows == [["1024", "4", "2", None, "2", "2", *[None] * 9]]


def test_charts_follow_the_swept_parameter_and_show_the_percentiles() -> None:
    swept = [
        measured(1e6 * block, block=block, library=library) for block in (1, 8, 1024) for library in ("pread", "mmap")
    ]
    (against_block,) = along(
        swept, [ParameterChart("bandwidth", "block", "words"), ParameterChart("iops", "depth", "words")]
    )
    assert against_block.title == "Bandwidth against block"
    assert against_block.spec["description"] == "bandwidth of disk_block by block, logarithmic"
    libraries = [measured(1e6, library=name) for name in ("stdio", "pread", "uring")]
    assert [chart.title for chart in along(libraries, [ParameterChart("bandwidth", "library", "")])] == [
        "Bandwidth by library"
    ]
    timed = [measured(value, f"latency_{name}") for name, value in (("p50", 1e-6), ("p99", 2e-6), ("max", 9e-6))]
    assert [chart.title for chart in percentiles(timed)] == ["Times of single operations"]
    assert percentiles(timed[:2]) == []
