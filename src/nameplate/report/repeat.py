"""The commands that measure again what a report shows, fit for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from nameplate.model import Result, Value
from nameplate.probes import probe_of


def repeat_command(probe: str, params: Mapping[str, Value]) -> str:
    """Of one cell."""
    return _command(probe, {name: _as_argument(value) for name, value in params.items()})


def sweep_command(results: Sequence[Result], *swept: str) -> str:
    """Of one probe's cells that differ in the parameters ``swept``: every combination of their values."""
    first = results[0].summary
    words = {name: _as_argument(value) for name, value in first.params.items()}
    for name in swept:
        values = sorted({result.summary.params[name] for result in results}, key=float)
        words[name] = ",".join(_as_argument(value) for value in values)
    return _command(first.probe, words)


def _command(probe: str, words: Mapping[str, str]) -> str:
    # A run does not tell how it was launched.
    launcher = ["--mpi", "mpirun -n RANKS"] if probe_of(probe).takes_whole_job else []
    return shlex.join(["nameplate", "run", probe, *(f"{name}={word}" for name, word in words.items()), *launcher])


def _as_argument(value: Value) -> str:
    """Without an exponent, which the command line does not take."""
    return f"{value:.15f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
