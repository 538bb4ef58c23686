"""Start nameplate-core, send it requests, and read its records."""

from __future__ import annotations

import math
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from nameplate.control_characters import clean_json
from nameplate.errors import CoreDied, CoreError, CoreHung, CoreMissing, UsageError
from nameplate.execution import child_process
from nameplate.execution.child_process import LineTooLong, Output, Streams
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import (
    START_DEADLINE_S,
    Launch,
    alone,
    how_to_build,
    is_false_alarm,
    mpi_programs,
)
from nameplate.execution.peer_key import core_environment
from nameplate.execution.srun import explain
from nameplate.planning.sweep import ProbeInfo
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Limits
from nameplate.records.run_record import SCHEMA, CoreRecord, End, Header, Outcome, Sample

# How much of a failed process's messages is shown, in characters.
STDERR_TAIL_CHARACTERS = 500
# How long a process that is asked to end may take.
CLOSE_DEADLINE_S = START_DEADLINE_S
# How long a launcher may take to end its processes before it is killed.
END_DEADLINE_S = 5.0
# The core's exit code for invalid options, and the prefix of its messages.
_WRONG_USAGE = 2
_PREFIX = "nameplate-core: "
_decoder = msgspec.json.Decoder(CoreRecord)

T = TypeVar("T")
OnRecord = Callable[[Header | Sample | Outcome], None]


class Core(Protocol):
    """A running nameplate-core, or a substitute in tests."""

    def measure(self, request: Mapping[str, Any], deadline_s: float, on_record: OnRecord) -> Outcome:
        """Send one request (``make_request``), pass each of its records to ``on_record``, and return its outcome.

        The records are samples and, last, the outcome; if several nodes measure the request, the outcome of each node
        comes before the outcome of all nodes together. Raises CoreDied if the process ends without an outcome, and
        CoreHung if there is none within ``deadline_s`` seconds. If several nodes measure, each has this time.
        """

    def close(self, within_s: float) -> None:
        """End the process normally after its last request, and wait up to about ``within_s`` seconds for its end."""

    def interrupt(self) -> None:
        """Ask the process to end after the current sample, and return without waiting for it."""

    def kill(self) -> None:
        """End the process at once. A process that has ended before is not an error."""


def _ask(launch: Launch, type_: type[T], *options: str) -> T:
    command = launch.command(*options)
    answer = _answer_of(command, launch.start_deadline_s)
    if answer.returncode == _WRONG_USAGE and (usage_error := _core_line(answer.stderr)):
        raise UsageError(usage_error.removeprefix(_PREFIX))
    if answer.returncode != 0 and not is_false_alarm(answer.stderr):
        message = answer.stderr.strip() or f"exit {answer.returncode}"
        raise CoreDied(f"{shlex.join(command)} failed: {_reason(message)}")
    # A library may print a line before the record.
    line = next((line for line in answer.stdout.splitlines() if line.startswith("{")), answer.stdout)
    try:
        return msgspec.json.decode(clean_json(line.encode()), type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        if isinstance(error, msgspec.ValidationError) and line.startswith("{"):
            reply = f"a record that is not valid: {error}"
        else:
            reply = f"a line that is not a record: {' '.join(line[:80].split())}" if line.strip() else "nothing"
        raise CoreDied(f"{shlex.join(command)} wrote {reply}") from None


def _answer_of(command: Sequence[str], deadline_s: float) -> subprocess.CompletedProcess[str]:
    try:
        return child_process.run(command, deadline_s)
    except OSError as error:
        raise CoreMissing(f"cannot run {command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CoreHung(f"{shlex.join(command)} did not answer within {deadline_s:g} s and was killed") from None


def _reason(stderr: str) -> str:
    """Return the core's message among those of a launcher, else a summary of Open MPI's help page, else the end."""
    return _core_line(stderr) or explain(stderr) or child_process.end_of_text(stderr, STDERR_TAIL_CHARACTERS)


def _core_line(stderr: str) -> str:
    return next((line for line in stderr.splitlines() if line.startswith(_PREFIX)), "")


class _Description(msgspec.Struct):
    schema: int
    probes: list[ProbeInfo]
    mpi: str = ""
    machine: Machine | None = None


@dataclass(frozen=True)
class CoreDescription:
    """The description of a core: its probes by their names, and the facts of the machine that it runs on."""

    probes: dict[str, ProbeInfo]
    machine: Machine


def describe_core(launch: Launch | None = None, options: Sequence[str] = ()) -> CoreDescription:
    """Return the probes and the machine of a core, from a single process.

    With ``launch`` None the core is started without MPI. With a launcher, the machine is the one on which the first
    rank runs, and ``Machine.job`` has the job's ranks and nodes. ``options`` are the options of nameplate-core for the
    later measurement, such as ``["--peer", "node2"]``. Raises UsageError with the core's message if the core rejects
    the options, and CoreError if the core does not start, does not answer, or has another schema version.
    """
    launch = launch or alone()
    description = _ask(launch, _Description, *options, "--describe", "--machine")
    check_schema(description.schema, str(launch.program))
    if description.machine is None:
        raise CoreMissing(
            f"{launch.program} did not describe the machine, so it is damaged or out of date: run {how_to_build()}"
        )
    return CoreDescription({probe.name: probe for probe in description.probes}, description.machine)


def _description(program: Path) -> _Description:
    description = _ask(Launch(program), _Description, "--describe")
    check_schema(description.schema, str(program))
    return description


def describe(launch: Launch | None = None) -> dict[str, ProbeInfo]:
    """Return the probes of a core by their names; with ``launch`` None, of the core without MPI.

    The program of ``launch`` is run without its launcher. Raises CoreError if it does not start, does not answer, or
    has another schema version.
    """
    return {probe.name: probe for probe in _description((launch or alone()).program).probes}


def mpi_libraries() -> dict[str, str]:
    """Return the name and version of each MPI build's library, by the name of the build (``openmpi``, ``mpich``).

    The value is "" for a build that does not start or has another schema version. The dictionary is empty if there is
    no MPI build. Raises CoreMissing if there is no nameplate-core.
    """
    return {name: _library_of(path) for name, path in mpi_programs().items()}


def _library_of(program: Path) -> str:
    try:
        return _description(program).mpi
    except CoreError:
        return ""


def describe_all() -> dict[str, ProbeInfo]:
    """Return the probes of all builds of the core, by their names in alphabetical order.

    If several builds have a probe, the description from the build without MPI takes precedence. MPI builds that do not
    start or have another schema version are left out. Raises CoreError if the build without MPI does not start or has
    another schema version.
    """
    probes: dict[str, ProbeInfo] = {}
    for path in mpi_programs().values():
        # Its MPI library may have been removed, which nameplate doctor reports.
        with suppress(CoreError):
            probes |= describe(Launch(path))
    return dict(sorted({**probes, **describe()}.items()))


def read_machine(root: str | None = None, launch: Launch | None = None) -> Machine:
    """Return the facts of this machine, or of a recorded machine.

    ``root`` is a directory with copies of the recorded machine's files under the same paths (such as ``proc/cpuinfo``);
    None reads this machine. With ``launch`` None the core is started without MPI. With a launcher, the facts are those
    of the first rank's machine, and ``Machine.job`` has the job's ranks and nodes. Raises UsageError if ``root`` is not
    a directory, and CoreError if nameplate-core does not start or its facts are invalid.
    """
    options = ["--machine", *(["--root", root] if root else [])]
    return _ask(launch or alone(), Machine, *options)


def check_schema(schema: int, who: str) -> None:
    """Check that a core uses this package's version of the record format.

    ``schema`` is the version that the core reports, and ``who`` names the program in the error message. Raises
    CoreMissing if the version is not ``SCHEMA``.
    """
    if schema != SCHEMA:
        raise CoreMissing(f"{who} uses record schema {schema}, but this nameplate uses {SCHEMA}: run {how_to_build()}")


def make_request(experiment: Experiment, limits: Limits, slice_s: float) -> dict[str, Any]:
    """Return the request that asks the core to measure an experiment for ``slice_s`` seconds, ready to encode as JSON.

    The warm-up is at most as long as the slice. The length of a sample is ``limits.sample_s``, else
    ``experiment.sample_s``; if both are None, the core calibrates the length. The interval of a series is
    ``experiment.interval_s``, else ``limits.interval_s``.
    """
    request: dict[str, Any] = {
        "id": experiment.id,
        "probe": experiment.probe,
        "params": experiment.params,
        "slice_s": slice_s,
        "warmup_s": min(limits.warmup_s, slice_s),
        "max_samples": limits.samples,
        "interval_s": experiment.interval_s or limits.interval_s,
    }
    sample_s = limits.sample_s or experiment.sample_s
    if sample_s is not None:
        request["sample_s"] = sample_s
    return request


class CoreProcess:
    """A nameplate-core process, which implements ``Core``. The end of its context (``with``) kills the process."""

    def __init__(
        self, on_record: OnRecord, nice: int = 0, keeper: FileDescriptorCache | None = None,
        options: Sequence[str] = (), launch: Launch | None = None, max_start_s: float = math.inf,
    ) -> None:  # fmt: skip
        """Start the process and pass its header, the first record, to ``on_record``.

        ``nice`` is the scheduling priority of the process from -20 (highest) to 19; 0 inherits the priority of this
        process. ``keeper`` takes over the files that the process creates, for the next process; None discards them.
        With a launcher, no files are taken over, and ``nice`` applies to the launcher. ``options`` are further options
        of nameplate-core. With ``launch`` None the core is started without MPI. The process must start within
        ``Launch.start_deadline_s``, and within ``max_start_s`` seconds. Raises CoreError if the process does not start
        or its header is invalid, and PermissionError if ``nice`` is not permitted.
        """
        self._launch = launch or alone()
        self._keeper = keeper or FileDescriptorCache()
        self._owns_keeper = keeper is None
        self._is_gone = False
        self._process = self._start(options)
        self._output = Output(self._process)
        try:
            if nice:
                os.setpriority(os.PRIO_PROCESS, self._process.pid, nice)
            header = self._read(time.monotonic() + min(max_start_s, self._launch.start_deadline_s))
            if not isinstance(header, Header):
                raise CoreMissing(f"the first record of nameplate-core is not a header: run {how_to_build()}")
            check_schema(header.schema, "nameplate-core")
            on_record(header)
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> CoreProcess:
        """Return the process itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process unless it has ended."""
        self.kill()

    def _start(self, options: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._keeper.lend() as lent:
            # A launcher does not pass open files on.
            keeper_options = [] if self._launch.launcher else ["--keeper", str(lent.fileno())]
            try:
                return child_process.start(
                    self._launch.command(*keeper_options, *options),
                    streams=Streams(stdin=subprocess.PIPE),
                    environment=core_environment(),
                    inherited=[lent.fileno()],
                    # A launcher must end its processes on other nodes, which it cannot do after SIGKILL.
                    death_signal=signal.SIGTERM if self._launch.launcher else signal.SIGKILL,
                )
            except OSError as error:
                raise CoreMissing(f"cannot run {self._launch.command()[0]}: {error.strerror}") from None

    def measure(self, request: Mapping[str, Any], deadline_s: float, on_record: OnRecord) -> Outcome:
        """Send a request (``make_request``), pass each sample and outcome to ``on_record``, and return the outcome.

        If several nodes measure the request, ``on_record`` gets the outcome of each node, and the returned outcome is
        the outcome of all nodes together. Each node has ``deadline_s`` seconds, counted from the outcome of the
        previous one. Raises CoreDied if the process ends or writes an invalid record before the outcome, and CoreHung
        if there is no outcome at the deadline. After either error, the process has ended.
        """
        assert self._process.stdin is not None
        deadline = time.monotonic() + deadline_s
        try:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        while True:
            record = self._read(deadline)
            if isinstance(record, Sample | Outcome):
                on_record(record)
            if isinstance(record, Outcome):
                if record.node is msgspec.UNSET:
                    return record
                # Each node has this time, so that a dead node is noticed after its own turn.
                deadline = time.monotonic() + deadline_s

    def close(self, within_s: float = CLOSE_DEADLINE_S) -> None:
        """Close the input of the process and wait for its end, at most ``within_s`` seconds; then kill it.

        No error is raised if the process dies or does not answer.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            deadline = time.monotonic() + within_s
            while not isinstance(self._read(deadline), End):
                pass
            self._process.wait(min(END_DEADLINE_S, within_s))
        except (CoreDied, CoreHung, BrokenPipeError, subprocess.TimeoutExpired):
            pass
        self.kill()

    def interrupt(self) -> None:
        """Ask the process to end after the current sample.

        The method does not wait, so that a signal handler may call it. It does nothing if the process has ended before.
        """
        if self._process.returncode is not None:
            return
        if not self._launch.launcher:
            # The signal may arrive while close() waits for a process that has just ended.
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGINT)
            return
        # Launchers treat signals differently, but all of them forward standard input.
        assert self._process.stdin is not None
        with suppress(OSError):
            os.write(self._process.stdin.fileno(), b"stop\n")

    def kill(self) -> None:
        """End the process at once, close its streams, and take its files back; a second call does nothing.

        A launcher has 5 s to end its processes on other nodes before it is killed.
        """
        if self._is_gone:
            return
        self._is_gone = True
        if self._process.returncode is None and self._launch.launcher:
            # The launcher must end its processes on other nodes, which it cannot do after SIGKILL.
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_DEADLINE_S)
        self._output.close()
        child_process.end(self._process)
        self._keeper.take_back()
        if self._owns_keeper:
            self._keeper.close()

    def _died(self) -> CoreDied:
        """Return an error that says how the process ended, after it has closed its output."""
        try:
            code = self._process.wait(END_DEADLINE_S)
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        except subprocess.TimeoutExpired:
            how = "closed its output and did not end"
        reason = _reason(self._output.read_last_messages())
        self.kill()
        return CoreDied(f"nameplate-core {how}" + (f": {reason}" if reason else ""))

    def _read(self, deadline: float) -> CoreRecord:
        while True:
            line = self._next_line(deadline)
            # Some launchers write messages to standard output, among the records.
            if self._launch.launcher and not line.startswith(b"{"):
                self._output.messages.add(line + b"\n")
                continue
            try:
                record: CoreRecord = _decoder.decode(clean_json(line))
            except (msgspec.DecodeError, RecursionError) as error:
                self.kill()
                text = line[:80].decode(errors="replace")
                raise CoreDied(
                    f"nameplate-core wrote a line that is not a record of schema {SCHEMA}: {error}: {text}"
                ) from None
            return record

    def _next_line(self, deadline: float) -> bytes:
        try:
            line = self._output.line(deadline)
        except TimeoutError:
            lines = self._output.messages.text().splitlines()
            self.kill()
            last = f"; its last message: {lines[-1]}" if lines else ""
            raise CoreHung(f"nameplate-core did not answer before its deadline and was killed{last}") from None
        except LineTooLong as error:
            self.kill()
            raise CoreDied(f"nameplate-core wrote {error} instead of a record") from None
        if line is None:
            raise self._died()
        return line
