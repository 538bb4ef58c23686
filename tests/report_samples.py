"""Reports written by hand, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from nameplate.model import (
    Clock,
    Ending,
    Experiment,
    Limits,
    Plan,
    Rated,
    Report,
    Result,
    Run,
    Series,
    Summary,
    Value,
)

HOST = "secret-host-17"

MACHINE: dict[str, Any] = {
    "cpu": {
        "architecture": "x86_64",
        "model": "Example CPU 9000",
        "base_frequency_hz": 2.0e9,
        "maximum_frequency_hz": None,
        "listed_frequency_hz": None,
    },
    "default_threads": 2,
    "distribution": "Debian GNU/Linux 12",
    "hostname": HOST,
    "hypervisor": "kvm",
    "kernel": "6.1.0",
    "limits": {"cgroup_version": 2, "cpus": 1.5, "memory_bytes": 2 * 2**30},
    "memory": {"total_bytes": 8 * 2**30, "transparent_huge_pages": "madvise"},
    "product": None,
    "topology": {
        "allowed_cores": 2,
        "cores": 2,
        "packages": 1,
        "threads": 2,
        "caches": [{"count": 2, "level": 1, "shared_by": 1, "size_bytes": 32768, "type": "data", "line_bytes": 64}],
        "numa_nodes": [{"cpus": "0-1", "index": 0}],
    },
}


def series(values: Sequence[float], disturbed: Sequence[int] = ()) -> Series:
    """One sample each 10 ms; ``disturbed`` are indices."""
    return Series([i * 0.01 for i in range(len(values))], list(values), [i in disturbed for i in range(len(values))])


def result(  # noqa: PLR0913 (each test names the one or two that it is about)
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
    """A measured rate, or what could not be measured where ``value`` is None."""
    points = samples or (series([value * 0.99, value, value * 1.01], [1]) if value else Series([], [], []))
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
        round_values=[value] * 6 if value else [], utilisation=1.0, oversubscribed=oversubscribed, facts={},
    )  # fmt: skip


def failed(params: dict[str, Value], outcome: Ending, reason: str) -> Result:
    """A result without a number."""
    return result(params, None, outcome=outcome, reason=reason)


def report(
    results: Sequence[Result], *, truncated: bool = False, notes: Sequence[str] = (), host: str = HOST
) -> Report:
    """A run with these results on ``MACHINE``, under another host's name if asked for."""
    experiments = [Experiment(r.id, r.summary.probe, r.summary.params) for r in results]
    run = Run(
        schema=1, version="0.1.0", started="2026-01-02T03:04:05+00:00",
        plan=Plan("by hand", experiments, Limits(30.0, 0.02)), seed=4711, rated={},
    )  # fmt: skip
    return Report(
        run=run, machine={**MACHINE, "hostname": host}, clock=Clock("tsc", 2e9, 2e-8, 2e-8), results=list(results),
        truncated=truncated, interrupted=False, notes=list(notes),
    )  # fmt: skip


def scaling_results() -> list[Result]:
    """One, two and four threads in two mixes; four are more than there are CPUs."""
    return [
        result({"mix": mix, "threads": n}, rate * min(n, 2), rated=rated * min(n, 2), oversubscribed=n > 2)
        for mix, rate, rated in (("fma", 48e9, 50e9), ("mixed", 9e9, 10e9))
        for n in (1, 2, 4)
    ]


def with_summary(original: Result, **changes: Any) -> Result:
    """A copy with other fields in its summary."""
    return msgspec.structs.replace(original, summary=msgspec.structs.replace(original.summary, **changes))
