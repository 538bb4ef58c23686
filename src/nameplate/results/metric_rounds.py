"""Compute the value of each metric in each round of an experiment: every reader of values calls this module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nameplate.probes import Metric, Probe, ResolvedExperiment
from nameplate.records.machine_record import Machine
from nameplate.records.run_record import Outcome
from nameplate.results.measurements import Measurement


class MetricRounds(NamedTuple):
    """A metric of an experiment in the rounds in which it has a value, at least one.

    ``measurements``, ``experiments`` and ``values`` have an entry for each of these rounds, in their order. ``values``
    are in the metric's unit.
    """

    metric: Metric
    measurements: list[Measurement]
    experiments: list[ResolvedExperiment]
    values: list[float]


def resolved_experiment(outcome: Outcome, machine: Machine) -> ResolvedExperiment:
    """Return the experiment of an outcome, as metrics take it; ``machine`` is the machine that it was measured on."""
    return ResolvedExperiment(outcome.params, outcome.facts, machine, outcome.labels)


def metric_rounds(probe: Probe, measurements: Sequence[Measurement], machine: Machine) -> Iterator[MetricRounds]:
    """Yield the metrics of an experiment that have a value, in the order of the probe.

    ``measurements`` are the rounds of the experiment, as ``good_rounds`` returns them. A metric that lacks a value in
    any round is left out, unless it ``may_lack_rounds``.
    """
    experiments = [resolved_experiment(measurement.outcome, machine) for measurement in measurements]
    rounds = [values_in_round(probe, measurement, machine) for measurement in measurements]
    for metric, column in _known_columns(probe, rounds):
        indices = [index for index, value in enumerate(column) if value is not None]
        values = [value for value in column if value is not None]
        yield MetricRounds(metric, [measurements[i] for i in indices], [experiments[i] for i in indices], values)


def values_in_round(probe: Probe, measurement: Measurement, machine: Machine) -> list[float | None]:
    """Return the value of each metric of a probe in one round, in the metric's unit; None where it has none.

    An experiment has no value of a metric that it does not have (``Metric.when``). ``machine`` is the machine of the
    round. The ``ending`` of the outcome is not checked.
    """
    experiment = resolved_experiment(measurement.outcome, machine)
    return [
        metric.round_value(experiment, measurement.samples) if metric.when(experiment) else None
        for metric in probe.metrics
    ]


def main_values(probe: Probe, rounds: Sequence[Sequence[float | None]]) -> list[float]:
    """Return the values of an experiment's main metric, by which a run judges its precision; empty if it has none.

    The main metric is the first one that ``metric_rounds`` yields, so that it is the first one in the results.
    ``rounds`` are the results of ``values_in_round`` for each round so far.
    """
    _, column = next(_known_columns(probe, rounds), (None, ()))
    return [value for value in column if value is not None]


def _known_columns(
    probe: Probe, rounds: Sequence[Sequence[float | None]]
) -> Iterator[tuple[Metric, Sequence[float | None]]]:
    """Yield the metrics that have a value, with the value of each round."""
    for metric, column in zip(probe.metrics, zip(*rounds, strict=True), strict=False):
        if all(value is not None for value in column) or (
            metric.may_lack_rounds and any(value is not None for value in column)
        ):
            yield metric, column
