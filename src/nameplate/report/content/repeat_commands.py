"""Build the shell commands that repeat the measurements shown in a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from nameplate.probes import probe_of
from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.records.run_record import Run
from nameplate.report.content.experiments import is_derived


def repeat_command(result: Result) -> str:
    """Return the shell command that measures the experiment of a result again, with all of its parameters.

    Numbers are in base units without an exponent, such as ``size=4096``. The command repeats the length and interval of
    a series only if ``result`` is the first metric of the experiment, which alone has ``over_time``. For a derived
    result, the command runs the whole probe, since the value needs several experiments. For a probe that runs as an MPI
    job, the command ends with ``--mpi 'mpirun -n N'``; N is the fact ``ranks``, or the placeholder ``RANKS`` if that is
    not recorded.
    """
    row = result.summary
    # The parameters of a derived result name a part of a curve; no probe takes them.
    params = {} if is_derived(result) else row.params
    command = _command(result, {name: _as_argument(value) for name, value in params.items()})
    if row.over_time is None:
        return command
    interval_s = row.over_time.interval_s
    return f"{command} --series {_as_argument(len(result.series.value) * interval_s)}s/{_as_argument(interval_s)}s"


def repeat_commands(results: Iterable[Result]) -> tuple[str, ...]:
    """Return the commands of ``repeat_command`` for several results, in their order and each command once."""
    return tuple(dict.fromkeys(repeat_command(result) for result in results))


def sweep_command(results: Sequence[Result], *swept: str) -> str:
    """Return one shell command that measures every combination of the values of the parameters ``swept``.

    ``results`` are experiments of one probe that differ only in these parameters; the others are taken from the first
    result. Numbers are in ascending order, words in the order of their appearance, each value once. Without ``swept``,
    the command measures only the first result. For an MPI job, the command ends with ``--mpi`` as in
    ``repeat_command``; it never has ``--series``.

    Raises:
        IndexError: ``results`` is empty.
        KeyError: a result lacks one of the parameters.
    """
    first = results[0].summary
    words = {name: _as_argument(value) for name, value in first.params.items()}
    for name in swept:
        values = _in_order({result.summary.params[name]: None for result in results})
        words[name] = ",".join(_as_argument(value) for value in values)
    return _command(results[0], words)


def plan_command(run: Run) -> str:
    """Return the shell command that runs the shipped plan of ``run`` with the same budget.

    It is ``nameplate run NAME --budget 60s`` with the plan's name, which is not checked: an imported run has no shipped
    plan. Other settings of the run are not repeated.

    If a probe of the plan runs as an MPI job, the command ends with ``--mpi 'mpirun -n RANKS'``, where the reader
    replaces ``RANKS`` by the number of ranks, which the run does not record.
    """
    whole_job = any(probe_of(experiment.probe).takes_whole_job for experiment in run.plan.experiments)
    budget = f"{_as_argument(run.plan.limits.budget_s)}s"
    return shlex.join(["nameplate", "run", run.plan.name, "--budget", budget, *(_launcher() if whole_job else [])])


def node_command(run: Run, identity: str) -> str:
    """Return the shell command that measures one experiment of ``run`` on all nodes of a job.

    ``identity`` is the experiment's ``id`` in the plan of ``run``. The command has the placeholder ``RANKS`` for the
    number of ranks, and ``--per-node`` if the run has it. The text is "" if the plan has no such experiment, as in a
    run that was imported from another program.
    """
    experiment = next((each for each in run.plan.experiments if each.id == identity), None)
    if experiment is None:
        return ""
    words = [f"{name}={_as_argument(value)}" for name, value in experiment.params.items()]
    in_turns = ["--per-node", run.per_node] if run.per_node else []
    return shlex.join(["nameplate", "run", experiment.probe, *words, *_launcher(), *in_turns])


def _in_order(values: Iterable[Value]) -> list[Value]:
    """Return numbers in ascending order and words in the order given, each once."""
    own = list(values)
    return own if any(isinstance(value, str) for value in own) else sorted(own, key=float)


def _command(result: Result, words: Mapping[str, str]) -> str:
    probe = result.summary.probe
    launcher = _launcher(result.facts.get("ranks")) if probe_of(probe).takes_whole_job else []
    return shlex.join(["nameplate", "run", probe, *(f"{name}={word}" for name, word in words.items()), *launcher])


def _launcher(ranks: float | None = None) -> list[str]:
    """Return the launcher of an MPI run. The run file does not record it, and some results not even the number of
    ranks.
    """
    return ["--mpi", f"mpirun -n {f'{ranks:.0f}' if ranks else 'RANKS'}"]


def _as_argument(value: Value) -> str:
    """Return a value without an exponent, which the command line does not accept."""
    return f"{value:.15f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
