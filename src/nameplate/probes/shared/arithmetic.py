"""Code that cpu_flops, cpu_intops and cpu_clock use: they share a loop in the core."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from nameplate.probes import Metric, ResolvedExperiment
from nameplate.probes.shared.ceilings import arithmetic_peak
from nameplate.probes.shared.recorded import Recorded
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample

_PORTS = ("burst_cycles", "operations_per_instruction", "port_block_instructions", "port_block_s", "port_burst_s")
# What the loop's records contain.
LOOP = Recorded(facts=_PORTS, counters=("burst_s",), divisors=(*_PORTS, "burst_s"))


def burst_cycles(experiment: ResolvedExperiment, _: Sample) -> float:
    """Return the core cycles in one burst of the clock chain, the experiment's fact ``burst_cycles``.

    The chain is a loop of dependent operations whose time shows the clock. Every experiment of a probe that records
    ``LOOP`` has the fact. The sample is not used.
    """
    return experiment.facts["burst_cycles"]


def burst_s(_: ResolvedExperiment, sample: Sample) -> float:
    """Return the seconds of one burst of the clock chain under the sample's load, its counter ``burst_s``.

    It is the lower quartile of several bursts. Every sample of a probe that records ``LOOP`` has the counter.
    """
    return sample.counters["burst_s"]


def peak_by_ports(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> Rated:
    """Return the ceiling of a rate, ports × operations × clock under this load × cores (see ``arithmetic_peak``).

    The clock is that of the median of ``burst_s`` over the samples, of which there must be at least one. The experiment
    must be one of a probe that records ``LOOP``. A metric in FLOP/cycle has no ceiling of its own: the result then has
    no value, and its source refers to the rate.
    """
    if metric.unit == "FLOP/cycle":
        return Rated(None, "see the rate, which has the ceiling")
    return arithmetic_peak(experiment.facts, median(sample.counters["burst_s"] for sample in samples), experiment.cores)
