"""The results of mpi_stream for memory on a mount."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from machines import MACHINE, machine_with
from nameplate.probes import ResolvedExperiment
from nameplate.probes.mpi_stream import PROBE
from nameplate.records.result import Result
from nameplate.records.run_record import NodeTimes, Spread
from report_samples import result, with_summary

FACTS = {"nodes": 1.0, "ranks": 2.0, "touched_bytes": 1e9, "last_level_bytes": 1e6, "huge_bytes": 0.0}
EVIDENCE = {
    f"{level}_{which}": 0.0 if which == "worst_node" else 1e9
    for level in ("rank", "window", "longest")
    for which in ("average", "best", "worst", "average_s", "best_s", "worst_s", "worst_node")
} | {"rank_sum_average": 1e9, "rank_sum_average_s": 1e9}  # fmt: skip
TIMES = Spread(1.0, 1.0, 1.0)
NODE = NodeTimes(
    ranks=2, repeats=10, bytes_in_repeat=1 << 20, window=TIMES, longest=TIMES, rank=TIMES, start_skew_s=0.0
)  # fmt: skip


def remarks(mount: str, durability: str | None, **params: str) -> list[str]:
    labels = {"mount": mount, "filesystem": "xfs", "path": "/mnt"} | ({"durability": durability} if durability else {})
    all_params = {"op": "copy", "pages": "huge", "memory": "pmem", "path": "/mnt", "persist": "none", **params}
    return PROBE.remarks(ResolvedExperiment(all_params, FACTS, MACHINE, labels), [])


@pytest.mark.parametrize(
    ("mount", "message"),
    [
        ("dax", "xfs with DAX on /mnt: loads and stores reach the device"),
        ("memory", "xfs on /mnt: ordinary memory, not persistent memory"),
        ("file", "an ordinary file of xfs on /mnt, through the page cache: not persistent memory"),
    ],
)
def test_a_metric_names_the_kind_of_the_mount(mount: str, message: str) -> None:
    assert remarks(mount, "persistent") == [message]
    assert remarks(mount, None, memory="memkind") == [message]


def test_the_method_of_making_stores_durable_is_named() -> None:
    assert remarks("memory", "none")[1:] == ["not persistent according to libpmem"]
    assert remarks("file", "none", persist="array")[1:] == ["not persistent: flushed by msync"]
    (claim,) = remarks("memory", "forced", persist="array")[1:]
    assert claim.startswith("PMEM_IS_PMEM_FORCE=1")


def test_results_of_system_memory_are_unchanged() -> None:
    for params in ({"memory": "dram", "persist": "none"}, {}):
        experiment = ResolvedExperiment({"op": "copy", "pages": "huge", **params}, FACTS, MACHINE)
        assert PROBE.remarks(experiment, []) == ["no huge pages"]


def test_a_mount_has_no_nameplate() -> None:
    experiment = ResolvedExperiment({"op": "copy", "memory": "pmem", "path": "/mnt", "persist": "none"}, FACTS, MACHINE)
    assert PROBE.rated(PROBE.metrics[0], experiment, []).value is None


def measured(op: str, **params: Any) -> Result:
    made = with_summary(
        result({"op": op, "threads": 1, "size": 1 << 20, "repeats": 10, **params}, 1e9, probe="mpi_stream"),
        metric="node_bandwidth",
    )
    return msgspec.structs.replace(made, facts=FACTS, evidence=EVIDENCE, node_times=[NODE])


def test_each_kind_of_memory_has_its_own_tables_with_the_four_operations() -> None:
    pmem = {"memory": "pmem", "path": "/mnt"}
    results = [
        measured(op, **params)
        for params in ({"memory": "dram", "persist": "none"}, {**pmem, "persist": "none"}, {**pmem, "persist": "array"})
        for op in ("copy", "read", "write")
    ]
    assert PROBE.tables is not None
    actual = PROBE.tables({"mpi_stream": results}, machine_with(job={"nodes": ["vm"]}))
    assert [[row[0] for row in table.rows] for table in actual] == [["Copy"]] * 12
    assert actual[1].title.endswith("(2 ranks on 1 node, 1 thread)")
    assert actual[4].title == "Configuration (memory=pmem, path=/mnt, persist=none)"
    assert actual[5].title.endswith("(2 ranks on 1 node, 1 thread; memory=pmem, path=/mnt, persist=none)")
    assert actual[11].title.endswith("; memory=pmem, path=/mnt, persist=array)")
    assert PROBE.tables({"mpi_stream": [measured("read", memory="dram")]}, machine_with(job={"nodes": ["vm"]})) == []
