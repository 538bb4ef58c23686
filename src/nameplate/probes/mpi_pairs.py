"""This probe exchanges messages between all pairs of nodes or ranks of an MPI job, to find slow nodes and slow
links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nameplate.probes import ByProbe, Metric, ParameterSweep, Probe, ResolvedExperiment
from nameplate.probes.shared.job import placement_remark
from nameplate.probes.shared.pair_matrix import is_bulk, pair_times, party_medians
from nameplate.probes.shared.pair_tables import pair_matrix_tables
from nameplate.probes.shared.recorded import Recorded
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment
from nameplate.records.result import Rated, Table
from nameplate.records.run_record import Sample
from nameplate.statistics.stats import median, percentile

# An upper limit for one tournament of 1,024 nodes; some tournaments precede the first sample.
LONGEST_CALIBRATION_S = 600.0


@dataclass(frozen=True)
class OfMedianPair(Metric):
    """A metric of the median pair, for an experiment that measures all pairs of a job.

    ``from_time`` returns its value in ``unit``, given the experiment and the pair's one-way time of a message in
    seconds. The other fields are those of ``Metric``.
    """

    from_time: Callable[[ResolvedExperiment, float], float]

    def value(self, experiment: ResolvedExperiment, sample: Sample) -> float:
        """Return the value of one sample: that of its median pair. Raises ValueError if it has no times of pairs."""
        return self.sustained(experiment, [sample])

    def sustained(self, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float:
        """Return the value of the median pair, given each pair's median over all samples.

        Raises ValueError if no sample has times of pairs, or their numbers differ.
        """
        return self.from_time(experiment, median(pair_times(samples)))

    def has_value(self, _: ResolvedExperiment, sample: Sample) -> bool:
        """Return whether the sample has the times of pairs."""
        return bool(pair_times([sample]))

    def round_value(self, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float | None:
        """Return the median of the samples' values in one round; None if they have no times, or those of other pairs.

        Samples without times of pairs are ignored.
        """
        return super().round_value(experiment, samples) if pair_times(samples) else None


def _seconds(_: ResolvedExperiment, seconds: float) -> float:
    return seconds


def _bytes_per_second(experiment: ResolvedExperiment, seconds: float) -> float:
    return int(experiment.params["size"]) / seconds


def _is_bulk(experiment: ResolvedExperiment) -> bool:
    return is_bulk(experiment.params)


def _rated(metric: Metric, _: ResolvedExperiment, __: Sequence[Sample]) -> Rated:
    if metric.name == "latency":
        return Rated(None, "message times are not specified", can_be_given=False)
    return Rated(None, "MPI does not tell which link its messages use; give it with --rated mpi_pairs=1Gbit/s")


def _remarks(experiment: ResolvedExperiment, _: Sequence[Sample]) -> list[str]:
    parties = int(experiment.facts["parties"])
    return [placement_remark(parties * (parties - 1) // 2, int(experiment.facts["pairs_between_nodes"]))]


def _evidence(_: ResolvedExperiment, samples: Sequence[Sample]) -> dict[str, float]:
    """Return the 95th percentile and the maximum of the pairs' one-way times."""
    times = pair_times(samples)
    return {"pair_p95_s": percentile(times, 0.95), "pair_worst_s": max(times)}


def _tables(by_probe: ByProbe, machine: Machine) -> list[Table]:
    return [table for result in by_probe["mpi_pairs"] if result.pairs for table in pair_matrix_tables(result, machine)]


def _network_use(experiments: Sequence[Experiment], rounds: int) -> str:
    return f"at least {rounds * len(experiments)} tournaments of messages between all pairs"


def _by_node(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> dict[int, float]:
    """Return each node's median over its partners."""
    times = pair_times(samples)
    if experiment.params.get("between") != "nodes" or not times or not metric.when(experiment):
        return {}
    from_time = _bytes_per_second if metric.name == "bandwidth" else _seconds
    return {place: from_time(experiment, time) for place, time in enumerate(party_medians(times))}


PROBE = Probe(
    name="mpi_pairs",
    title="MPI messages between all pairs",
    metrics=(
        OfMedianPair("latency", "s", "lower", _seconds),
        OfMedianPair("bandwidth", "B/s", "higher", _bytes_per_second, when=_is_bulk),
    ),
    recorded=Recorded(params=("size", "between"), facts=("parties", "pairs_between_nodes")),
    rated=_rated,
    full=(
        ParameterSweep({"size": "8,1MiB"}, slice_s=0.02),
    ),
    sweep=(
        ParameterSweep({"size": "8,1MiB"}, slice_s=0.02),
    ),
    overhead_s=0.5,
    longest_setup_s=lambda _: LONGEST_CALIBRATION_S,
    remarks=_remarks,
    evidence=_evidence,
    network_use=_network_use,
    tables=_tables,
    by_node=_by_node,
)  # fmt: skip
