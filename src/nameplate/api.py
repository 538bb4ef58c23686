"""Measure, read, summarise, compare and export from Python: what ``import nameplate`` offers."""

from __future__ import annotations

import os
import time as clock
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from nameplate.comparison.run_comparison import RunComparison, compare_runs
from nameplate.errors import UsageError
from nameplate.execution.core_process import describe_core
from nameplate.execution.launch import alone, launch_with
from nameplate.execution.measuring import (
    RunEnvironment,
    check_seed,
    core_options,
    keep_digest,
    make_plan,
    make_run,
    record_run,
)
from nameplate.planning.plan_file import PlanText
from nameplate.probes import probe_of
from nameplate.records.plan_record import Experiment
from nameplate.records.result import Report
from nameplate.records.run_record import Sample
from nameplate.records.run_writer import RunWriter
from nameplate.report.content.aliases import without_names
from nameplate.report.exports import file_name, find_export
from nameplate.results.digest import digest_of
from nameplate.results.measurements import RunFile as Run
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise as summarise_results
from nameplate.statistics.verdict import SAME_WITHIN
from nameplate.studies import with_study
from nameplate.tools.imported_run import read_imported

__all__ = ["Report", "Run", "RunComparison", "compare", "export", "measure", "read", "read_output", "summarise"]

ParameterValue = str | int | float
# Called with the share of the run that is done, from 0 to 1, and a text with the round and id of the next experiment.
OnProgress = Callable[[float, str], None]


def measure(  # noqa: PLR0913 (as on the command line)
    plan_or_probe: str | os.PathLike[str] = "quick",
    /,
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
    """Measure a plan or a probe on this machine, and return the run; nothing is printed.

    - ``plan_or_probe``: the name of a plan or of a probe as for ``nameplate run``, or the path of a plan file (a name
      that ends in ``.toml`` or contains ``/``)
    - ``budget``: the maximum duration of the whole run, in seconds or as text such as ``"1min"``
    - ``precision``: an experiment is measured until its 95 % interval is narrower than ± this share of the value, such
      as 0.02 or ``"2%"``
    - ``rounds``: the exact number of rounds, regardless of ``precision``; the budget then applies only if it is given
    - ``samples``: the maximum number of samples of an experiment in a round
    - ``time``: the duration of one sample, in seconds or as text such as ``"10ms"``
    - ``seed``: determines the order of the experiments, from 0 to 2⁶³ − 1; None chooses a random seed
    - ``output``: the path of the run file to write, which must not exist; with None the run is only returned, and
      ``Run.path`` is the path of a temporary file that has been removed
    - ``peer``: the ``HOST[:PORT]`` of a ``nameplate serve`` for the network probes; None starts a peer on this machine
    - ``key_file``: the path of a file with the key that the peer requires; it needs ``peer``. None uses no key file
    - ``mpi``: the MPI launcher with its options, such as ``"mpirun -n 4"``; None measures without MPI
    - ``on_progress``: called as ``on_progress(share, text)`` before each experiment of a round; ``share`` is the part
      of the run that is done, from 0 to 1, and ``text`` is, for example, ``"round 2: memory_stream op=copy"``
    - ``parameters``: parameters of a probe by name; a plan takes none. A value is a number, a text as on the command
      line (``"4KiB..1MiB*2"``), or a sequence of values, each of which is measured.

    A limit that is None has the default of the plan or probe. A problem of a single experiment is a warning
    (``warnings.warn``). Ctrl-C raises KeyboardInterrupt, and the run file ``output`` keeps the samples taken before.

    Raises:
        UsageError: the plan, the probe, a parameter or a limit is not possible, or the plan also measures reference
            tools.
        FileError: a plan file cannot be read, or ``output`` exists or cannot be written.
        CoreError: nameplate-core cannot be started.
    """
    check_seed(seed)
    plan_or_probe = os.fspath(plan_or_probe)
    launch = launch_with(mpi) if mpi else alone()
    if probe_of(plan_or_probe).takes_all_ranks and not mpi:
        raise UsageError(f'{plan_or_probe} needs an MPI launcher: pass mpi="mpirun -n 2"')
    options = core_options(peer, key_file, None)
    began = clock.monotonic()
    core = describe_core(launch, options)
    given = {"budget": budget, "precision": precision, "rounds": rounds, "samples": samples, "time": time}
    limits = {name: str(value) for name, value in given.items() if value is not None}
    arguments = [f"{name}={_text(name, value)}" for name, value in parameters.items()]
    plan = make_plan(plan_or_probe, arguments, limits, core, reserved_s=_without_references)
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
    """Return the content of a run file, for example to pass it to ``summarise`` or ``compare``.

    Every record is checked. The file of a run that was killed or is still running can be read, too.

    Raises:
        FileError: the file does not exist, cannot be read, is not a run file, or has a wrong record.
    """
    return read_run(Path(path))


def read_output(path: str | os.PathLike[str]) -> Report:
    """Return the report on an output of another tool, such as fio, iperf3, STREAM or OSU.

    ``path`` is the file with the output, or a folder of outputs of one tool that ran the same work repeatedly: each of
    its files counts as a round, and its subfolders are ignored. The report has no machine and no reference values.

    Raises:
        FileError: a file cannot be read or is larger than 16 MiB, no file is the output of a known tool, or the folder
            is empty or has outputs of several tools.
    """
    return read_imported(Path(path))


def summarise(run: Run) -> Report:
    """Return the results of a run, with the tables and charts of the published study that its plan reproduces, if any.

    ``run`` is a run of ``measure`` or ``read``. The results are in SI base units, with 95 % intervals from six rounds
    on. Nothing is measured and no file is read.
    """
    return with_study(summarise_results(run))


def export(report: Report, format: str, *, identify: bool = False) -> dict[str, bytes]:  # noqa: A002 (the option's name)
    """Return the files of an export format of ``nameplate show --format``: a dictionary from file name to content.

    ``report`` is a report of ``summarise`` or ``read_output``, and ``format`` the name of the format, such as "csv".
    Most formats have a single file. Nothing is written. Host names are replaced by ``machine 1``, ``machine 2`` and so
    on, and addresses, UUIDs and home directories are hidden, unless ``identify`` is True.

    Raises:
        UsageError: the format is unknown, the report lacks results that the format needs, or a package that the format
            needs is not installed.
    """
    if not identify:
        (report,) = without_names([report])
    content = find_export(format)(report)
    files = content if isinstance(content, dict) else {file_name(format, report, Path("run.jsonl")): content}
    return {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}


def compare(base: Run | Report, new: Run | Report, *, detect: float = SAME_WITHIN) -> RunComparison:
    """Compare two runs, and return a verdict on ``new`` for each metric that both have.

    ``base`` is the run to compare with. Both may be runs, or reports of ``summarise`` or ``read_output``. A verdict is
    FASTER, SLOWER, SAME, UNSURE (the rounds do not suffice for a decision) or INCOMPARABLE (for example, a value is
    missing or the units differ). ``detect`` is the size of a change that matters, as a share (0.05 is 5 %): SAME means
    that an equivalence test rules out a change of this size. The result also has the settings in which the machines
    differ, and the metrics that only one run has.
    """
    reports = [run if isinstance(run, Report) else summarise_results(run) for run in (base, new)]
    return compare_runs(reports[0], reports[1], detect)


def _without_references(plan: PlanText) -> float:
    """Return 0.0, the seconds to reserve for reference tools.

    Raises:
        UsageError: ``plan`` measures reference tools, which only ``nameplate run`` can.
    """
    if plan.references or plan.reference_works:
        raise UsageError(f"plan {plan.name} runs reference tools, which measure() cannot do: use nameplate run")
    return 0.0


def _text(name: str, value: ParameterValue | Sequence[ParameterValue]) -> str:
    """Return the text on the command line of one value or of several values of the parameter ``name``.

    Raises:
        UsageError: ``value`` is an empty sequence.
    """
    if isinstance(value, str | int | float):
        return str(value)
    if not value:
        raise UsageError(f"{name}: no values; give at least one")
    return ",".join(map(str, value))


class _Progress:
    """Passes the progress of a session to the function ``on_progress``, and warnings to ``warnings.warn``."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        pass

    def start(self, round_number: int, experiment: Experiment, share_done: float, _: float) -> None:
        if self._on_progress is not None:
            self._on_progress(share_done, f"round {round_number}: {experiment.id}")

    def sample(self, _: Experiment, __: Sample) -> None:
        pass

    def warn(self, message: str) -> None:
        warnings.warn(message, stacklevel=2)
