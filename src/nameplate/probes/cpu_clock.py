"""This probe measures the clock frequency that the cores really run at."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Metric, ParameterSweep, Probe, Ratio, ResolvedExperiment
from nameplate.probes.shared.arithmetic import BURST_CYCLES, BURST_S, LOOP
from nameplate.probes.shared.ceilings import nominal_clock
from nameplate.probes.shared.screen_line import CoreLine, ScreenLine
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample


def _rated(_: Metric, experiment: ResolvedExperiment, __: Sequence[Sample]) -> Rated:
    return nominal_clock(experiment.machine)


PROBE = Probe(
    name="cpu_clock",
    title="Clock frequency",
    metrics=(Ratio("frequency", "Hz", "higher", BURST_CYCLES, BURST_S),),
    is_always_computing=True,
    recorded=LOOP,
    rated=_rated,
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
