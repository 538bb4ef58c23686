"""Compute the value of each metric in each round of an experiment. All code that needs values uses this module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nameplate.probes import Metric, Probe, ResolvedExperiment, TypicalValue
from nameplate.records.machine_record import Machine
from nameplate.records.run_record import Outcome
from nameplate.results.measurements import Measurement


class MetricRounds(NamedTuple):
    """A metric of an experiment in the rounds in which it has a value, at least one, with its typical value.

    ``typical`` is the typical value over these rounds in the metric's unit, with its 95 % interval. ``measurements``,
    ``experiments`` and ``values`` have one entry for each of these rounds, in the order of the rounds: the measurement,
    the experiment with its resolved parameters, and the metric's value in its unit.
    """

    metric: Metric
    typical: TypicalValue
    measurements: list[Measurement]
    experiments: list[ResolvedExperiment]
    values: list[float]


def resolved_experiment(outcome: Outcome, machine: Machine) -> ResolvedExperiment:
    """Return the experiment of an outcome, with its resolved parameters, in the form that metrics take.

    ``machine`` is the machine that the outcome was measured on.
    """
    return ResolvedExperiment(outcome.params, outcome.facts, machine, outcome.labels)


def metric_rounds(probe: Probe, measurements: Sequence[Measurement], machine: Machine) -> Iterator[MetricRounds]:
    """Yield each metric that has a value for an experiment, in the order of the probe's metrics.

    ``probe`` is the probe of the experiment, ``measurements`` are its rounds as returned by ``good_rounds``, and
    ``machine`` is the machine that they were measured on. A metric that lacks a value in any round is left out. A
    metric with ``may_lack_rounds`` is left out only if it has no value in any round. A metric without a typical value
    is left out.
    """
    experiments = [resolved_experiment(measurement.outcome, machine) for measurement in measurements]
    rounds = [values_in_round(probe, measurement, machine) for measurement in measurements]
    for metric, column in _known_columns(probe, rounds):
        indices = [index for index, value in enumerate(column) if value is not None]
        values = [value for value in column if value is not None]
        with_value = [measurements[i] for i in indices]
        if typical := metric.typical_value([measurement.samples for measurement in with_value], values):
            yield MetricRounds(metric, typical, with_value, [experiments[i] for i in indices], values)


def values_in_round(probe: Probe, measurement: Measurement, machine: Machine) -> list[float | None]:
    """Return the value of each metric of a probe in one round, in the order of ``probe.metrics``.

    A value is in the metric's unit. It is None if the samples give none, or if the metric does not apply to the
    experiment (``Metric.when``). ``machine`` is the machine of the round. The ``ending`` of the outcome is not checked.
    """
    experiment = resolved_experiment(measurement.outcome, machine)
    return [
        metric.round_value(experiment, measurement.samples) if metric.when(experiment) else None
        for metric in probe.metrics
    ]


def main_values(probe: Probe, rounds: Sequence[Sequence[float | None]]) -> list[float]:
    """Return the values of an experiment's main metric in its rounds, by which a run judges its precision.

    The main metric is the first metric of ``probe`` that has a value in every round (or in any round, with
    ``may_lack_rounds``) and is not pooled. ``rounds`` has the result of ``values_in_round`` for each round so far. The
    result is empty if no metric has values.
    """
    columns = (column for metric, column in _known_columns(probe, rounds) if not metric.is_pooled)
    column = next(columns, ())
    return [value for value in column if value is not None]


def _known_columns(
    probe: Probe, rounds: Sequence[Sequence[float | None]]
) -> Iterator[tuple[Metric, Sequence[float | None]]]:
    """Yield each metric that has values, and its value in each round."""
    for metric, column in zip(probe.metrics, zip(*rounds, strict=True), strict=False):
        if all(value is not None for value in column) or (
            metric.may_lack_rounds and any(value is not None for value in column)
        ):
            yield metric, column
