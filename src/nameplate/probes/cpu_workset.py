"""This probe measures the floating-point rate by size of the working set: the cache sizes, and what each level
sustains.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import (
    ByProbe,
    Metric,
    ParameterSweep,
    Probe,
    Ratio,
    ResolvedExperiment,
    elapsed,
    floating_point_operations,
)
from nameplate.probes.shared.levels import derived, table
from nameplate.probes.shared.memory import ARRAYS, page_remarks
from nameplate.probes.shared.recorded import Recorded
from nameplate.records.machine_record import Machine
from nameplate.records.result import Rated, Result, Table
from nameplate.records.run_record import Sample


def _rated(_: Metric, __: ResolvedExperiment, ___: Sequence[Sample]) -> Rated:
    return Rated(None, "memory limits the loop as well as arithmetic; cpu_flops has the theoretical peak",
                 can_be_given=False)  # fmt: skip


def _derive(by_probe: ByProbe, machine: Machine) -> list[Result]:
    return derived("cpu_workset", by_probe, machine)


def _tables(by_probe: ByProbe, machine: Machine) -> list[Table]:
    return table("cpu_workset", by_probe, machine)


PROBE = Probe(
    name="cpu_workset",
    title="Rate against working set",
    metrics=(Ratio("rate", "FLOP/s", "higher", floating_point_operations, elapsed),),
    is_always_computing=True,
    recorded=Recorded(params=("size",), facts=ARRAYS),
    rated=_rated,
    quick=(ParameterSweep({"size": "4KiB..64MiB*4"}, slice_s=0.004, sample_s=0.0005),),
    full=(
        ParameterSweep({"size": "1KiB..{beyond}*2^(1/8)"}, slice_s=0.01, sample_s=0.002, curve="size"),
        ParameterSweep({"size": "3200..9444733*1.6", "build": "vector,plain"}, slice_s=0.01, sample_s=0.002),
    ),
    # Where arithmetic limits the loop, its rate hides levels that the latency shows.
    sweep=(
        ParameterSweep({"size": "1KiB..{beyond}*2^(1/8)"}, slice_s=0.01, sample_s=0.002, curve="size"),
        ParameterSweep({"size": "4KiB..{beyond}*2^(1/8)"},
                       slice_s=0.01, sample_s=0.0005, probe="memory_latency", curve="size"),
        ParameterSweep({"size": "64KiB..1MiB*2^(1/4)", "stride": "4KiB"},
                       slice_s=0.01, sample_s=0.001, probe="memory_latency"),
        ParameterSweep({"size": "2MiB..{beyond}*2", "stride": "4KiB"},
                       slice_s=0.01, sample_s=0.001, probe="memory_latency"),
        ParameterSweep({"op": "read", "threads": "1", "size": "4KiB..{beyond}*2"}, slice_s=0.01, sample_s=0.002,
                       probe="memory_stream"),
    ),
    overhead_s=0.03,
    remarks=page_remarks,
    derive=_derive,
    tables=_tables,
)  # fmt: skip
