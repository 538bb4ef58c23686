"""This probe measures the floating-point rate by size of the working set, which shows the caches."""

from __future__ import annotations

from functools import partial

from nameplate.probes import ParameterSweep, Probe, Ratio, elapsed, floating_point_operations
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.shared.levels import derived, table
from nameplate.probes.shared.memory import ARRAYS, page_remarks
from nameplate.records.result import Rated

_NO_PEAK = Rated(
    None, "memory limits the loop as well as arithmetic; cpu_flops has the theoretical peak", can_be_given=False
)

PROBE = Probe(
    name="cpu_workset",
    title="Rate against working set",
    metrics=(Ratio("rate", "FLOP/s", "higher", floating_point_operations, elapsed),),
    is_always_computing=True,
    recorded=Recorded(params=("size",), facts=ARRAYS),
    rated=lambda _, __, ___: _NO_PEAK,
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
    derive=partial(derived, "cpu_workset"),
    tables=partial(table, "cpu_workset"),
)  # fmt: skip
