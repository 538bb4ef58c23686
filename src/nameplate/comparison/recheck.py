"""Measure slow nodes again, alone, to distinguish a slow node from contention and from a cause that has passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from nameplate.errors import UsageError
from nameplate.probes import probe_of
from nameplate.probes.shared.memory_kind import kind_of
from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.records.plan_record import Experiment, Limits, Plan
from nameplate.records.run_record import Run
from nameplate.statistics.constants import MIN_CHANGE
from nameplate.statistics.stats import median

Label = Literal["persistent", "contended", "transient", "not measured"]

# Healthy nodes of a suspect's class, nearest to its median, are measured at the same time, since a machine drifts as a
# whole.
REFERENCES = 3
ROUNDS = 6
# A slow node is persistent if its loss when it runs alone is at least MIN_CHANGE, and at least this share of its loss
# in the first run.
STILL_BEHIND = 0.5


@dataclass(frozen=True)
class Suspects:
    """The plan of a second measurement of slow nodes, next to healthy nodes.

    ``plan`` has the experiments, which run on single nodes. ``nodes`` are the names of all nodes to measure, slow ones
    first. ``references`` maps (``NodeMetric.title``, name of a slow node) to the names of the healthy nodes that the
    slow node is compared with, nearest to the median of their hardware class first: at most ``REFERENCES`` (3), and
    possibly none. It has an entry for every slow node in every metric that is measured again.
    """

    plan: Plan
    nodes: list[str]
    references: Mapping[tuple[str, str], list[str]]


@dataclass(frozen=True)
class RecheckFinding:
    """The conclusion about one slow node in one metric.

    ``node`` is its name, and ``title`` the experiment and the metric. ``before`` is the share (0.05 is 5 %) by which
    the node was worse than the median of its hardware class in the first run; it is 0.5 both for half the rate and for
    twice the time. ``alone`` is the share by which the node is worse than the median of its reference nodes in the
    second run, negative if it is better; None if the second run has no value of the node or of any reference node.
    ``label`` follows from both:

    - "persistent": ``alone`` is at least half of ``before``, and at least 3 %
    - "transient": ``alone`` is less, and the first run also measured each node alone
    - "contended": ``alone`` is less, and the first run measured other nodes at the same time
    - "not measured": ``alone`` is None
    """

    node: str
    title: str
    before: float
    alone: float | None
    label: Label


def suspects_of(nodes: Nodes, plan: Plan) -> Suspects:
    """Return the plan of a second measurement of the slow nodes of a run. Nothing is measured.

    ``nodes`` are the judged nodes of the run, and ``plan`` is its plan. The new plan has the experiments in which a
    node was slow, in ``ROUNDS`` (6) rounds, with the budget and precision of ``plan``. Probes that need the whole job
    are left out, except mpi_stream without a special kind of memory, which a single node runs as memory_stream. The
    healthy nodes are the ones nearest to the median of the slow node's hardware class that are slow in no metric.

    Raises:
        UsageError: no node was slow, or no metric in which a node was slow can be measured on a single node.
    """
    named = {metric.experiment for metric in nodes.metrics if metric.slow}
    chosen = [_alone(planned) for planned in plan.experiments if planned.id in named]
    experiments = [experiment for experiment in chosen if experiment is not None]
    if not experiments:
        raise UsageError(
            "--recheck measures single nodes, but the nodes were slow only in experiments of the whole job; leave it "
            "out: " + ", ".join(sorted(named))
        )
    remeasured = {experiment.id for experiment in experiments}
    references = {
        (metric.title, nodes.names[index]): _references(nodes, metric, index)
        for metric in nodes.metrics
        if metric.experiment in remeasured
        for index in metric.slow
    }
    suspects = [name for _, name in references]
    node_names = list(dict.fromkeys([*suspects, *(name for names in references.values() for name in names)]))
    limits = Limits(budget_s=plan.limits.budget_s, precision=plan.limits.precision, rounds=ROUNDS)
    return Suspects(Plan(f"recheck of {plan.name}", experiments, limits), node_names, references)


def _alone(experiment: Experiment) -> Experiment | None:
    """Return the experiment that a single node can run instead: for mpi_stream, the same function in memory_stream."""
    if not probe_of(experiment.probe).takes_all_ranks:
        return msgspec.structs.replace(experiment, dense=False)
    if experiment.probe != "mpi_stream" or kind_of(experiment.params):
        return None
    fixed = {name: experiment.params[name] for name in ("op", "stores") if name in experiment.params}
    return msgspec.structs.replace(experiment, probe="memory_stream", params=fixed)


def _references(nodes: Nodes, metric: NodeMetric, suspect: int) -> list[str]:
    slow = {index for node_metric in nodes.metrics for index in node_metric.slow}
    alike = [
        (abs(gap), index)
        for index, gap in enumerate(metric.gap)
        if gap is not None and index not in slow and nodes.classes[index] == nodes.classes[suspect]
    ]
    return [nodes.names[index] for _, index in sorted(alike)[:REFERENCES]]


def findings(nodes: Nodes, suspects: Suspects, recheck: Nodes | None, first: Run) -> list[RecheckFinding]:
    """Return a finding for every slow node of every metric, in the order of the metrics and then of the nodes.

    ``nodes`` are the judged nodes of the first run, ``first`` is the record with its plan and options, and ``suspects``
    is the result of ``suspects_of`` for this run. ``recheck`` has the nodes of the second run; with None, every label
    is "not measured".
    """
    of_job = {experiment.id for experiment in first.plan.experiments if probe_of(experiment.probe).takes_all_ranks}
    results = []
    for metric in nodes.metrics:
        was_alone = first.per_node == "in-turn" and metric.experiment not in of_job
        for index in metric.slow:
            name, before = nodes.names[index], metric.gap[index] or 0.0
            alone = _gap(recheck, metric, name, suspects.references.get((metric.title, name), []))
            results.append(RecheckFinding(name, metric.title, before, alone, _label(before, alone, was_alone)))
    return results


def _second(recheck: Nodes, metric: NodeMetric) -> NodeMetric | None:
    """Return the metric of the second run; if another probe replaced the first one, its first metric."""
    candidates = [
        metric_of_recheck for metric_of_recheck in recheck.metrics if metric_of_recheck.experiment == metric.experiment
    ]
    return next(
        (metric_of_recheck for metric_of_recheck in candidates if metric_of_recheck.metric == metric.metric),
        candidates[0] if candidates else None,
    )


def _gap(recheck: Nodes | None, first: NodeMetric, name: str, references: Sequence[str]) -> float | None:
    metric = _second(recheck, first) if recheck else None
    if recheck is None or metric is None:
        return None
    values = dict(zip(recheck.names, metric.value, strict=True))
    beside = [value for reference in references if (value := values.get(reference))]
    node_value = values.get(name)
    if node_value is None or not beside:
        return None
    ratio = node_value / median(beside)
    return 1 - (ratio if metric.better == "higher" else 1 / ratio)


def _label(before: float, alone: float | None, was_alone: bool) -> Label:
    if alone is None:
        return "not measured"
    if alone >= max(MIN_CHANGE, STILL_BEHIND * before):
        return "persistent"
    return "transient" if was_alone else "contended"
