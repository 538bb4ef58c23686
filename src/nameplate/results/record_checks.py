"""Check records once, where they are read, so that all other code can rely on them.

``model`` checks types and ranges. This module checks what depends on the probe or on another record. Each function
returns the problem with the name of the field; if there is none, an empty string or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nameplate.probes import probe_of
from nameplate.probes.shared.job import nodes_of
from nameplate.probes.shared.recorded import problem_of_params
from nameplate.records.machine_record import Machine
from nameplate.records.run_record import Outcome, Record, Run, Sample


def problem_of_record(record: Record) -> str:
    """Return what is wrong with a record, without regard to other records; "" if nothing is.

    Only a record of type 'run' is checked (see ``problem_of_run``). Any other record gives "".
    """
    return problem_of_run(record) if isinstance(record, Run) else ""


def problem_of_run(run: Run) -> str:
    """Return what is wrong with the plan of a run; "" if nothing is.

    The text names the first problem: an id that several experiments have, or a parameter whose name or value is
    impossible (``problem_of_params``).
    """
    for identity, times in Counter(each.id for each in run.plan.experiments).most_common(1):
        if times > 1:
            return f"{times} experiments of the plan have the id '{identity}'"
    for experiment in run.plan.experiments:
        if problem := problem_of_params(experiment.params):
            return f"experiment '{experiment.id}': {problem}"
    return ""


def problem_of_outcome(machine: Machine | None, outcome: Outcome) -> str:
    """Return what is wrong with the outcome of an experiment that has samples; "" if nothing is.

    ``outcome`` must have ended with "ok", and is checked by the rules of its probe. A probe that this version does not
    know has none beyond those of ``problem_of_params``. ``machine`` is that of the run's first header; None, which
    means that no header precedes the outcome, is a problem.
    """
    if machine is None:
        return "there is no record of type 'header' before it"
    problem = probe_of(outcome.probe).recorded.problem_of_outcome(outcome)
    return problem and f"outcome of '{outcome.id}': {problem}"


def problem_of_node(machine: Machine | None, outcome: Outcome) -> str:
    """Return what is wrong with the outcome of a single node of a job; "" if nothing is.

    ``outcome.node`` must be an index in the list of nodes of the job on ``machine``, counting from 0. An outcome
    without a node, or a machine that is None or has no job, is therefore a problem. If the outcome ended with "ok", it
    is also checked by the rules of its probe.
    """
    node = outcome.node if isinstance(outcome.node, int) else -1
    problem = _problem_of_place(machine, node)
    if not problem and outcome.ending == "ok":
        problem = probe_of(outcome.probe).recorded.problem_of_outcome(outcome)
    return problem and f"outcome of '{outcome.id}': {problem}"


class SampleProblem(NamedTuple):
    """The index of a sample in its list, and a message on what is wrong with it."""

    place: int
    problem: str


def problem_of_samples(machine: Machine | None, outcome: Outcome, samples: Sequence[Sample]) -> SampleProblem | None:
    """Return the first sample with which something is wrong, by the rules of its probe and the nodes of the job.

    ``samples`` are those of an experiment in a round, which ended with ``outcome``. The ``node`` of each must be an
    index in the list of nodes of the job on ``machine``, and its ``nodes`` must have one entry for each of them. For
    samples without these fields, ``machine`` does not matter and may be None. The result is None if nothing is wrong.
    """
    recorded = probe_of(outcome.probe).recorded
    if recorded.are_plainly_valid(samples):
        return None
    n_nodes = len(nodes_of(machine))
    for index, sample in enumerate(samples):
        problem = recorded.problem_of_sample(outcome, sample)
        if not problem and isinstance(sample.node, int):
            problem = _problem_of_place(machine, sample.node)
        if not problem and isinstance(sample.nodes, list) and len(sample.nodes) != n_nodes:
            problem = f"it has {len(sample.nodes)} nodes, but the job has {n_nodes}"
        if problem:
            return SampleProblem(index, f"sample of '{sample.id}': {problem}")
    return None


def _problem_of_place(machine: Machine | None, node: int) -> str:
    n_nodes = len(nodes_of(machine))
    return "" if 0 <= node < n_nodes else f"node {node} is not one of the job's {n_nodes} nodes"
