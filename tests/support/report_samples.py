"""Build reports from made-up values, for tests of the code that renders them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from machines import GUEST, HOST, machine_with
from nameplate.probes import load_probes, probe_of
from nameplate.records.plan_record import Experiment, Limits, Plan, Value
from nameplate.records.result import Rated, Report, Result, Series, Summary
from nameplate.records.run_record import Clock, Ending, Run
from nameplate.records.series_events import CorrelatedCondition, Event, LevelOverTime, OverTime


def series(values: Sequence[float], disturbed: Sequence[int] = ()) -> Series:
    """Return a series with one sample every 10 ms; ``disturbed`` has the indices of the disturbed samples."""
    return Series(
        [i * 0.01 for i in range(len(values))],
        list(values),
        [i in disturbed for i in range(len(values))],
        [1] * len(values),
    )


def result(  # noqa: PLR0913 (a test passes only the one or two that matter to it)
    params: dict[str, Value],
    value: float | None = 50e9,
    *,
    probe: str = "cpu_flops",
    rated: float | None = 100e9,
    outcome: Ending = "ok",
    reason: str = "",
    oversubscribed: bool = False,
    samples: Series | None = None,
) -> Result:
    """Return a result with this rate, or one without a value if ``value`` is None."""
    points = samples or (series([value * 0.99, value, value * 1.01], [1]) if value else Series([], [], [], []))
    efficiency = value / rated if value and rated else None
    summary = Summary(
        probe=probe, params=params, metric="rate", value=value, unit="FLOP/s",
        ci=(value * 0.98, value * 1.02) if value else None, rounds=6 if value else 0, samples=len(points.value),
        mean=value, best=value, sustained=value, p95=value, p99=value, rated=rated if value else None,
        efficiency=efficiency, outcome=outcome, reason=reason, stop="rounds", disturbed=0.05 if value else 0.0,
    )  # fmt: skip
    return Result(
        id=" ".join([probe, *(f"{key}={word}" for key, word in params.items())]), summary=summary, better="higher",
        rated=Rated(rated if value else None, "2 ports (measured)" if rated else "nobody knows"),
        efficiency_ci=(efficiency * 0.98, efficiency * 1.02) if efficiency else None, series=points,
        round_values=[value] * 6 if value else [],
        utilisation=min(2.0 if oversubscribed else 1e9, float(params.get("threads", 1))),
        oversubscribed=oversubscribed,
        facts=dict.fromkeys(probe_of(probe).recorded.facts, 1.0) if value else {},
    )  # fmt: skip


def failed(params: dict[str, Value], outcome: Ending, reason: str) -> Result:
    """Return a result without a value."""
    return result(params, None, outcome=outcome, reason=reason)


def report(
    results: Sequence[Result], *, truncated: bool = False, notes: Sequence[str] = (), host: str = HOST
) -> Report:
    """Return the report of a run with these results on ``GUEST``, with another host name and without a CPU quota."""
    experiments = [Experiment(r.id, r.summary.probe, r.summary.params) for r in results]
    run = Run(
        schema=1, version="0.1.0", started="2026-01-02T03:04:05+00:00",
        plan=Plan("by hand", experiments, Limits(30.0, 0.02)), seed=4711, rated={},
    )  # fmt: skip
    machine = machine_with(GUEST, hostname=host, limits={"cpus": None})
    return Report(
        run=run, machine=machine, clock=Clock("tsc", 2e9, 2e-8, 2e-8), results=list(results),
        tables=[], truncated=truncated, interrupted=False, notes=list(notes),
    )  # fmt: skip


def scaling_results() -> list[Result]:
    """Return the rates of 1, 2 and 4 threads in two mixes; 4 threads are more than the CPUs."""
    return [
        result({"mix": mix, "threads": n}, rate * min(n, 2), rated=rated * min(n, 2), oversubscribed=n > 2)
        for mix, rate, rated in (("fma", 48e9, 50e9), ("mixed", 9e9, 10e9))
        for n in (1, 2, 4)
    ]


KIB = 2**10


def swept(  # noqa: PLR0913 (a test passes only what matters to it)
    probe: str,
    params: dict[str, Value],
    value: float,
    metric: str,
    unit: str,
    *,
    rated: float | None = None,
    oversubscribed: bool = False,
    facts: dict[str, float] | None = None,
    remarks: Sequence[str] = (),
) -> Result:
    """Return a result of a probe other than ``cpu_flops``; with the unit ``s``, a lower value is better."""
    made = result(params, value, probe=probe, rated=rated, oversubscribed=oversubscribed)
    named = with_summary(made, metric=metric, unit=unit)
    better: Literal["lower", "higher"] = "lower" if unit == "s" else "higher"
    return msgspec.structs.replace(named, better=better, facts={**made.facts, **(facts or {})}, remarks=list(remarks))


def latency_at(size: int, **rest: Value) -> Result:
    """Return the latency at a size, with an L1d of 32 KiB (1 ns), an L2 of 1 MiB (5 ns) and memory (100 ns)."""
    value = 1e-9 if size <= 32 * KIB else 5e-9 if size <= 1024 * KIB else 100e-9
    params: dict[str, Value] = {"size": size, "stride": 64, "pages": "huge", "chains": 1, "load": 0, **rest}
    facts = {"touched_bytes": float(size), "last_level_bytes": 1024.0 * KIB}
    return swept("memory_latency", params, value, "latency", "s", facts=facts)


def read_at(size: int, threads: int = 1, **rest: Value) -> Result:
    """Return the read bandwidth at a size on the machine of ``latency_at``.

    It is 200 GB/s from the L1d, 100 GB/s from the L2 and 10 GB/s from memory for each of at most two threads.
    """
    value = 200e9 if size <= 32 * KIB else 100e9 if size <= 1024 * KIB else 10e9 * min(threads, 2)
    params: dict[str, Value] = {"op": "read", "threads": threads, "size": size, "pages": "huge", "stores": "plain"}
    facts = {"touched_bytes": float(size), "last_level_bytes": 1024.0 * KIB, "pass_bytes": float(size)}
    remarks = [] if size >= 4096 * KIB else ["may fit the caches"]
    return swept("memory_stream", {**params, **rest}, value, "bandwidth", "B/s", oversubscribed=threads > 2,
                 facts=facts, remarks=remarks)  # fmt: skip


def sizes(count: int) -> list[int]:
    """Return ``count`` sizes from 4 KiB upwards, two per octave."""
    return [round(4 * KIB * 2 ** (step / 2)) for step in range(count)]


def block_results(patterns: Sequence[str] = ("sequential", "random")) -> list[Result]:
    """Return bandwidth and latency of four block sizes by four numbers of threads; 4 and 8 are oversubscribed."""
    fixed: dict[str, Value] = {"op": "copy", "generator": "pcg"}
    return [
        swept("memory_block", {**fixed, "pattern": pattern, "block": block, "threads": n}, value, metric, unit,
              oversubscribed=n > 2, facts={"offset_s": 1e-9})
        for pattern in patterns
        for block, rate in ((8, 3e8), (8192, 5e9), (2**20, 8e9), (80 * 10**6, 8.5e9))
        for n in (1, 2, 4, 8)
        for metric, unit, value in (("bandwidth", "B/s", rate * min(n, 2)), ("latency", "s", block / rate))
    ]  # fmt: skip


def memory_report() -> Report:
    """Return a report with curves, a grid, peaks and bandwidths, and the results that the probes derive from them."""
    latencies = [latency_at(size) for size in sizes(31)]
    reads = [read_at(size) for size in sizes(29)] + [read_at(64 * 1024 * KIB, threads=n) for n in (2, 4)]
    flops = [result({"mix": "fma", "precision": "fp64", "threads": n}, 50e9 * n, rated=60e9 * n) for n in (1, 2)]
    by_probe = {
        "cpu_flops": flops,
        "memory_latency": latencies,
        "memory_stream": reads,
        "memory_block": block_results(),
    }
    probes = [load_probes()[name] for name in by_probe]
    derived = [result for probe in probes for result in probe.derive(by_probe, GUEST)]
    tables = [table for probe in probes if probe.tables for table in probe.tables(by_probe, GUEST)]
    measured = [result for results in by_probe.values() for result in results]
    return msgspec.structs.replace(report([*measured, *derived]), tables=tables)


def with_summary(original: Result, **changes: Any) -> Result:
    """Return a copy of the result with these fields of its summary changed."""
    return msgspec.structs.replace(original, summary=msgspec.structs.replace(original.summary, **changes))


DIPS = Event(
    kind="dips", start_s=2.0, end_s=13.0, change=-0.12, period_s=5.0, width_s=1.0, at_s=[2.0, 7.0, 12.0],
    moved=[CorrelatedCondition("steal", 0.38, 0.0)], still=["clock"],
)  # fmt: skip
FALL = Event(
    kind="level", start_s=10.0, end_s=20.0, change=-0.2, period_s=None, width_s=10.0, at_s=[10.0], moved=[], still=[]
)


def twenty_seconds() -> Result:
    """Return the result of a series over 20 s that falls in the middle and dips three times."""
    values = [50e9 if i < 10 else 40e9 for i in range(20)]
    points = Series([0.05 + i for i in range(20)], values, [False] * 20, [1] * 20)
    seen = OverTime(
        interval_s=1.0, burst=50e9, burst_s=10.0, sustained=45e9, p1=40e9, overhead_share=3e-4,
        levels=[LevelOverTime(0.0, 10.0, 50e9), LevelOverTime(10.0, 20.0, 40e9)], events=[FALL, DIPS],
    )  # fmt: skip
    return with_summary(result({"threads": 1}, samples=points), over_time=seen)


def of_disk(value: float, metric: str = "bandwidth", unit: str = "B/s", **params: Value) -> Result:
    """Return a result of disk_block with complete parameters: by default, of sequential reads of 4 KiB by pread."""
    complete: dict[str, Value] = {
        "op": "read", "pattern": "sequential", "pass": "again", "block": 4096, "threads": 1, "library": "pread",
        "depth": 1, "cache": "warm", "sync": "none", "size": 1 << 20, **params,
    }  # fmt: skip
    made = with_summary(result(complete, value, probe="disk_block", rated=None), metric=metric, unit=unit)
    identity = " ".join(["disk_block", *(f"{name}={value}" for name, value in complete.items())])
    return msgspec.structs.replace(made, id=identity, is_detail="latency_" in metric)
