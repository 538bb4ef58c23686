"""Build results with rounds and capabilities, for tests of comparisons."""

from __future__ import annotations

from typing import Any

import msgspec

from machines import machine_with
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from report_samples import report, result, with_summary

ROUNDS = [1.0, 1.003, 0.998, 1.001, 0.999, 1.002]


def measured(value: float, params: dict[str, Value] | None = None, **changes: Any) -> Result:
    made = result(params if params is not None else {"threads": 1}, value)
    return msgspec.structs.replace(made, round_values=[value * each for each in ROUNDS], **changes)


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
