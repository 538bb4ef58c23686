"""Compute a metric from the matrix of pairs in each sample, and return the pairs of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nameplate.probes import Metric, ResolvedExperiment, probe_of
from nameplate.probes.interface.pair_matrix import PairMatrix, PairValues
from nameplate.records.machine_record import Machine
from nameplate.records.result import Result
from nameplate.records.run_record import Sample
from nameplate.statistics.stats import median


@dataclass(frozen=True)
class MedianPair(Metric):
    """A metric whose value is that of the median pair of two different parties, for samples with a matrix of pairs.

    ``matrix`` declares the values of the pairs. ``from_value`` converts a value of the matrix to the metric in
    ``unit``, given the experiment; by default the value is returned unchanged.
    """

    matrix: PairMatrix
    from_value: Callable[[ResolvedExperiment, float], float] = lambda _, value: value

    def value(self, experiment: ResolvedExperiment, sample: Sample) -> float:
        """Return the value of the sample's median pair, in ``unit``. Raises ValueError if the sample has no pairs."""
        return self.sustained(experiment, [sample])

    def sustained(self, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float:
        """Return the value of the median pair in ``unit``, computed from each pair's median over all samples.

        Raises ValueError if no sample has pairs, or if the samples have different numbers of pairs.
        """
        return self.from_value(experiment, median(self._medians(samples)))

    def has_value(self, _: ResolvedExperiment, sample: Sample) -> bool:
        """Return whether at least one pair of two different parties has a value in the sample."""
        return bool(self._medians([sample]))

    def round_value(self, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float | None:
        """Return the median of the samples' values in one round, in ``unit``; samples without pairs are ignored.

        The result is None if no sample has pairs, or if the samples have different numbers of pairs.
        """
        return super().round_value(experiment, samples) if self._medians(samples) else None

    def _medians(self, samples: Sequence[Sample]) -> list[float]:
        return self.matrix.between_two(self.matrix.sample_medians(samples))


def measured_pairs(results: Iterable[Result], machine: Machine | None) -> list[tuple[Result, PairValues]]:
    """Return each result that has pairs of two different parties, together with its pair values.

    A result is left out if its probe declares no matrix, or if no pair of two different parties has a value.
    ``machine`` gives the names of nodes and ranks; without it, indices serve as names.
    """
    return [
        (result, matrix.measured(result, machine))
        for result in results
        if (matrix := probe_of(result.summary.probe).pair_matrix)
        and matrix.n_parties(len(result.pairs))
        and matrix.between_two(result.pairs)
    ]
