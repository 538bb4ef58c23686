"""This probe measures the actual clock frequency of the cores, idle or under an arithmetic load."""

from __future__ import annotations

from nameplate.probes import ParameterSweep, Probe, Ratio
from nameplate.probes.interface.screen_line import CoreLine, ScreenLine
from nameplate.probes.shared.arithmetic import BURST_CYCLES, BURST_S, LOOP
from nameplate.probes.shared.ceilings import nominal_clock

PROBE = Probe(
    name="cpu_clock",
    title="Clock frequency",
    metrics=(Ratio("frequency", "Hz", "higher", BURST_CYCLES, BURST_S),),
    is_always_computing=True,
    recorded=LOOP,
    rated=lambda _, experiment, __: nominal_clock(experiment.machine),
    screen=(
        ScreenLine(
            "clock, {under}",
            ("frequency",),
            when=lambda result: result.summary.params["under"] != "idle",
            in_core=CoreLine("frequency", {"under": "widest"}),
        ),
    ),
    quick=(ParameterSweep({"under": "idle,widest"}, slice_s=0.05),),
    full=(
        ParameterSweep({"under": "idle,scalar,sse2,avx2,avx512", "threads": "1"}, slice_s=0.2),
        ParameterSweep({"under": "widest"}, slice_s=0.2),
    ),
)
