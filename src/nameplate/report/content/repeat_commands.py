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

    Numbers are in base units without an exponent, such as ``size=4096``. For a derived result, the command runs the
    whole probe, since the value needs several experiments. For a series, the command ends with ``--series`` and the
    length and interval of the series, but only if ``result`` has ``over_time``, as the first metric of the experiment
    does. For a probe that runs as an MPI job, the command has ``--mpi 'mpirun -n N'``; N is the number of ranks, or the
    placeholder ``RANKS`` if the number is not recorded.
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
    """Return the commands of ``repeat_command`` for ``results`` in their order, without repeating a command."""
    return tuple(dict.fromkeys(repeat_command(result) for result in results))


def sweep_command(results: Sequence[Result], *swept: str) -> str:
    """Return one shell command that measures every combination of the values of the parameters ``swept``.

    ``results`` are experiments of one probe that differ only in the parameters named by ``swept``; the values of other
    parameters are taken from the first result. The values of a swept parameter are listed once each, numbers in
    ascending order and text in the order of appearance. Without ``swept``, the command measures only the first result.
    For an MPI job, the command has ``--mpi`` as in ``repeat_command``. The command never has ``--series``.

    Raises:
        IndexError: ``results`` is empty.
        KeyError: a result lacks one of the swept parameters.
    """
    first = results[0].summary
    arguments = {name: _as_argument(value) for name, value in first.params.items()}
    for name in swept:
        values = list(dict.fromkeys(result.summary.params[name] for result in results))
        if not any(isinstance(value, str) for value in values):
            values.sort(key=float)
        arguments[name] = ",".join(map(_as_argument, values))
    return _command(results[0], arguments)


def plan_command(run: Run) -> str:
    """Return the shell command that runs the plan of ``run`` again with the same budget.

    An example is ``nameplate run quick --budget 60s``. The function does not check that nameplate has a plan of this
    name; there is none for an imported run. Other options of the run are not repeated. If a probe of the plan runs as
    an MPI job, the command ends with ``--mpi 'mpirun -n RANKS'``; the reader must replace ``RANKS`` by the number of
    ranks, which the run does not record.
    """
    takes_all_ranks = any(probe_of(experiment.probe).takes_all_ranks for experiment in run.plan.experiments)
    budget = f"{_as_argument(run.plan.limits.budget_s)}s"
    return shlex.join(
        ["nameplate", "run", run.plan.name, "--budget", budget, *(_launcher() if takes_all_ranks else [])]
    )


def node_command(run: Run, identity: str) -> str:
    """Return the shell command that measures one experiment of ``run`` on all nodes of an MPI job.

    ``identity`` is the experiment's ``id`` in the plan of ``run``. The command has the placeholder ``RANKS`` for the
    number of ranks, and the option ``--per-node`` if ``run`` was measured with it. The result is "" if the plan has no
    experiment with this id, as in a run that was imported from another program.
    """
    experiment = next((planned for planned in run.plan.experiments if planned.id == identity), None)
    if experiment is None:
        return ""
    arguments = [f"{name}={_as_argument(value)}" for name, value in experiment.params.items()]
    in_turns = ["--per-node", run.per_node] if run.per_node else []
    return shlex.join(["nameplate", "run", experiment.probe, *arguments, *_launcher(), *in_turns])


def _command(result: Result, arguments: Mapping[str, str]) -> str:
    probe = result.summary.probe
    launcher = _launcher(result.facts.get("ranks")) if probe_of(probe).takes_all_ranks else []
    return shlex.join(["nameplate", "run", probe, *(f"{name}={word}" for name, word in arguments.items()), *launcher])


def _launcher(ranks: float | None = None) -> list[str]:
    """Return an ``--mpi`` option that uses mpirun, since the run file does not record the launcher.

    ``ranks`` is the number of ranks; None or 0 becomes the placeholder ``RANKS``.
    """
    return ["--mpi", f"mpirun -n {f'{ranks:.0f}' if ranks else 'RANKS'}"]


def _as_argument(value: Value) -> str:
    """Return a value without an exponent, which the command line does not accept."""
    return f"{value:.15f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
