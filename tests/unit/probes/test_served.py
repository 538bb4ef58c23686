"""Where the bytes of a file came from: the verdict and its values."""

from __future__ import annotations

from typing import Any

import pytest

from machines import machine_with
from nameplate.probes import ResolvedExperiment
from nameplate.probes.shared.served import evidence, is_device, served_by
from nameplate.records.run_record import Sample, Work

FILE = 1000.0


def sample(**counters: float) -> Sample:
    known = {
        "resident_before_bytes": FILE, "resident_after_bytes": FILE, "process_read_bytes": 0.0,
        "process_write_bytes": 0.0, "device_read_bytes": 0.0, "device_write_bytes": 0.0,
    }  # fmt: skip
    return Sample(id="x", index=0, start_s=0, elapsed_s=1, repetitions=1, work=Work(bytes=100, flops=0, ops=1),
                  counters={**known, **counters}, disturbed={})  # fmt: skip


def experiment(hypervisor: str | None = None, is_memory: float = 0, **params: Any) -> ResolvedExperiment:
    typical = {"op": "read", "cache": "warm", "sync": "none"}
    labels = {"filesystem": "tmpfs" if is_memory else "ext4", "device": "sda1"}
    return ResolvedExperiment(
        {**typical, **params}, {"is_memory": is_memory, "file_bytes": FILE}, machine_with(hypervisor=hypervisor), labels
    )


@pytest.mark.parametrize(
    ("fetched", "verdict"),
    [(0, "page cache"), (5, "page cache"), (37, "mixed: 37 % device sda1"), (95, "device sda1"), (400, "device sda1")],
)
def test_a_read_is_attributed_to_the_source_of_its_bytes(fetched: float, verdict: str) -> None:
    assert served_by(experiment(), [sample(process_read_bytes=fetched)]) == verdict


def test_a_device_in_a_guest_is_called_virtual() -> None:
    served = served_by(experiment(hypervisor="kvm"), [sample(process_read_bytes=100)])
    assert served == "virtual device sda1"
    assert is_device(served)


def test_a_file_in_memory_is_a_ram_disk_whatever_the_counters_say() -> None:
    assert served_by(experiment(is_memory=1), [sample(process_read_bytes=100)]) == "RAM disk (tmpfs)"


def test_without_counters_residency_decides_and_without_both_it_is_unknown() -> None:
    assert served_by(experiment(), [sample(process_read_bytes=-1)]) == "page cache"
    assert served_by(experiment(cache="direct"), [sample(process_read_bytes=-1)]) == "unknown"
    assert served_by(experiment(), [sample(process_read_bytes=-1, resident_before_bytes=-1)]) == "unknown"
    assert served_by(experiment(), [sample(process_read_bytes=-1, resident_before_bytes=500)]) == "unknown"


def test_a_write_ends_in_the_page_cache_unless_it_waits_for_the_device() -> None:
    written = sample(process_write_bytes=100, device_write_bytes=100)
    assert served_by(experiment(op="write"), [written]) == "page cache"
    assert served_by(experiment(op="write", sync="end"), [written]) == "device sda1"
    assert served_by(experiment(op="write", cache="direct"), [written]) == "device sda1"
    assert served_by(experiment(op="write", cache="direct"), [sample()]) == "unknown"


def test_cache_misses_of_a_mixed_workload_are_reported() -> None:
    assert (
        served_by(experiment(op="readwrite", cache="cold"), [sample(process_read_bytes=60)])
        == "mixed: 60 % device sda1"
    )


def test_the_values_are_shares_and_bytes_per_byte() -> None:
    actual = evidence(experiment(), [sample(resident_before_bytes=500, process_read_bytes=50),
                              sample(resident_before_bytes=0, process_read_bytes=150)])  # fmt: skip
    assert actual["resident_before"] == 0.25
    assert actual["fetched"] == 1.0
    assert "device_read" not in evidence(experiment(), [sample(device_read_bytes=-1)])
