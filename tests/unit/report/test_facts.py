"""The facts about the machine above the results of a run."""

from __future__ import annotations

import msgspec
import pytest

from machines import MACHINE, machine_with
from nameplate.records.machine_record import Cache, Memory, Module, Topology
from nameplate.report.html.facts import cpuid_facts, machine_facts, memory_modules


def module(size_gibibytes: int | None, speed: float | None = 3200e6, kind: str | None = "DDR4") -> Module:
    size = size_gibibytes * 2**30 if size_gibibytes is not None else None
    return Module(
        locator="", bank="", size_bytes=size, width_bits=64, type=kind, configured_transfers_per_s=speed,
        rated_transfers_per_s=speed,
    )  # fmt: skip


def memory(status: str | None, modules: list[Module] | None = None) -> Memory:
    return Memory(total_bytes=2**33, transparent_huge_pages="", modules_status=status, modules=modules)


def topology(caches: list[Cache], by_cpuid: list[Cache]) -> Topology:
    return msgspec.structs.replace(MACHINE.topology, caches=caches, cpuid_caches=by_cpuid)


def cache(level: int, type_: str, size_bytes: int) -> Cache:
    return Cache(level=level, type=type_, size_bytes=size_bytes, count=1, shared_by=1)


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ([module(8), module(8)], "2 × 8 GiB DDR4 at 3200 MT/s"),
        ([module(8), module(0, None, None)], "1 × 8 GiB DDR4 at 3200 MT/s; 1 slot empty"),
        ([module(8), module(32, 4.8e9, "DDR5")], "1 × 8 GiB DDR4 at 3200 MT/s, 1 × 32 GiB DDR5 at 4800 MT/s"),
        ([module(None, None, None)], "1 × unknown size memory"),
        ([], "none"),
    ],
)
def test_memory_modules_in_words(modules: list[Module], message: str) -> None:
    assert memory_modules(memory("read", modules)) == message


def test_memory_modules_that_could_not_be_read() -> None:
    assert memory_modules(memory("no_table")) == "not shown: there is no DMI table"
    assert memory_modules(memory("no_permission")) == "not shown: only root may read the DMI table"
    assert memory_modules(memory(None)) == "not recorded"


def test_a_cache_is_named_again_where_cpuid_differs() -> None:
    system = [cache(1, "data", 32768), cache(2, "unified", 2**20)]
    assert cpuid_facts(topology(system, system)) == []
    larger = [cache(2, "unified", 2**21), cache(3, "unified", 2**25)]
    assert cpuid_facts(topology(system, larger)) == [
        ("L2 unified, CPUID", "2 MiB; the system shows 1 MiB"),
        ("L3 unified, CPUID", "32 MiB; the system shows none"),
    ]


def test_a_run_of_an_older_version_is_still_described() -> None:
    assert ("memory modules", "not recorded") in machine_facts(MACHINE)


def test_what_the_system_does_not_tell_is_unknown() -> None:
    hidden = machine_with(
        cpu={"model": ""}, is_hypervisor_known=False, memory={"total_bytes": 0, "transparent_huge_pages": ""},
        limits={"are_visible": False}, topology={"cores": 4, "threads": 4, "packages": 0, "are_cores_listed": False},
    )  # fmt: skip
    facts = dict(machine_facts(hidden))
    assert facts["CPU"] == "unknown model (x86_64)"
    assert facts["cores"] == "4 CPUs; each counts as a core, since the system does not show their cores"
    assert facts["platform"] == "hypervisor unknown"
    assert facts["memory"] == "size unknown, pages of 4KiB, huge pages: unknown"
    assert facts["limits"] == "not visible"


def test_a_known_quota_is_shown_where_other_limits_are_hidden() -> None:
    partly = machine_with(limits={"are_visible": False, "cpus": 0.25})
    assert dict(machine_facts(partly))["limits"] == "0.25 CPUs, others are not visible"
