"""Check records once, where they are read, so that all other code can rely on them.

The record classes check types and ranges. This module applies the rules that depend on the probe or on another record.
Each function returns a message with the name of the field; if the record is valid, it returns an empty string or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nameplate.probes import probe_of
from nameplate.probes.shared.job import nodes_of
from nameplate.records.machine_record import Machine
from nameplate.records.run_record import Outcome, Record, Run, Sample


def problem_of_record(record: Record) -> str:
    """Return what is wrong with a record, without regard to other records; "" if nothing is wrong.

    Only a record of type 'run' is checked (``problem_of_run``). The result for any other record is "".
    """
    return problem_of_run(record) if isinstance(record, Run) else ""


def problem_of_run(run: Run) -> str:
    """Return the first problem of a run's plan as a message; "" if the plan is valid.

    A problem is an id that several experiments have, or a parameter whose name or value is not possible
    (``Recorded.problem_of_params``).
    """
    for identity, times in Counter(planned.id for planned in run.plan.experiments).most_common(1):
        if times > 1:
            return f"{times} experiments of the plan have the id '{identity}'"
    for experiment in run.plan.experiments:
        if problem := probe_of(experiment.probe).recorded.problem_of_params(experiment.params):
            return f"experiment '{experiment.id}': {problem}"
    return ""


def problem_of_outcome(machine: Machine | None, outcome: Outcome) -> str:
    """Return the first problem of an outcome by the rules of its probe, as a message; "" if it is valid.

    ``outcome`` must have samples and have ended with "ok". If this version does not know the probe, only the rules for
    all probes apply (``Recorded.problem_of_params``). ``machine`` is the machine of the run's first header. None means
    that no header precedes the outcome, which is a problem.
    """
    if machine is None:
        return "there is no record of type 'header' before it"
    problem = probe_of(outcome.probe).recorded.problem_of_outcome(outcome)
    return problem and f"outcome of '{outcome.id}': {problem}"


def problem_of_node(machine: Machine | None, outcome: Outcome) -> str:
    """Return the first problem of the outcome of a single node of a job as a message; "" if it is valid.

    ``outcome.node`` must be an index, from 0, in the job's list of nodes on ``machine``. An outcome without a node, or
    a machine that is None or has no job, is therefore a problem. If the outcome ended with "ok", the rules of its probe
    are checked too.
    """
    node = outcome.node if isinstance(outcome.node, int) else -1
    problem = _problem_of_node(machine, node)
    if not problem and outcome.ending == "ok":
        problem = probe_of(outcome.probe).recorded.problem_of_outcome(outcome)
    return problem and f"outcome of '{outcome.id}': {problem}"


class SampleProblem(NamedTuple):
    """The index of an invalid sample in the list that was checked, and a message that says what is wrong."""

    sample_index: int
    problem: str


def problem_of_samples(machine: Machine | None, outcome: Outcome, samples: Sequence[Sample]) -> SampleProblem | None:
    """Return the first invalid sample and its problem; None if all samples are valid.

    ``samples`` are the samples of one experiment in one round, and ``outcome`` is the outcome of that round. Each
    sample is checked by the rules of its probe. Its ``node`` must be an index in the job's list of nodes on
    ``machine``, and its ``nodes`` must have one entry for each node of the job. If no sample has these fields,
    ``machine`` is not used and may be None.
    """
    recorded = probe_of(outcome.probe).recorded
    if recorded.are_plainly_valid(samples):
        return None
    n_nodes = len(nodes_of(machine))
    for index, sample in enumerate(samples):
        problem = recorded.problem_of_sample(outcome, sample)
        if not problem and isinstance(sample.node, int):
            problem = _problem_of_node(machine, sample.node)
        if not problem and isinstance(sample.nodes, list) and len(sample.nodes) != n_nodes:
            problem = f"it has {len(sample.nodes)} nodes, but the job has {n_nodes}"
        if problem:
            return SampleProblem(index, f"sample of '{sample.id}': {problem}")
    return None


def _problem_of_node(machine: Machine | None, node: int) -> str:
    n_nodes = len(nodes_of(machine))
    return "" if 0 <= node < n_nodes else f"node {node} is not one of the job's {n_nodes} nodes"
