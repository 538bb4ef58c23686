"""Measure, read, summarise and compare from Python: what ``import nameplate`` offers."""

from __future__ import annotations

import os
import time as clock
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from nameplate.comparison.run_comparison import RunComparison, compare_runs
from nameplate.errors import UsageError
from nameplate.execution.core_process import describe_core
from nameplate.execution.launch import alone, launch_with
from nameplate.execution.measuring import RunEnvironment, check_seed, core_options, keep_digest, make_run, record_run
from nameplate.planning.plan_file import build_plan, read_plan, sweep_plan
from nameplate.planning.sweep import ProbeInfo
from nameplate.probes import probe_of
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Plan
from nameplate.records.result import Report
from nameplate.records.run_record import Sample
from nameplate.records.run_writer import RunWriter
from nameplate.results.digest import digest_of
from nameplate.results.measurements import RunFile as Run
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.statistics.verdict import SAME_WITHIN

__all__ = ["Report", "Run", "RunComparison", "compare", "measure", "read", "summarise"]

ParameterValue = str | int | float
# Called with the share of the run that is done, from 0 to 1, and the experiment that begins.
OnProgress = Callable[[float, str], None]


def measure(  # noqa: PLR0913 (as on the command line)
    what: str = "quick",
    *,
    budget: str | float | None = None,
    precision: str | float | None = None,
    rounds: int | None = None,
    samples: int | None = None,
    time: str | float | None = None,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    peer: str | None = None,
    key_file: str | None = None,
    mpi: str | None = None,
    on_progress: OnProgress | None = None,
    **parameters: ParameterValue | Sequence[ParameterValue],
) -> Run:
    """Measure a plan or a probe on this machine, and return the run.

    ``what`` is the name of a plan or a plan file, or a probe, whose ``parameters`` may be given: a number, a text as on
    the command line (``"4KiB..1MiB*2"``), or a sequence of values, each of which is measured. ``budget`` is the longest
    duration, in seconds or as text such as ``"1min"``; ``precision``, ``rounds``, ``samples`` and ``time`` are those of
    ``nameplate run``. ``output`` is the run file to write; None keeps no file. ``peer``, ``key_file`` and ``mpi`` are
    as on the command line. ``on_progress`` is called when an experiment begins. Nothing is printed; problems of single
    experiments are warnings. Ctrl-C raises KeyboardInterrupt, and a run file keeps what was measured.

    Raises:
        UsageError: the plan, the probe, a parameter or a limit is not possible.
        FileError: ``output`` exists or cannot be written.
        CoreError: nameplate-core cannot be started.
    """
    check_seed(seed)
    launch = launch_with(mpi) if mpi else alone()
    if probe_of(what).takes_whole_job and not mpi:
        raise UsageError(f'{what} needs an MPI launcher: pass mpi="mpirun -n 2"')
    options = core_options(peer, key_file, None)
    began = clock.monotonic()
    core = describe_core(launch, options)
    given = {"budget": budget, "precision": precision, "rounds": rounds, "samples": samples, "time": time}
    limits = {name: str(value) for name, value in given.items() if value is not None}
    plan = _plan(what, parameters, core.probes, limits, core.machine)
    environment = RunEnvironment(core.machine, launch, options, began=began, handles_signals=False, warn=warnings.warn)
    with TemporaryDirectory() as folder:
        path = Path(output) if output is not None else Path(folder) / "run.jsonl"
        with RunWriter.create(path) as writer:
            record_run(make_run(plan, seed, {}, "normal", ""), writer, None, _Progress(on_progress), environment)
        run = read_run(path)
        if output is not None:
            keep_digest(run, digest_of(run), environment.warn)
        return run


def read(path: str | os.PathLike[str]) -> Run:
    """Return the run of a run file.

    Raises:
        FileError: the file cannot be read or is not a run file.
    """
    return read_run(Path(path))


def compare(base: Run | Report, new: Run | Report, *, detect: float = SAME_WITHIN) -> RunComparison:
    """Return the verdict on each metric that two runs have: ``new`` is FASTER, SLOWER, SAME, UNSURE or INCOMPARABLE.

    ``detect`` is the size of a change that matters, as a share: SAME means that a change of this size is ruled out.
    """
    reports = [run if isinstance(run, Report) else summarise(run) for run in (base, new)]
    return compare_runs(reports[0], reports[1], detect)


def _plan(
    what: str, parameters: Mapping[str, ParameterValue | Sequence[ParameterValue]], probes: Mapping[str, ProbeInfo],
    limits: Mapping[str, str], machine: Machine,
) -> Plan:  # fmt: skip
    if what in probes:
        texts = {name: _text(value) for name, value in parameters.items()}
        return sweep_plan(what, texts, probes, limits, machine)
    if parameters:
        raise UsageError(f"'{what}' is not a probe, which alone takes parameters: leave out '{next(iter(parameters))}'")
    plan = read_plan(what)
    if plan.references or plan.reference_works:
        raise UsageError(f"the plan {what} measures other tools as well: use nameplate run")
    return build_plan(plan, probes, limits, machine)


def _text(value: ParameterValue | Sequence[ParameterValue]) -> str:
    return str(value) if isinstance(value, str | int | float) else ",".join(map(str, value))


class _Progress:
    """Passes what a session shows to a function, and errors to ``warnings``."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        pass

    def begin(self, round_number: int, experiment: Experiment, share_done: float, _: float) -> None:
        if self._on_progress is not None:
            self._on_progress(share_done, f"round {round_number}: {experiment.id}")

    def sample(self, _: Experiment, __: Sample) -> None:
        pass

    def warn(self, message: str) -> None:
        warnings.warn(message, stacklevel=2)
