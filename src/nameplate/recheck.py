"""Slow nodes measured again by themselves: is it the node, or what it shared with others, or was it that moment?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from nameplate.errors import UsageError
from nameplate.model import Experiment, Limits, NodeMetric, Nodes, PerNode, Plan
from nameplate.probes import probe_of
from nameplate.stats import median

Label = Literal["persistent", "contended", "transient"]

# Healthy nodes of a suspect's class, the nearest to its median, are measured beside it: a machine drifts as a whole.
REFERENCES = 3
ROUNDS = 6
# A suspect is as slow as before where it is still half as far behind, and by no less than a slow node is.
STILL_BEHIND = 0.5
SMALLEST_GAP = 0.03


@dataclass(frozen=True)
class Suspects:
    """What is measured again: the plan, the nodes by name, and who of them is compared with whom."""

    plan: Plan
    nodes: list[str]
    references: Mapping[str, list[str]]


@dataclass(frozen=True)
class Finding:
    """One suspect by one metric: how far it was behind, how far it is by itself, and what that makes of it."""

    node: str
    title: str
    before: float
    alone: float
    label: Label


def suspects_of(nodes: Nodes, plan: Plan) -> Suspects:
    """From a run's nodes and its plan. Raises UsageError where nothing that names one can be measured again."""
    named = {metric.experiment for metric in nodes.metrics if metric.slow}
    chosen = [_alone(each) for each in plan.experiments if each.id in named]
    experiments = [experiment for experiment in chosen if experiment is not None]
    if not experiments:
        raise UsageError("no slow node to measure again by itself")
    references = {
        nodes.names[place]: _references(nodes, metric, place) for metric in nodes.metrics for place in metric.slow
    }
    wanted = list(dict.fromkeys([*references, *(name for own in references.values() for name in own)]))
    limits = Limits(budget_s=plan.limits.budget_s, precision=plan.limits.precision, rounds=ROUNDS)
    return Suspects(Plan(f"recheck of {plan.name}", experiments, limits), wanted, references)


def _alone(experiment: Experiment) -> Experiment | None:
    """What a node can take by itself in its place: of mpi_stream, the same function by memory_stream."""
    if not probe_of(experiment.probe).takes_whole_job:
        return experiment
    if experiment.probe != "mpi_stream":
        return None
    return msgspec.structs.replace(experiment, probe="memory_stream", params={"op": experiment.params["op"]})


def _references(nodes: Nodes, metric: NodeMetric, suspect: int) -> list[str]:
    alike = [
        (abs(gap), place)
        for place, gap in enumerate(metric.gap)
        if gap is not None and place not in metric.slow and nodes.classes[place] == nodes.classes[suspect]
    ]
    return [nodes.names[place] for _, place in sorted(alike)[:REFERENCES]]


def findings(nodes: Nodes, suspects: Suspects, again: Nodes, how: PerNode) -> list[Finding]:
    """``again`` are the nodes of the second run; ``how`` the first one measured nodes, empty for all at once."""
    found = []
    for metric in nodes.metrics:
        second = _second(again, metric)
        if second is None:
            continue
        for place in metric.slow:
            name, before = nodes.names[place], metric.gap[place] or 0.0
            alone = _gap(again, second, name, suspects.references[name])
            if alone is not None:
                found.append(Finding(name, metric.title, before, alone, _label(before, alone, how)))
    return found


def _second(again: Nodes, metric: NodeMetric) -> NodeMetric | None:
    """The same metric of the second run; where another probe took its place, its headline."""
    own = [each for each in again.metrics if each.experiment == metric.experiment]
    return next((each for each in own if each.metric == metric.metric), own[0] if own else None)


def _gap(again: Nodes, metric: NodeMetric, name: str, references: Sequence[str]) -> float | None:
    values = dict(zip(again.names, metric.value, strict=True))
    beside = [value for reference in references if (value := values.get(reference))]
    own = values.get(name)
    if own is None or not beside:
        return None
    ratio = own / median(beside)
    return 1 - (ratio if metric.better == "higher" else 1 / ratio)


def _label(before: float, alone: float, how: PerNode) -> Label:
    if alone >= max(SMALLEST_GAP, STILL_BEHIND * before):
        return "persistent"
    return "transient" if how == "in-turn" else "contended"
