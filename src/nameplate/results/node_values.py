"""Compute the value of each metric on each node of a job, and judge which nodes are slow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nameplate.probes import Metric, Probe, probe_of
from nameplate.probes.shared.job import hardware_of, nodes_of
from nameplate.records.distributed_stream_file import KERNELS, StreamRun
from nameplate.records.machine_record import Machine
from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.records.plan_record import Experiment
from nameplate.results.measurements import Measurement, RunFile
from nameplate.results.metric_rounds import resolved_experiment
from nameplate.statistics.outlier_nodes import Floats, Judgement, NodeValues, judge

# Enough to tell nodes apart; it makes a file of ten thousand nodes a third smaller.
_SIGNIFICANT = 5


def judged_nodes(file: RunFile, by_id: Mapping[str, Sequence[Measurement]]) -> Nodes | None:
    """Return the nodes of a run's MPI job with the values of each metric, and judge which nodes are slow.

    ``by_id`` has the measurements of each experiment of the plan, one per round, by the experiment's id; a missing id
    raises KeyError. Metrics with ``is_detail`` are left out, and so are metrics with a value of 0 or below, since nodes
    are compared by ratios. ``nameplate.statistics.outlier_nodes`` has the method. The result is None if the file has no
    header, if the machine has no job or fewer than two nodes, or if no metric has values by node.
    """
    machine = file.machine
    names = nodes_of(machine)
    if machine is None or len(names) < 2:
        return None
    metrics = [
        metric
        for experiment in file.run.plan.experiments
        for metric in _of_experiment(experiment, by_id[experiment.id], machine, len(names))
    ]
    if not metrics:
        return None
    classes = hardware_of(machine)
    return Nodes(names, classes, [node_metric(judged) for judged in judge(metrics, classes)])


def judged_stream(run: StreamRun) -> Nodes:
    """Return the nodes of a DistributedStream file with their bandwidth by kernel, and judge which nodes are slow.

    The experiments are named Copy, Scale, Add and Triad. Each has the metric "bandwidth" in B/s: the bytes that all
    processes of a node move in one repeat ÷ the node's average time. ``minimum`` and ``maximum`` are the same bytes ÷
    the node's maximum and minimum time. The difference between average and minimum time, as a share of the minimum
    time, serves as the spread of the node. All nodes are in one hardware class, named ""; with fewer than four nodes,
    none is judged. A kernel that is missing in ``run.size_bytes`` or in the times of a node raises KeyError.
    """
    metrics = [_of_kernel(run, kernel) for kernel in KERNELS]
    classes = [""] * len(run.nodes)
    return Nodes(
        [node.name for node in run.nodes], classes, [node_metric(metric) for metric in judge(metrics, classes)]
    )


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

    All lists are in the order of the nodes; a value that is nan or infinite becomes None. ``minimum`` and ``maximum``
    are empty if the metric has no values of single repeats. ``slow`` has the indices of the slow nodes, ascending.
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
    return [float(f"{value:.{_SIGNIFICANT}g}") if math.isfinite(value) else None for value in values.tolist()]


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
    """Return the lowest and highest value of a single repeat on each node over all rounds; () if the probe has none."""
    of_rounds = [probe.extremes_by_node(metric, measurement.samples) for measurement in measurements]
    if not any(of_rounds):
        return ()
    unknown = (np.nan, np.nan)
    bounds = np.array([[values.get(node, unknown) for node in range(nodes)] for values in of_rounds if values])
    return np.nanmin(bounds[:, :, 0], axis=0), np.nanmax(bounds[:, :, 1], axis=0)


def _of_round(probe: Probe, metric: Metric, measurement: Measurement, machine: Machine) -> Mapping[int, float]:
    """Return the value of a metric in one round by the index of the node; {} if the round has no values by node.

    If each node of a job ran the experiment independently, the values are computed from the sample of each node. For a
    probe that uses all ranks of a job, the probe computes the values.
    """
    if probe.takes_all_ranks:
        return probe.by_node(metric, resolved_experiment(measurement.outcome, machine), measurement.samples)
    values = {}
    for sample in measurement.samples:
        if not isinstance(sample.node, int) or sample.node not in measurement.of_nodes:
            continue
        outcome = measurement.of_nodes[sample.node]
        experiment = resolved_experiment(outcome, machine)
        if outcome.ending == "ok" and metric.when(experiment):
            value = metric.round_value(experiment, [sample])
            if value is not None:
                values[sample.node] = value
    return values
