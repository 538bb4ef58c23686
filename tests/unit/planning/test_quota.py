from __future__ import annotations

import pytest

from machines import MACHINE, machine_with
from nameplate.planning.quota import over_full_periods
from nameplate.records.plan_record import Experiment

LIMITED = machine_with(limits={"cpus": 0.8})


def experiment(probe: str, slice_s: float) -> Experiment:
    return Experiment(probe, probe, {}, slice_s, sample_s=0.001)


@pytest.mark.parametrize(
    ("probe", "planned_s", "slice_s", "sample_s"),
    [
        ("cpu_flops", 0.03, 0.2, 0.25),
        ("memory_stream", 0.02, 0.2, 0.25),
        ("cpu_flops", 0.4, 0.4, 0.25),
        ("memory_latency", 0.004, 0.004, 0.001),
        ("disk_block", 0.1, 0.1, 0.001),
    ],
)
def test_samples_cover_periods_of_a_quota(probe: str, planned_s: float, slice_s: float, sample_s: float) -> None:
    (actual,) = over_full_periods([experiment(probe, planned_s)], LIMITED)
    assert (actual.slice_s, actual.sample_s) == (slice_s, sample_s)


@pytest.mark.parametrize("cpus", [None, 64])
def test_without_a_quota_that_binds_nothing_changes(cpus: float | None) -> None:
    planned = [experiment("cpu_flops", 0.03)]
    assert len(MACHINE.topology.allowed_cpus) <= 64
    assert over_full_periods(planned, machine_with(limits={"cpus": cpus})) == planned
