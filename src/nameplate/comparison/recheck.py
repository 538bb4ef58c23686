"""Measure slow nodes again on their own, to tell the node from what it shares with others, and from a past cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from nameplate.errors import UsageError
from nameplate.probes import probe_of
from nameplate.probes.shared.memory_kind import kind_of
from nameplate.records.plan_record import Experiment, Limits, Plan
from nameplate.records.result import NodeMetric, Nodes
from nameplate.records.run_record import Run
from nameplate.statistics.constants import MIN_CHANGE
from nameplate.statistics.stats import median

Label = Literal["persistent", "contended", "transient", "not measured"]

# Healthy nodes of a suspect's class, nearest to its median, are measured at the same time, since a machine drifts as a
# whole.
REFERENCES = 3
ROUNDS = 6
# A suspect is as slow as before if it is still half as far behind, and far enough to be called slow.
STILL_BEHIND = 0.5


@dataclass(frozen=True)
class Suspects:
    """The second measurement of nodes that were slow.

    ``plan`` has its experiments, which run on single nodes. ``nodes`` are the names of the slow nodes and of the
    healthy ones to measure next to them. ``references`` has the names of these healthy nodes, nearest to the median of
    their class first, at most ``REFERENCES`` and perhaps none. Its keys are (``NodeMetric.title``, name of the slow
    node), one for every slow node in every metric that is measured again.
    """

    plan: Plan
    nodes: list[str]
    references: Mapping[tuple[str, str], list[str]]


@dataclass(frozen=True)
class RecheckFinding:
    """The conclusion about one slow node in one metric, whose ``title`` is the experiment and the metric.

    ``before`` is the share by which the node was behind the median of its hardware class in the first run. ``alone`` is
    the share by which it is behind the median of its reference nodes in the second run, negative if it is better. It is
    None if the second run has no value of the node, or none of any of its reference nodes. The ``label`` follows from
    them:

    - "persistent": it is still at least half as far behind, and at least 3 % behind
    - "transient": it is not, and the first run also measured the node alone
    - "contended": it is not, and the first run measured other nodes at the same time
    - "not measured": ``alone`` is None
    """

    node: str
    title: str
    before: float
    alone: float | None
    label: Label


def suspects_of(nodes: Nodes, plan: Plan) -> Suspects:
    """Return what to measure again, from the nodes of a run and the plan of that run. Nothing is measured yet.

    It has the experiments in which a node was slow, in ``ROUNDS`` rounds, with the budget and precision of ``plan``. A
    probe that takes the whole job is left out, except mpi_stream, whose loop a single node runs as memory_stream if it
    uses no special kind of memory. The healthy nodes are those of the same hardware class that are nearest to its
    median and slow in no metric.

    Raises:
        UsageError: no node was slow, or no metric in which one was can be measured on a single node.
    """
    named = {metric.experiment for metric in nodes.metrics if metric.slow}
    chosen = [_alone(each) for each in plan.experiments if each.id in named]
    experiments = [experiment for experiment in chosen if experiment is not None]
    if not experiments:
        raise UsageError(
            f"the metrics of the slow nodes ({', '.join(sorted(named))}) cannot be measured on a single node"
        )
    again = {experiment.id for experiment in experiments}
    references = {
        (metric.title, nodes.names[place]): _references(nodes, metric, place)
        for metric in nodes.metrics
        if metric.experiment in again
        for place in metric.slow
    }
    suspects = [name for _, name in references]
    wanted = list(dict.fromkeys([*suspects, *(name for own in references.values() for name in own)]))
    limits = Limits(budget_s=plan.limits.budget_s, precision=plan.limits.precision, rounds=ROUNDS)
    return Suspects(Plan(f"recheck of {plan.name}", experiments, limits), wanted, references)


def _alone(experiment: Experiment) -> Experiment | None:
    """Return the experiment that a single node can run instead: for mpi_stream, the same function in memory_stream."""
    if not probe_of(experiment.probe).takes_whole_job:
        return msgspec.structs.replace(experiment, dense=False)
    if experiment.probe != "mpi_stream" or kind_of(experiment.params):
        return None
    kept = {name: experiment.params[name] for name in ("op", "stores") if name in experiment.params}
    return msgspec.structs.replace(experiment, probe="memory_stream", params=kept)


def _references(nodes: Nodes, metric: NodeMetric, suspect: int) -> list[str]:
    slow = {place for each in nodes.metrics for place in each.slow}
    alike = [
        (abs(gap), place)
        for place, gap in enumerate(metric.gap)
        if gap is not None and place not in slow and nodes.classes[place] == nodes.classes[suspect]
    ]
    return [nodes.names[place] for _, place in sorted(alike)[:REFERENCES]]


def findings(nodes: Nodes, suspects: Suspects, again: Nodes | None, first: Run) -> list[RecheckFinding]:
    """Return a finding for every metric in which a node was slow, in the order of the metrics and then of the nodes.

    ``nodes`` and ``first`` are of the first run, from whose nodes and plan ``suspects_of`` made ``suspects``. ``again``
    are the nodes of the second run, or None if it measured none; then every label is "not measured".
    """
    whole_job = {each.id for each in first.plan.experiments if probe_of(each.probe).takes_whole_job}
    found = []
    for metric in nodes.metrics:
        was_alone = first.per_node == "in-turn" and metric.experiment not in whole_job
        for place in metric.slow:
            name, before = nodes.names[place], metric.gap[place] or 0.0
            alone = _gap(again, metric, name, suspects.references.get((metric.title, name), []))
            found.append(RecheckFinding(name, metric.title, before, alone, _label(before, alone, was_alone)))
    return found


def _second(again: Nodes, metric: NodeMetric) -> NodeMetric | None:
    """Return the metric of the second run; if another probe replaced the first one, its first metric."""
    own = [each for each in again.metrics if each.experiment == metric.experiment]
    return next((each for each in own if each.metric == metric.metric), own[0] if own else None)


def _gap(again: Nodes | None, first: NodeMetric, name: str, references: Sequence[str]) -> float | None:
    metric = _second(again, first) if again else None
    if again is None or metric is None:
        return None
    values = dict(zip(again.names, metric.value, strict=True))
    beside = [value for reference in references if (value := values.get(reference))]
    own = values.get(name)
    if own is None or not beside:
        return None
    ratio = own / median(beside)
    return 1 - (ratio if metric.better == "higher" else 1 / ratio)


def _label(before: float, alone: float | None, was_alone: bool) -> Label:
    if alone is None:
        return "not measured"
    if alone >= max(MIN_CHANGE, STILL_BEHIND * before):
        return "persistent"
    return "transient" if was_alone else "contended"
