"""Compute the value of each metric on each node of a job, and judge which nodes are slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from nameplate.probes import Metric, Probe, probe_of
from nameplate.probes.shared.job import hardware_of, nodes_of
from nameplate.records.distributed_stream import KERNELS, StreamRun
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment
from nameplate.records.result import NodeMetric, Nodes
from nameplate.results.measurements import Measurement, RunFile
from nameplate.results.metric_rounds import resolved_experiment
from nameplate.statistics.outlier_nodes import Floats, Judgement, NodeValues, judge

# Enough to tell nodes apart; it makes a file of ten thousand nodes a third smaller.
_SIGNIFICANT = 5

# Returns the value of a metric on each node, by its index, from one round.
OfRound = Callable[[Measurement], Mapping[int, float]]


def judged_nodes(file: RunFile, by_id: Mapping[str, Sequence[Measurement]]) -> Nodes | None:
    """Return the nodes of a run's MPI job with the values of each metric, and judge which nodes are slow.

    ``by_id`` has the measurements of each experiment of the plan by the experiment's id, one per round; a missing id
    raises KeyError. Details are left out, and so is a metric with a value of 0 or below, since nodes are compared by
    ratios. ``nameplate.statistics.outlier_nodes`` has the method. The result is None if the file has no header, if the
    job is missing or has fewer than two nodes, or if no metric has values by node.
    """
    machine = file.machine
    names = nodes_of(machine)
    if machine is None or len(names) < 2:
        return None
    metrics = [
        found
        for experiment in file.run.plan.experiments
        for found in _of_experiment(experiment, by_id[experiment.id], machine, len(names))
    ]
    if not metrics:
        return None
    classes = hardware_of(machine)
    return Nodes(names, classes, [node_metric(judged) for judged in judge(metrics, classes)])


def judged_stream(run: StreamRun) -> Nodes:
    """Return the nodes of a DistributedStream file with their bandwidth by kernel, and judge which nodes are slow.

    The experiments are named Copy, Scale, Add and Triad. Each has the metric "bandwidth" in B/s: the bytes that all
    processes of a node move in a repeat ÷ the node's average time. ``minimum`` and ``maximum`` are computed from its
    maximum and minimum time. The share by which average and minimum time differ serves as the spread of the node. All
    nodes count as one class of hardware, whose name is ""; with fewer than four nodes none is judged. A kernel that is
    missing in ``run.size_bytes`` or in the times of a node raises KeyError.
    """
    metrics = [_of_kernel(run, kernel) for kernel in KERNELS]
    classes = [""] * len(run.nodes)
    return Nodes([node.name for node in run.nodes], classes, [node_metric(each) for each in judge(metrics, classes)])


def _of_kernel(run: StreamRun, kernel: str) -> NodeValues:
    moved = np.array([run.size_bytes[kernel] * node.processes for node in run.nodes], float)
    average = np.array([node.times[kernel].average_s for node in run.nodes])
    best = np.array([node.times[kernel].minimum_s for node in run.nodes])
    worst = np.array([node.times[kernel].maximum_s for node in run.nodes])
    # The file does not give the number of repeats, and a single late one would dominate the maximum.
    spread = np.abs(average / best - 1)
    values = (moved / average)[np.newaxis]
    return NodeValues(kernel, "bandwidth", "B/s", "higher", values, spread, moved / worst, moved / best)


def node_metric(judged: Judgement) -> NodeMetric:
    """Return a judged metric in the form of a report, with numbers rounded to five significant digits.

    The lists are in the order of the nodes, and a value that is nan or infinite becomes None. ``minimum`` and
    ``maximum`` are empty lists if the metric has none. ``slow`` has the indices of the slow nodes, ascending.
    """
    return NodeMetric(
        experiment=judged.measured.experiment,
        metric=judged.measured.metric,
        unit=judged.measured.unit,
        better=judged.measured.better,
        value=_short(judged.value),
        gap=_short(judged.gap),
        z=_short(judged.z),
        spread=_short(judged.spread),
        slow=[int(node) for node in np.flatnonzero(judged.is_slow)],
        minimum=_short_or_none(judged.measured.minimum),
        maximum=_short_or_none(judged.measured.maximum),
    )


def _short_or_none(values: Floats | None) -> list[float | None]:
    return [] if values is None else _short(values)


def _short(values: Floats) -> list[float | None]:
    return [float(f"{value:.{_SIGNIFICANT}g}") if np.isfinite(value) else None for value in values.tolist()]


def _of_experiment(
    experiment: Experiment, measurements: Sequence[Measurement], machine: Machine, nodes: int
) -> Iterator[NodeValues]:
    probe = probe_of(experiment.probe)
    for metric in probe.metrics:
        if metric.is_detail:
            continue
        rounds = [_of_round(probe, metric, measurement, machine) for measurement in measurements]
        values = np.array([[values.get(node, np.nan) for node in range(nodes)] for values in rounds if values])
        # Nodes are compared by ratios, which mean nothing for a metric that can be 0, such as losses.
        if len(values) and not (values <= 0).any():
            extremes = _extremes(probe, metric, measurements, nodes)
            yield NodeValues(experiment.id, metric.name, metric.unit, metric.better, values, None, *extremes)


def _extremes(
    probe: Probe, metric: Metric, measurements: Sequence[Measurement], nodes: int
) -> tuple[Floats, Floats] | tuple[()]:
    """Return the lowest and highest value of a repeat on each node over all rounds; empty if the probe has none."""
    of_rounds = [probe.extremes_by_node(metric, measurement.samples) for measurement in measurements]
    if not any(of_rounds):
        return ()
    unknown = (np.nan, np.nan)
    bounds = np.array([[found.get(node, unknown) for node in range(nodes)] for found in of_rounds if found])
    return np.nanmin(bounds[:, :, 0], axis=0), np.nanmax(bounds[:, :, 1], axis=0)


def _of_round(probe: Probe, metric: Metric, measurement: Measurement, machine: Machine) -> Mapping[int, float]:
    """Return the values of nodes that were measured one by one, or of a whole job if the probe has values per node."""
    if probe.takes_whole_job:
        return probe.by_node(metric, resolved_experiment(measurement.outcome, machine), measurement.samples)
    found = {}
    for sample in measurement.samples:
        if not isinstance(sample.node, int) or sample.node not in measurement.of_nodes:
            continue
        outcome = measurement.of_nodes[sample.node]
        experiment = resolved_experiment(outcome, machine)
        if outcome.ending == "ok" and metric.when(experiment):
            value = metric.round_value(experiment, [sample])
            if value is not None:
                found[sample.node] = value
    return found
