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
    core_environment,
    how_to_build,
    is_false_alarm,
    mpi_programs,
)
from nameplate.execution.srun import explain
from nameplate.planning.sweep import ProbeInfo
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Limits
from nameplate.records.run_record import SCHEMA, CoreRecord, End, Header, Outcome, Sample

# How much of a failed process's messages is shown, in characters.
LAST_WORDS = 500
# How long a process that is asked to end may take.
CLOSE_DEADLINE_S = START_DEADLINE_S
# How long a launcher may take to end its processes before it is killed.
END_DEADLINE_S = 5.0
# The core's exit code for invalid options, and the prefix of its messages.
_WRONG_USAGE = 2
_OWN = "nameplate-core: "
_decoder = msgspec.json.Decoder(CoreRecord)

T = TypeVar("T")
OnRecord = Callable[[Header | Sample | Outcome], None]


class Core(Protocol):
    """A running nameplate-core, or a substitute in tests."""

    def measure(self, request: Mapping[str, Any], deadline_s: float, on_record: OnRecord) -> Outcome:
        """Send one request (``make_request``), pass each of its records to ``on_record``, and return its outcome.

        The records are samples and, last, the outcome; if several nodes measure the request, each node's outcome comes
        before that of all nodes. Raises CoreDied or CoreHung if there is no outcome within ``deadline_s`` seconds,
        which each node has for itself.
        """

    def close(self, within_s: float) -> None:
        """End the process normally, after its last request, and wait for it, at most about ``within_s`` seconds."""

    def interrupt(self) -> None:
        """Ask the process to end after the current sample, and return without waiting for it."""

    def kill(self) -> None:
        """End the process at once. A process that has ended before is not an error."""


def _ask(launch: Launch, type_: type[T], *options: str) -> T:
    command = launch.command(*options)
    answer = _answer_of(command, launch.start_deadline_s)
    if answer.returncode == _WRONG_USAGE and (own := _own_line(answer.stderr)):
        raise UsageError(own.removeprefix(_OWN))
    if answer.returncode != 0 and not is_false_alarm(answer.stderr):
        words = answer.stderr.strip() or f"exit {answer.returncode}"
        raise CoreDied(f"{shlex.join(command)} failed: {_reason(words)}")
    # A library may print a line before the record.
    line = next((line for line in answer.stdout.splitlines() if line.startswith("{")), answer.stdout)
    try:
        return msgspec.json.decode(clean_json(line.encode()), type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        if isinstance(error, msgspec.ValidationError) and line.startswith("{"):
            what = f"a record that is not valid: {error}"
        else:
            what = f"a line that is not a record: {' '.join(line[:80].split())}" if line.strip() else "nothing"
        raise CoreDied(f"{shlex.join(command)} wrote {what}") from None


def _answer_of(command: Sequence[str], deadline_s: float) -> subprocess.CompletedProcess[str]:
    try:
        return child_process.run(command, deadline_s)
    except OSError as error:
        raise CoreMissing(f"cannot run {command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CoreHung(f"{shlex.join(command)} did not answer within {deadline_s:g} s and was killed") from None


def _reason(words: str) -> str:
    """Return the core's message among those of a launcher, else a summary of Open MPI's help page, else the end."""
    return _own_line(words) or explain(words) or child_process.end_of_text(words, LAST_WORDS)


def _own_line(words: str) -> str:
    return next((line for line in words.splitlines() if line.startswith(_OWN)), "")


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

    ``launch`` None starts the core without MPI. With a launcher, the machine is that of the first rank, and its entry
    ``job`` has the job's ranks and nodes. ``options`` are the options of nameplate-core for the later measurement, such
    as ``["--peer", "node2"]``. Raises UsageError with the core's message if it rejects them, and CoreError if the core
    does not start, does not answer, or has another schema version.
    """
    launch = launch or alone()
    found = _ask(launch, _Description, *options, "--describe", "--machine")
    check_schema(found.schema, str(launch.program))
    if found.machine is None:
        raise CoreMissing(f"{launch.program} does not describe the machine: run {how_to_build()}")
    return CoreDescription({probe.name: probe for probe in found.probes}, found.machine)


def _description(program: Path) -> _Description:
    description = _ask(Launch(program), _Description, "--describe")
    check_schema(description.schema, str(program))
    return description


def describe(launch: Launch | None = None) -> dict[str, ProbeInfo]:
    """Return the probes of a core by their names; ``launch`` None describes the core without MPI.

    The program of ``launch`` is run without its launcher. Raises CoreError if it does not start, does not answer, or
    has another schema version.
    """
    return {probe.name: probe for probe in _description((launch or alone()).program).probes}


def mpi_libraries() -> dict[str, str]:
    """Return the name and version of each MPI build's library, by the name of the build (``openmpi``, ``mpich``).

    The text is empty for a build that does not start or has another schema version. The result is empty if there is no
    MPI build. Raises CoreMissing if there is no nameplate-core.
    """
    return {name: _library_of(path) for name, path in mpi_programs().items()}


def _library_of(program: Path) -> str:
    try:
        return _description(program).mpi
    except CoreError:
        return ""


def describe_all() -> dict[str, ProbeInfo]:
    """Return the probes of all builds of the core, by their names in alphabetical order.

    The description by the build without MPI takes precedence. MPI builds that do not start or have another schema
    version are left out. Raises CoreError if this happens to the build without MPI.
    """
    found: dict[str, ProbeInfo] = {}
    for path in mpi_programs().values():
        # Its MPI library may have been removed, which nameplate doctor reports.
        with suppress(CoreError):
            found |= describe(Launch(path))
    return dict(sorted({**found, **describe()}.items()))


def read_machine(root: str | None = None, launch: Launch | None = None) -> Machine:
    """Return the facts of this machine, or of a recorded machine.

    ``root`` is a directory with the recorded machine's files as below ``/`` (such as ``proc/cpuinfo``). ``launch`` None
    starts the core without MPI. With a launcher, the facts are those of the first rank's machine, and the entry ``job``
    has the job's ranks and nodes. Raises UsageError if ``root`` is not a directory, and CoreError if nameplate-core
    does not start or its facts are invalid.
    """
    options = ["--machine", *(["--root", root] if root else [])]
    return _ask(launch or alone(), Machine, *options)


def check_schema(schema: int, who: str) -> None:
    """Check that a core uses this package's version of the record format.

    ``schema`` is the version that it states, and ``who`` names the program in the message. Raises CoreMissing if the
    version is not ``SCHEMA``.
    """
    if schema != SCHEMA:
        raise CoreMissing(f"{who} uses record schema {schema}, but this nameplate uses {SCHEMA}: run {how_to_build()}")


def make_request(experiment: Experiment, limits: Limits, slice_s: float) -> dict[str, Any]:
    """Return the request that asks the core to measure an experiment for ``slice_s`` seconds, ready to encode as JSON.

    The warm-up is at most as long as the slice. The length of a sample is that of ``limits``, else that of the
    experiment; without either the core calibrates it. The interval of a series is that of the experiment, else that of
    ``limits``.
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
    """A nameplate-core process, which is a ``Core``. As a context manager it is killed at the end of the context."""

    def __init__(
        self, on_record: OnRecord, nice: int = 0, keeper: FileDescriptorCache | None = None,
        options: Sequence[str] = (), launch: Launch | None = None, max_start_s: float = math.inf,
    ) -> None:  # fmt: skip
        """Start the process and pass its header, the first record, to ``on_record``.

        ``nice`` is its scheduling priority from -20 (highest) to 19, and 0 leaves it as it is. ``keeper`` takes over
        the files that the process creates, for the next process; None discards them. With a launcher, no files are
        taken over, and ``nice`` applies to the launcher. ``options`` are further options of nameplate-core.
        ``launch`` None starts the core without MPI. The process has the time to start that its launch allows, but at
        most ``max_start_s``. Raises CoreError if the process does not start or its header is
        wrong, and PermissionError if ``nice`` is not permitted.
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
            on_record(self._read_header(min(max_start_s, self._launch.start_deadline_s)))
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
            own = [] if self._launch.launcher else ["--keeper", str(lent.fileno())]
            try:
                return child_process.start(
                    self._launch.command(*own, *options),
                    streams=Streams(stdin=subprocess.PIPE),
                    environment=core_environment(),
                    inherited=[lent.fileno()],
                    # A launcher must end its processes on other nodes, which it cannot do after SIGKILL.
                    death_signal=signal.SIGTERM if self._launch.launcher else signal.SIGKILL,
                )
            except OSError as error:
                raise CoreMissing(f"cannot run {self._launch.command()[0]}: {error.strerror}") from None

    def _read_header(self, deadline_s: float) -> Header:
        header = self._read(time.monotonic() + deadline_s)
        if not isinstance(header, Header):
            raise CoreMissing(f"the first record of nameplate-core is not a header: run {how_to_build()}")
        check_schema(header.schema, "nameplate-core")
        return header

    def measure(self, request: Mapping[str, Any], deadline_s: float, on_record: OnRecord) -> Outcome:
        """Send a request (``make_request``), pass each sample and outcome to ``on_record``, and return the outcome.

        If several nodes measure the request, ``on_record`` gets the outcome of each node, and the returned outcome is
        that of all nodes. Each node has ``deadline_s`` seconds, counted from the outcome of the previous one. Raises
        CoreDied or CoreHung; the process has ended then.
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
        """Ask the process to end after the current sample. It waits for nothing, so a signal handler may call it.

        A process that has ended before is not an error.
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
        """End the process at once, close its streams, and take its files back. It does nothing if that was done before.

        A launcher has 5 s to end its processes on other nodes before it is killed.
        """
        if self._is_gone:
            return
        self._is_gone = True
        if self._process.returncode is None and self._launch.launcher:
            # It must end its processes on other nodes, which it cannot do after SIGKILL.
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
            raise CoreDied(f"nameplate-core wrote {error}, which is not a record") from None
        if line is None:
            raise self._died()
        return line
