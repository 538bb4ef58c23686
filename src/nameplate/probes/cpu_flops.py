"""This probe measures the peak floating-point rate, and the floating-point operations per cycle and core."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import (
    Metric,
    ParameterSweep,
    Probe,
    Ratio,
    ResolvedExperiment,
    elapsed,
    floating_point_operations,
)
from nameplate.probes.interface.screen_line import ScreenLine
from nameplate.probes.shared.arithmetic import LOOP_OF_RATES, documented_peak, peak_by_ports
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample


def _core_cycles(experiment: ResolvedExperiment, sample: Sample) -> float:
    return sample.elapsed_s * experiment.cores * experiment.facts["burst_cycles"] / sample.counters["burst_s"]


def _peak(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> Rated:
    """Return the peak by the counted ports, or by the published units if the ports could not be counted."""
    counted = peak_by_ports(metric, experiment, samples)
    if counted.value is not None or metric.unit != "FLOP/s" or not counted.can_be_given:
        return counted
    return documented_peak(experiment, samples) or counted


PROBE = Probe(
    name="cpu_flops",
    title="Floating-point rate",
    metrics=(
        Ratio("rate", "FLOP/s", "higher", floating_point_operations, elapsed),
        # If the burst that counts a sample's cycles is disturbed, the sample seems to have too few cycles.
        Ratio("flops_per_cycle", "FLOP/cycle", "higher", floating_point_operations, _core_cycles, is_one_sided=False),
    ),
    is_always_computing=True,
    recorded=LOOP_OF_RATES,
    rated=_peak,
    screen=(
        ScreenLine("fp64, {threads}", ("rate",), {"precision": "fp64", "mix": "fma"}),
        ScreenLine("fp64, {threads}", ("rate",), {"precision": "fp64", "mix": "fma", "threads": 1}),
    ),
    quick=(
        ParameterSweep({}, slice_s=0.03, sample_s=0.001),
        ParameterSweep({"threads": "1"}, slice_s=0.03, sample_s=0.001),
        ParameterSweep({"precision": "fp32"}, slice_s=0.03, sample_s=0.001),
        ParameterSweep({"mix": "mixed"}, slice_s=0.03, sample_s=0.001),
    ),
    full=(
        ParameterSweep({"isa": "scalar,sse2", "mix": "add,mul,add+mul", "threads": "1"}, slice_s=0.03, sample_s=0.001),
        ParameterSweep(
            {"isa": "avx2,avx512", "mix": "fma,fma+add,add+mul,div,mixed", "threads": "1"}, slice_s=0.03, sample_s=0.001
        ),
        ParameterSweep({"threads": "1,2,4,8", "scaling": "weak,strong"}, slice_s=0.3),
        ParameterSweep({"isa": "amx", "precision": "bf16"}, slice_s=0.2),
    ),
)
