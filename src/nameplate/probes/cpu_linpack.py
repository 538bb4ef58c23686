"""This probe measures the rate at which a system of linear equations is solved.

The reference value is the arithmetic peak of the cores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from nameplate.probes import (
    ByProbe,
    Counter,
    Metric,
    ParameterSweep,
    Probe,
    Ratio,
    ResolvedExperiment,
    elapsed,
    floating_point_operations,
    repetitions,
)
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import ScreenLine
from nameplate.probes.shared.arithmetic import LOOP
from nameplate.probes.shared.ceilings import arithmetic_peak
from nameplate.probes.shared.grid import grouped
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Rated, Result, Table
from nameplate.records.run_record import Sample
from nameplate.units import size_text

# The rate of a core without vector units, with a library without blocking. A slower solution is assumed to hang.
SLOWEST_FLOP_PER_S = 2e8
DEFAULT_UNKNOWNS = 2000
# The rate of one core of a server from 2023, including the generation of the system; runs correct the estimate.
ASSUMED_FLOP_PER_S = 35e9
ASSUMED_THREADS = 2
# For each vector extension, widest first, the flag of /proc/cpuinfo, its name, and the cores that have it in OpenBLAS.
# OpenBLAS treats a CPU that it does not know as an old one (0.3.21 treats Emerald Rapids as Prescott).
_WIDE_CORES = (
    ("avx512vl", "AVX-512", ("SkylakeX", "Cooperlake", "Sapphirerapids")),
    ("avx2", "AVX2", ("Haswell", "Zen", "Excavator")),
)


def _has_all_residuals(experiment: ResolvedExperiment) -> bool:
    """Return whether samples have the residuals besides HPL's, which earlier versions did not record."""
    return "residuals" in experiment.facts


def _rated(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> Rated:
    if metric.name.endswith("residual"):
        return Rated(None, "a residual is not specified; it is correct if it is below 16", can_be_given=False)
    burst_s = median(sample.counters["burst_s"] for sample in samples)
    return arithmetic_peak(experiment.facts, burst_s, experiment.cores, "directly after this load")


def _remarks(experiment: ResolvedExperiment, _: Sequence[Sample]) -> list[str]:
    """Return the LAPACK library, such as ``OpenBLAS 0.3.21 for Cooperlake (pthreads)``, and advice on its kernels.

    Parts of the name that the library does not reveal are left out. The advice follows if the kernels do not use the
    widest vectors of the CPU.
    """
    core = f" for {experiment.labels['blas_core']}" if "blas_core" in experiment.labels else ""
    threading = f" ({experiment.labels['blas_threading']})" if "blas_threading" in experiment.labels else ""
    return [experiment.labels["blas"] + core + threading, *_advice(experiment)]


def _advice(experiment: ResolvedExperiment) -> list[str]:
    """Return a list with advice on kernels of OpenBLAS if the chosen ones lack the widest vectors of an x86 CPU."""
    chosen = experiment.labels.get("blas_core")
    if chosen is None:
        return []
    for flag, vectors, cores in _WIDE_CORES:
        if chosen in cores:
            return []
        if flag in experiment.machine.cpu.flags:
            return [f"its kernels do not use {vectors}, which this CPU has: try OPENBLAS_CORETYPE={cores[0]}"]
    return []


def _setup_flops(params: Mapping[str, Value]) -> float:
    """Return the operations of the warm-up and the minimum number of solutions, which are not shortened for a slice."""
    n = float(params.get("n", DEFAULT_UNKNOWNS))
    return (1 + float(params.get("trials", 1))) * (2 / 3 * n + 3 / 2) * n**2


def _tables(by_probe: ByProbe, _: Machine) -> list[Table]:
    """Return tables in the layout of LINPACK, one for each number of threads."""
    measured = [result for result in by_probe["cpu_linpack"] if result.summary.value is not None]
    residuals = {result.id: result for result in measured if result.summary.metric == "residual"}
    rates = [result for result in measured if result.summary.metric == "rate"]
    headings = ["Size", "LDA", "Alignment", "Trials", "Average", "Maximum", "Residual"]
    notes = ["Average and maximum rate, and largest scaled residual, of all solutions in all rounds."]
    return [
        Table(
            "cpu_linpack", f"LINPACK's table: threads={group[0].summary.params['threads']}", headings,
            [_row(result, residuals[result.id]) for result in group], notes,
        )
        for group in grouped(rates, lambda result: str(result.summary.params["threads"])).values()
    ]  # fmt: skip


def _row(rate: Result, residual: Result) -> list[str | Quantity | None]:
    params, rates = rate.summary.params, rate.series.value
    return [
        str(params["n"]), str(params["lda"]), size_text(int(params["align"])), str(len(rates)),
        Quantity(fmean(rates), "FLOP/s"), Quantity(max(rates), "FLOP/s"), Quantity(max(residual.series.value), ""),
    ]  # fmt: skip


_SIZES = (ParameterSweep({"n": "1000,2000,5000,10000"}, slice_s=0.3),)

PROBE = Probe(
    name="cpu_linpack",
    title="LINPACK",
    metrics=(
        Ratio("rate", "FLOP/s", "higher", floating_point_operations, elapsed),
        Ratio("residual", "", "lower", Counter("residual"), repetitions, is_detail=True, is_one_sided=False),
        Ratio(
            "unscaled_residual",
            "",
            "lower",
            Counter("unscaled_residual"),
            repetitions,
            when=_has_all_residuals,
            is_detail=True,
            is_one_sided=False,
        ),
        Ratio(
            "intel_residual",
            "",
            "lower",
            Counter("intel_residual"),
            repetitions,
            when=_has_all_residuals,
            is_detail=True,
            is_one_sided=False,
        ),
    ),
    recorded=Recorded(
        params=("n", "lda", "align", "threads"),
        numbers={"n": 1, "align": 1, "trials": 1},
        facts=LOOP.facts,
        labels=("blas",),
        counters=("residual", "burst_s"),
        divisors=LOOP.divisors,
    ),
    rated=_rated,
    screen=(ScreenLine("LINPACK, n={n}", ("rate",)),),
    full=_SIZES,
    sweep=_SIZES,
    setup_s=lambda params: _setup_flops(params) / (ASSUMED_FLOP_PER_S * float(params.get("threads", ASSUMED_THREADS))),
    remarks=_remarks,
    longest_setup_s=lambda params: _setup_flops(params) / SLOWEST_FLOP_PER_S,
    tables=_tables,
)
