"""The commands that measure again what a report shows, fit for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from nameplate.probes import probe_of
from nameplate.records.model import Result, Run, Value
from nameplate.report.cells import is_derived


def repeat_command(result: Result) -> str:
    """Of one cell, of a series as one; what was made of all cells together needs them all."""
    row = result.summary
    # Its parameters are the part of a curve that it holds for, which no probe can be asked.
    params = {} if is_derived(result) else row.params
    command = _command(result, {name: _as_argument(value) for name, value in params.items()})
    if row.over_time is None:
        return command
    interval_s = row.over_time.interval_s
    return f"{command} --series {_as_argument(len(result.series.value) * interval_s)}s/{_as_argument(interval_s)}s"


def repeat_commands(results: Iterable[Result]) -> tuple[str, ...]:
    """Of several cells, each once."""
    return tuple(dict.fromkeys(repeat_command(result) for result in results))


def sweep_command(results: Sequence[Result], *swept: str) -> str:
    """Of one probe's cells that differ in the parameters ``swept``: every combination of their values."""
    first = results[0].summary
    words = {name: _as_argument(value) for name, value in first.params.items()}
    for name in swept:
        values = _in_order({result.summary.params[name]: None for result in results})
        words[name] = ",".join(_as_argument(value) for value in values)
    return _command(results[0], words)


def plan_command(run: Run) -> str:
    """Of a shipped plan as a whole."""
    whole_job = any(probe_of(experiment.probe).takes_whole_job for experiment in run.plan.experiments)
    budget = f"{_as_argument(run.plan.limits.budget_s)}s"
    return shlex.join(["nameplate", "run", run.plan.name, "--budget", budget, *(_launcher() if whole_job else [])])


def node_command(run: Run, identity: str) -> str:
    """Of the experiment with this id, on all nodes of a job; empty for what another program measured."""
    experiment = next((each for each in run.plan.experiments if each.id == identity), None)
    if experiment is None:
        return ""
    words = [f"{name}={_as_argument(value)}" for name, value in experiment.params.items()]
    in_turns = ["--per-node", run.per_node] if run.per_node else []
    return shlex.join(["nameplate", "run", experiment.probe, *words, *_launcher(), *in_turns])


def _in_order(values: Iterable[Value]) -> list[Value]:
    """Ascending, but words as they come."""
    own = list(values)
    return own if any(isinstance(value, str) for value in own) else sorted(own, key=float)


def _command(result: Result, words: Mapping[str, str]) -> str:
    probe = result.summary.probe
    launcher = _launcher(result.facts.get("ranks")) if probe_of(probe).takes_whole_job else []
    return shlex.join(["nameplate", "run", probe, *(f"{name}={word}" for name, word in words.items()), *launcher])


def _launcher(ranks: float | None = None) -> list[str]:
    """A run does not tell how it was launched, and some figures not even on how many ranks."""
    return ["--mpi", f"mpirun -n {f'{ranks:.0f}' if ranks else 'RANKS'}"]


def _as_argument(value: Value) -> str:
    """Without an exponent, which the command line does not take."""
    return f"{value:.15f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
