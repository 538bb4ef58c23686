from __future__ import annotations

import msgspec
import pytest

from machines import MACHINE
from nameplate.comparison.run_to_run import resource_of
from nameplate.records.machine_record import Cache
from nameplate.records.plan_record import Value
from report_samples import result, with_summary

TYPICAL_BYTES = 32 << 10


def cache(level: int, size_bytes: int, kind: str = "data") -> Cache:
    return Cache(level=level, type=kind, size_bytes=size_bytes, line_bytes=64, ways=8, count=1, shared_by=1)


CACHES = [cache(1, TYPICAL_BYTES), cache(1, 4 * TYPICAL_BYTES, "instruction"), cache(2, 32 * TYPICAL_BYTES, "unified")]
ONE_CORE = msgspec.structs.replace(
    MACHINE, topology=msgspec.structs.replace(MACHINE.topology, cores=1, threads=1, caches=CACHES)
)


@pytest.mark.parametrize(
    ("probe", "touched_bytes", "threads", "resource"),
    [
        ("cpu_flops", None, 1, "core"),
        ("cpu_flops", None, 2, "cores"),
        ("memory_latency", TYPICAL_BYTES / 2, 1, "core"),
        ("memory_latency", TYPICAL_BYTES, 1, "memory"),
        ("memory_stream", TYPICAL_BYTES, 2, "cores"),
        ("cpu_workset", 8 * TYPICAL_BYTES, 1, "memory"),
        ("cpu_workset", TYPICAL_BYTES / 4, 1, "core"),
        ("disk_block", TYPICAL_BYTES / 4, 1, "disk"),
        ("net_stream", None, 1, "network"),
        ("mpi_pingpong", None, 1, "network"),
    ],
)
def test_what_limits_a_metric(probe: str, touched_bytes: float | None, threads: Value, resource: str) -> None:
    facts = {} if touched_bytes is None else {"touched_bytes": touched_bytes}
    measured = with_summary(result({"threads": threads}, 1e9), probe=probe)
    measured = msgspec.structs.replace(measured, facts=facts)
    assert resource_of(measured, ONE_CORE) == resource


def test_without_a_machine_no_array_is_small() -> None:
    measured = msgspec.structs.replace(
        with_summary(result({"threads": 1}, 1e9), probe="memory_latency"), facts={"touched_bytes": 4096.0}
    )
    assert resource_of(measured, None) == "memory"
    assert resource_of(measured, ONE_CORE) == "core"
