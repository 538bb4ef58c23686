"""Check records once, where they are read, so that all other code can rely on them.

``model`` checks types and ranges. This module checks what depends on the probe or on another record. Each function
returns the problem with the name of the field, or an empty string.
"""

from __future__ import annotations

from collections import Counter

from nameplate.probes import probe_of
from nameplate.probes.shared.recorded import problem_of_params
from nameplate.records.machine_record import Machine, n_nodes_of
from nameplate.records.model import Digest, FileRecord, Outcome, Run, Sample


def problem_of_record(record: FileRecord | Digest) -> str:
    """Return the problem of a record without regard to other records."""
    return problem_of_run(record) if isinstance(record, Run) else ""


def problem_of_run(run: Run) -> str:
    """Return the problem of the plan that was measured."""
    for identity, times in Counter(each.id for each in run.plan.experiments).most_common(1):
        if times > 1:
            return f"{times} experiments of the plan have the id '{identity}'"
    for experiment in run.plan.experiments:
        if problem := problem_of_params(experiment.params):
            return f"experiment '{experiment.id}': {problem}"
    return ""


def problem_of_outcome(machine: Machine | None, outcome: Outcome) -> str:
    """Return the problem of the outcome of an experiment that was measured on ``machine``."""
    if machine is None:
        return "there is no record of type 'header' before it"
    problem = probe_of(outcome.probe).recorded.problem_of_outcome(outcome)
    return problem and f"outcome of '{outcome.id}': {problem}"


def problem_of_node(machine: Machine | None, outcome: Outcome) -> str:
    """Return the problem of the outcome of one node of a job."""
    node = outcome.node if isinstance(outcome.node, int) else -1
    problem = _problem_of_place(machine, node)
    if not problem and outcome.ending == "ok":
        problem = probe_of(outcome.probe).recorded.problem_of_outcome(outcome)
    return problem and f"outcome of '{outcome.id}': {problem}"


def problem_of_sample(machine: Machine | None, outcome: Outcome, sample: Sample) -> str:
    """Return the problem of a sample of an experiment that was measured on ``machine``."""
    problem = probe_of(outcome.probe).recorded.problem_of_sample(outcome, sample)
    if not problem and isinstance(sample.node, int):
        problem = _problem_of_place(machine, sample.node)
    n_nodes = n_nodes_of(machine)
    if not problem and isinstance(sample.nodes, list) and len(sample.nodes) != n_nodes:
        problem = f"it has {len(sample.nodes)} nodes, but the job has {n_nodes}"
    return problem and f"sample of '{sample.id}': {problem}"


def _problem_of_place(machine: Machine | None, node: int) -> str:
    n_nodes = n_nodes_of(machine)
    return "" if 0 <= node < n_nodes else f"node {node} is not one of the job's {n_nodes} nodes"
