"""Measure a plan into a run file."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from types import FrameType

import msgspec

from nameplate import __version__
from nameplate.errors import FileError, Interrupted, UsageError
from nameplate.execution.busy_cpus import slowdown
from nameplate.execution.core_process import CoreDescription, CoreProcess, OnRecord
from nameplate.execution.curve_refinement import refiner
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import Launch, alone
from nameplate.execution.memory_keeper import MemoryKeeper
from nameplate.execution.session import Control, NodeTurns, Progress, Session
from nameplate.interruption import handled, say
from nameplate.planning.plan_file import PlanText, build_plan, check_name, read_plan, sweep_plan
from nameplate.planning.sweep import split_arguments
from nameplate.probes import probe_of
from nameplate.probes.shared.job import nodes_of
from nameplate.process import command_began
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import PerNode, Plan
from nameplate.records.result import Report
from nameplate.records.run_record import SCHEMA, Digest, Header, Reference, Run, check_moment
from nameplate.records.run_writer import RunWriter
from nameplate.results.digest import digest_of_report
from nameplate.results.measurements import Measurement, RunFile
from nameplate.results.metric_rounds import values_in_round
from nameplate.results.run_file import append_digest, read_run
from nameplate.results.summarise import summarise
from nameplate.units import MAX_COUNT


@dataclass(frozen=True)
class RunEnvironment:
    """The conditions under which a run is measured; ``machine`` has the facts of the machine.

    - ``launch``: how the processes of nameplate-core are started; ``options``: their command-line options; ``nice``:
      their scheduling priority, from -20 (highest) to 19
    - ``nodes``: the nodes that measure single-machine experiments; None if the run is not measured per node
    - ``reference_values``: the values that reference tools measured before the first round; they are written to a new
      run file, but not if a run is resumed
    - ``began``: the time of ``time.monotonic`` from which the budget counts; None means the start of the command
    - ``closing_s``: the estimated time in seconds that the command needs after its summary, such as for a report
    - ``handles_signals``: whether Ctrl-C ends the run after the current sample, which needs the main thread; otherwise
      it raises KeyboardInterrupt, as in any Python program
    - ``warn``: called with the message of a problem that does not end the run
    - ``decided``: returns the ids of the experiments whose verdict is final, given the results so far; None if the run
      is not compared while it is measured
    """

    machine: Machine
    launch: Launch = field(default_factory=alone)
    options: Sequence[str] = ()
    nice: int = 0
    nodes: NodeTurns | None = None
    reference_values: Sequence[Reference] = ()
    began: float | None = None
    closing_s: float = 0.0
    decided: Callable[[Report], set[str]] | None = None
    handles_signals: bool = True
    warn: Callable[[str], object] = lambda message: print(f"nameplate: {message}", file=sys.stderr)


def nodes_of_run(header: Run, machine: Machine) -> NodeTurns | None:
    """Return the nodes that measure single-machine experiments, or None if the run is not measured per node.

    ``header`` is the first record of the run. If ``header.per_node`` is "", the result is None. Otherwise it has all
    nodes of the MPI job that ``machine`` describes (none without a job), which measure at the same time for "at-once"
    and one after another for "in-turn". Nothing is sent to the nodes.
    """
    return NodeTurns(range(len(nodes_of(machine))), header.per_node == "at-once") if header.per_node else None


def check_seed(seed: int | None) -> None:
    """Check that a seed can be recorded, and raise UsageError if not; None (a random seed) is accepted."""
    if seed is not None and not 0 <= seed <= MAX_COUNT:
        raise UsageError(f"--seed {seed}: not a seed; use 0 to {MAX_COUNT}")


def make_plan(
    plan_or_probe: str, arguments: Sequence[str], options: Mapping[str, str], core: CoreDescription,
    turns: int = 1, reserved_s: Callable[[PlanText], float] = lambda _: 0.0,
) -> Plan:  # fmt: skip
    """Return the plan to measure: a probe with parameters, a shipped plan, or a plan file.

    ``plan_or_probe`` is the name of a probe or a plan, or the path of a file. ``arguments`` are parameters of the probe
    as ``name=value``; with a plan, only ``dir=DIRECTORY`` is possible, the directory of its test files. ``options`` are
    limits from the command line as for ``make_limits``. ``core`` has the probes and the machine. ``turns`` is the
    number of nodes that run a single-machine probe one after another. ``reserved_s`` returns the time in seconds of a
    plan's budget that is reserved for reference tools.

    Raises:
        FileError: the file cannot be read, or is not a plan.
        UsageError: there is no plan or probe with this name, ``arguments`` are not valid for it, or the plan cannot be
            measured with these options on this machine.
    """
    check_name(plan_or_probe, core.probes)
    if plan_or_probe in core.probes:
        return sweep_plan(plan_or_probe, split_arguments(arguments), core.probes, options, core.machine, turns)
    text = msgspec.structs.replace(read_plan(plan_or_probe), directory=_directory(plan_or_probe, arguments))
    return build_plan(text, core.probes, options, core.machine, turns, reserved_s(text))


def _directory(plan: str, arguments: Sequence[str]) -> str:
    """Return the directory of test files from the arguments of a plan, "." without any."""
    if not arguments:
        return "."
    name, _, directory = arguments[0].partition("=")
    if name != "dir" or len(arguments) > 1:
        raise UsageError(
            f"'{plan}' is a plan, whose only parameter is dir=DIRECTORY: leave out '{arguments[-1]}', or name a probe"
        )
    if not Path(directory).is_dir():
        raise UsageError(f"dir={directory}: not a directory; give an existing one")
    return directory


def make_run(plan: Plan, seed: int | None, rated: dict[str, float], priority: str, per_node: PerNode) -> Run:
    """Return the first record of a run of ``plan`` that begins now. Nothing is written or started.

    ``seed``, 0 or more, determines the order of the experiments; None chooses a random one. ``rated`` has the user's
    reference values as ``parse_rated`` returns them, empty for none. ``priority`` is "normal" or "high", and
    ``per_node`` is as in ``Run``, "" for a run that is not measured per node. The arguments are not checked. Raises
    UsageError if the clock of this machine is before 1971 or after 9998.
    """
    return Run(
        schema=SCHEMA,
        version=__version__,
        started=_now(),
        plan=plan,
        seed=random.SystemRandom().randrange(2**32) if seed is None else seed,
        rated=rated,
        priority=priority,
        per_node=per_node,
    )


def _now() -> str:
    """Return the date and time in ISO 8601, in the local time zone, or in UTC if the local one is invalid.

    Raises UsageError if the date cannot be recorded (``check_moment``).
    """
    now = datetime.now(timezone.utc)
    try:
        text = now.astimezone().isoformat(timespec="seconds")
        check_moment(text)
    except ValueError:
        text = now.isoformat(timespec="seconds")
    try:
        check_moment(text)
    except ValueError:
        raise UsageError(
            f"the clock of this machine says {text:.10}: set it, because runs are ordered by time"
        ) from None
    return text


def new_run_file(output: Path | None) -> RunWriter:
    """Create the run file ``output``, or ``nameplate-DATE-TIME.jsonl`` in the current directory, and return its writer.

    Raises FileError if ``output`` exists, or if the file cannot be created.
    """
    if output is not None:
        return RunWriter.create(output)
    return RunWriter.create_numbered(Path(f"nameplate-{datetime.now().strftime('%Y%m%d-%H%M%S')}.jsonl"))


def core_options(peer: str | None, key_file: str | None, blas: str | None) -> list[str]:
    """Return the command-line options of nameplate-core for the values of --peer, --key-file and --blas.

    An argument of None leaves the option out. For security, pass only values from the user's command line, never from a
    plan or a run file. Raises UsageError for a key file without a peer.
    """
    if key_file is not None and peer is None:
        raise UsageError("--key-file needs the peer that has the same key: add --peer HOST")
    options = ["--peer", peer] if peer else []
    options += ["--key-file", key_file] if key_file else []
    options += ["--blas", blas] if blas else []
    return options


def measure_to_file(
    header: Run, writer: RunWriter, earlier: RunFile | None, progress: Progress, environment: RunEnvironment
) -> Report:
    """Measure a plan as ``record_run`` does, append the digest unless the run was interrupted, and return its results.

    The arguments and errors are those of ``record_run``. Raises FileError also if the file cannot be read back.
    """
    record_run(header, writer, earlier, progress, environment)
    run = read_run(writer.path)
    report = summarise(run)
    keep_digest(run, digest_of_report(report), environment.warn)
    return report


def record_run(
    header: Run, writer: RunWriter, earlier: RunFile | None, progress: Progress, environment: RunEnvironment
) -> None:
    """Measure a plan until it is complete or Ctrl-C stops it, and write its records.

    ``header`` is the first record of the run, with its plan. For a new run, ``writer`` writes to a new, empty file, and
    ``earlier`` is None. To resume a run, pass a writer that has reopened its file, the content of the file as
    ``earlier``, and its first record as ``header``; only the missing part is measured. ``progress`` displays what is
    measured. The writer is closed at the end, also after an error. If ``environment.handles_signals`` is True, call
    this function in the main thread: the first Ctrl-C then ends the run after the current sample, which is not an
    error.

    Raises:
        Interrupted: there was a second Ctrl-C.
        FileError: the file cannot be written.
        CoreError: nameplate-core cannot be started.
    """
    control = Control()
    keeper = FileDescriptorCache()

    def start_core(on_record: OnRecord, deadline_s: float) -> CoreProcess:
        return CoreProcess(on_record, environment.nice, keeper, environment.options, environment.launch, deadline_s)

    memory = MemoryKeeper(environment.machine)
    session = Session(
        plan=header.plan,
        seed=header.seed,
        start_core=start_core,
        write=writer.write,
        sync=writer.sync_if_due,
        values_of=lambda m: values_in_round(probe_of(m.outcome.probe), m, environment.machine),
        progress=progress,
        control=control,
        refine=refiner(header.plan),
        decided=partial(_decided, environment.decided, header) if environment.decided else None,
        nodes=environment.nodes,
        memory=memory,
        began=command_began() if environment.began is None else environment.began,
        slowdown=slowdown,
        closing_s=environment.closing_s,
    )
    try:
        if earlier is None:
            writer.write(header)
            for record in environment.reference_values:
                writer.write(record)
        else:
            writer.truncate(earlier.complete_bytes)
            session.take_over(earlier.measurements)
        with _stoppable(control) if environment.handles_signals else nullcontext(), _ended_with_budget(session):
            session.run()
        writer.check_not_replaced()
    finally:
        writer.close()
        keeper.close()
        memory.close()


def keep_digest(run: RunFile, digest: Digest, warn: Callable[[str], object]) -> None:
    """Append the digest of a run to its file, unless the run was interrupted or cut off.

    If the digest cannot be written, ``warn`` is called with the reason, and the run file remains complete without it.
    """
    if run.stop is not None and not run.stop.interrupted:
        try:
            append_digest(run, digest)
        except FileError as error:  # the run is complete without its digest
            warn(str(error))


def _decided(
    decide: Callable[[Report], set[str]], run: Run, header: Header, measurements: Sequence[Measurement]
) -> set[str]:
    """Return the experiments whose verdict is final, from the measurements so far."""
    return decide(summarise(RunFile("", run, [header], list(measurements), stop=None, lost=0, complete_bytes=0)))


@contextmanager
def _ended_with_budget(session: Session) -> Iterator[None]:
    """End the current slice once the time for measuring is over, for example because set-up is slow."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(min(max(0.0, session.time_to_end_s()), threading.TIMEOUT_MAX)):
            if session.time_to_end_s() <= 0:
                session.end_slice()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@contextmanager
def _stoppable(control: Control) -> Iterator[None]:
    """Stop after the current sample at the first Ctrl-C, and at once at the second."""

    def stop(signum: int, frame: FrameType | None) -> None:
        second = control.stopped
        control.request()
        if second:
            raise Interrupted("stopped; the run file keeps the samples taken so far")
        say("\nstopping after the current sample; press Ctrl-C again to stop at once")

    with handled(stop):
        yield
