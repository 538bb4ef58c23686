"""Hold the reference values and required records of cpu_flops, cpu_intops and cpu_clock, which share a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from nameplate.probes import Counter, Fact, Metric, ResolvedExperiment
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.shared.ceilings import arithmetic_peak
from nameplate.probes.shared.cpu_product import product_of
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample

_PORTS = ("burst_cycles", "operations_per_instruction", "port_block_instructions", "port_block_s", "port_burst_s")
_BITS = {"fp64": 64, "fp32": 32}
# The facts and counters in the records of the loop.
LOOP = Recorded(facts=_PORTS, counters=("burst_s",), divisors=(*_PORTS, "burst_s"))
# The same for probes with the parameters ``build`` and ``ends``, which earlier versions did not have.
LOOP_OF_RATES = replace(LOOP, later_params={"build": "optimised", "ends": "work"})


# The core cycles in one burst of the clock chain, a loop of dependent operations whose time shows the clock. Every
# experiment of a probe that records ``LOOP`` has the fact.
BURST_CYCLES = Fact("burst_cycles")
# The time of one burst under the sample's load in seconds, as the lower quartile of several bursts.
BURST_S = Counter("burst_s")


def peak_by_ports(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> Rated:
    """Return the ceiling of a rate, ports × operations × clock under this load × cores (see ``arithmetic_peak``).

    The experiment must be one of a probe that records ``LOOP``. The clock is computed from the median of ``burst_s``
    over the samples, of which there must be at least one. For a metric in FLOP/cycle the result has no value, and its
    source refers to the metric ``rate``. For a loop without optimisation it has none either.
    """
    if experiment.params.get("build") == "O0":
        return Rated(None, "without optimisation, the operands are in memory, and no unit is busy", can_be_given=False)
    if metric.unit == "FLOP/cycle":
        return Rated(None, "see the rate, which has the ceiling")
    return arithmetic_peak(experiment.facts, median(sample.counters["burst_s"] for sample in samples), experiment.cores)


def documented_peak(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> Rated | None:
    """Return the peak rate of fused multiply-adds in FLOP/s: the documented units of the CPU × the measured clock.

    A unit takes one instruction per cycle, or several cycles for an instruction that is wider than the unit. The clock
    is computed as in ``peak_by_ports``. The value is not a ceiling, since models of a product may have fewer units than
    the largest model.

    The result is None for another ``mix`` than ``fma`` or another ``precision`` than ``fp64`` and ``fp32``, for a CPU
    whose units are not known, and on Arm for an instruction that is narrower than a unit, which may be split into more
    units.
    """
    product = product_of(experiment.machine.cpu)
    bits = _BITS.get(str(experiment.params.get("precision")))
    if product is None or product.fma is None or bits is None or experiment.params.get("mix") != "fma":
        return None
    fma = product.fma
    is_narrow = experiment.facts["operations_per_instruction"] < 2 * fma.width_bits / bits
    if is_narrow and experiment.machine.cpu.architecture != "x86_64":
        return None
    per_instruction = min(experiment.facts["operations_per_instruction"], 2 * fma.width_bits / bits)
    frequency_hz = experiment.facts["burst_cycles"] / median(sample.counters["burst_s"] for sample in samples)
    units = f"{fma.units} unit{'s' if fma.units > 1 else ''}"
    source = (
        f"{units} for fused multiply-add × {per_instruction:g} operations ({fma.source}) × "
        f"{frequency_hz / 1e9:.2f} GHz (measured under this load) × "
        f"{experiment.cores} core{'s' if experiment.cores > 1 else ''}"
    )
    return Rated(fma.units * per_instruction * frequency_hz * experiment.cores, source, is_ceiling=False)
