"""This probe measures the peak integer rate."""

from __future__ import annotations

from nameplate.probes import ParameterSweep, Probe, Ratio, elapsed, operations
from nameplate.probes.interface.screen_line import ScreenLine
from nameplate.probes.shared.arithmetic import LOOP_OF_RATES, peak_by_ports

PROBE = Probe(
    name="cpu_intops",
    title="Integer rate",
    metrics=(Ratio("rate", "op/s", "higher", operations, elapsed),),
    is_always_computing=True,
    recorded=LOOP_OF_RATES,
    rated=peak_by_ports,
    screen=(ScreenLine("{precision} add, {threads}", ("rate",), {"mix": "add"}),),
    quick=(ParameterSweep({"mix": "add,mixed"}, slice_s=0.03, sample_s=0.001),),
    full=(
        ParameterSweep({"precision": "int32,int64", "mix": "add,mul", "threads": "1"}, slice_s=0.03, sample_s=0.001),
        ParameterSweep({"precision": "int32,int64", "mix": "mixed", "threads": "1,2,4,8"}, slice_s=0.2),
        ParameterSweep({"mix": "dot"}, slice_s=0.03, sample_s=0.001),
    ),
)
