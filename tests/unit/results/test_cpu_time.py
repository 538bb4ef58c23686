"""The share of the CPU time that a run could use and got."""

from __future__ import annotations

import msgspec
import pytest

from machines import machine_with
from nameplate.records.result import Report, Result
from nameplate.results.cpu_time import share_of_cpu_time, share_of_experiment
from report_samples import report, result


def busy(cores: float, threads: int = 1, probe: str = "cpu_flops", *, oversubscribed: bool = False) -> Result:
    made = result({"threads": threads}, probe=probe, oversubscribed=oversubscribed)
    return msgspec.structs.replace(made, id=f"{made.id} {cores}", utilisation=cores)


def run_of(*results: Result, quota_cpus: float | None = None) -> Report:
    made = report(list(results))
    return msgspec.structs.replace(made, machine=machine_with(made.machine, limits={"cpus": quota_cpus}))


def test_experiments_with_fewer_threads_than_others_do_not_count() -> None:
    measured = run_of(busy(1.0), busy(1.2, 2), busy(1.3, 2), busy(1.4, 2))
    assert share_of_cpu_time(measured) == pytest.approx(0.65)


def test_an_experiment_with_several_metrics_counts_once() -> None:
    twice = busy(0.5)
    assert share_of_cpu_time(run_of(twice, twice, busy(0.7), busy(0.9))) == pytest.approx(0.7)


def test_the_memory_counts_only_without_the_cpu() -> None:
    stream = busy(0.6, probe="memory_stream")
    assert share_of_cpu_time(run_of(stream)) == pytest.approx(0.6)
    assert share_of_cpu_time(run_of(stream, busy(0.9))) == pytest.approx(0.9)


def test_nothing_is_known_of_a_disk_under_a_quota_and_of_threads_that_share_cpus() -> None:
    assert share_of_cpu_time(run_of(busy(0.1, probe="disk_block"))) is None
    assert share_of_cpu_time(run_of(busy(0.5), quota_cpus=0.5)) is None
    assert share_of_experiment(busy(2.0, 8, oversubscribed=True)) is None
    assert share_of_experiment(busy(0.0)) is None
