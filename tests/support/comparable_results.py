"""Build results with rounds and capabilities, for tests of comparisons."""

from __future__ import annotations

from typing import Any

import msgspec

from machines import machine_with
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from report_samples import report, result, with_summary

MEMORY = {"last_level_bytes": 1e6, "touched_bytes": 1e9}
ROUNDS = [1.0, 1.003, 0.998, 1.001, 0.999, 1.002]


def measured(value: float, params: dict[str, Value] | None = None, **changes: Any) -> Result:
    made = result(params if params is not None else {"threads": 1}, value)
    return msgspec.structs.replace(made, round_values=[value * item for item in ROUNDS], **changes)


def of(*results: Result, **machine: Any) -> Report:
    made = report(list(results))
    return msgspec.structs.replace(made, machine=machine_with(made.machine, **machine))


def capable(value: float, of_typical: float = 1.0, width: float = 0.004, probe: str = "cpu_flops") -> Result:
    """Return a result with this capability, and a typical value that is a share of it."""
    return msgspec.structs.replace(
        with_summary(
            measured(value * of_typical), probe=probe, capability=value,
            capability_ci=(value * (1 - width), value * (1 + width)),
        ),
        id=probe,
    )  # fmt: skip


def value(
    probe: str, capability: float, params: dict[str, Value], metric: str = "rate", width: float = 0.004, **changes: Any
) -> Result:
    """Return a result with this capability."""
    made = with_summary(capable(capability, width=width, probe=probe), params=params, metric=metric)
    identity = " ".join([probe, *(f"{name}={text}" for name, text in params.items())])
    return msgspec.structs.replace(made, **{"id": identity, "utilisation": 0.0, **changes})


def flops(capability: float, threads: int = 1, **changes: Any) -> Result:
    params: dict[str, Value] = {"precision": "fp64", "mix": "fma", "threads": threads}
    return value("cpu_flops", capability, params, **changes)


def stream(capability: float, op: str = "triad", width: float = 0.004) -> Result:
    return value("memory_stream", capability, {"op": op, "stores": "plain"}, "bandwidth", width, facts=MEMORY)
