"""What is said of the machine above a run's values."""

from __future__ import annotations

from typing import Any

import pytest

from nameplate.report.html.facts import cpuid_facts, machine_facts, memory_modules
from report_samples import MACHINE


def module(size_gibibytes: int | None, speed: float | None = 3200e6, kind: str | None = "DDR4") -> dict[str, Any]:
    size = size_gibibytes * 2**30 if size_gibibytes is not None else None
    return {
        "size_bytes": size, "type": kind, "configured_transfers_per_s": speed, "rated_transfers_per_s": speed,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        ([module(8), module(8)], "2 × 8 GiB DDR4 at 3200 MT/s"),
        ([module(8), module(0, None, None)], "1 × 8 GiB DDR4 at 3200 MT/s; 1 slot empty"),
        ([module(8), module(32, 4.8e9, "DDR5")], "1 × 8 GiB DDR4 at 3200 MT/s, 1 × 32 GiB DDR5 at 4800 MT/s"),
        ([module(None, None, None)], "1 × unknown size memory"),
        ([], "none"),
    ],
)
def test_memory_modules_in_words(modules: list[Any], words: str) -> None:
    assert memory_modules({"modules_status": "read", "modules": modules}) == words


def test_memory_modules_that_could_not_be_read() -> None:
    assert memory_modules({"modules_status": "no_table", "modules": None}) == "not shown: there is no DMI table"
    assert (
        memory_modules({"modules_status": "no_permission", "modules": None})
        == "not shown: only root may read the DMI table"
    )
    assert memory_modules({}) == "not recorded"


def test_a_cache_is_named_again_where_cpuid_differs() -> None:
    system = [{"level": 1, "type": "data", "size_bytes": 32768}, {"level": 2, "type": "unified", "size_bytes": 2**20}]
    assert cpuid_facts({"caches": system, "cpuid_caches": system}) == []
    larger = [
        {"level": 2, "type": "unified", "size_bytes": 2**21},
        {"level": 3, "type": "unified", "size_bytes": 2**25},
    ]
    assert cpuid_facts({"caches": system, "cpuid_caches": larger}) == [
        ("L2 unified, CPUID", "2 MiB; the system shows 1 MiB"),
        ("L3 unified, CPUID", "32 MiB; the system shows none"),
    ]


def test_a_run_of_an_older_version_is_still_described() -> None:
    assert ("memory modules", "not recorded") in machine_facts(MACHINE)
