"""This probe measures the peak floating-point rate, and the operations per cycle and core that it corresponds to."""

from __future__ import annotations

from nameplate.probes import ParameterSweep, Probe, Ratio, ResolvedExperiment, elapsed
from nameplate.probes.shared.arithmetic import LOOP, peak_by_ports
from nameplate.probes.shared.screen_line import ScreenLine
from nameplate.records.run_record import Sample


def _flops(_: ResolvedExperiment, sample: Sample) -> float:
    return float(sample.work.flops)


def _core_cycles(experiment: ResolvedExperiment, sample: Sample) -> float:
    return sample.elapsed_s * experiment.cores * experiment.facts["burst_cycles"] / sample.counters["burst_s"]


PROBE = Probe(
    name="cpu_flops",
    title="Floating-point rate",
    metrics=(
        Ratio("rate", "FLOP/s", "higher", _flops, elapsed),
        # A sample whose cycles were counted by a disturbed burst seems to have few of them.
        Ratio("flops_per_cycle", "FLOP/cycle", "higher", _flops, _core_cycles, is_one_sided=False),
    ),
    recorded=LOOP,
    rated=peak_by_ports,
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
        ParameterSweep({"isa": "scalar,sse2", "mix": "add,mul,add+mul", "threads": "1"}, slice_s=0.2),
        ParameterSweep({"isa": "avx2,avx512", "mix": "fma,fma+add,add+mul,div,mixed", "threads": "1"}, slice_s=0.2),
        ParameterSweep({"threads": "1,2,4,8", "scaling": "weak,strong"}, slice_s=0.3),
        ParameterSweep({"isa": "amx", "precision": "bf16"}, slice_s=0.2),
    ),
)
