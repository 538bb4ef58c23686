"""The measuring process: starts nameplate-core, hands it requests, reads its records."""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from nameplate.errors import CoreDied, CoreHung, CoreMissing, UsageError
from nameplate.keeper import Keeper
from nameplate.launch import START_DEADLINE_S, Launch, alone, how_to_build, mpi_programs
from nameplate.model import SCHEMA, CoreRecord, End, Experiment, Header, Limits, Outcome, Sample
from nameplate.srun import explain
from nameplate.sweep import ProbeInfo

# What is shown of what a process that failed has said.
LAST_WORDS = 500
# How long a launcher may take to end its processes before it is killed itself.
END_DEADLINE_S = 5.0
_decoder = msgspec.json.Decoder(CoreRecord)

T = TypeVar("T")
OnRecord = Callable[[Header | Sample | Outcome], None]


class Core(Protocol):
    """A running nameplate-core, or a test's stand-in for one."""

    def measure(self, request: Mapping[str, Any], deadline_s: float, on_record: OnRecord) -> Outcome:
        """Hands over one request and every record up to its outcome."""

    def close(self) -> None:
        """Ends the process in order."""

    def interrupt(self) -> None:
        """Asks it to end after the present sample."""

    def kill(self) -> None:
        """Ends it now."""


def _ask(launch: Launch, type_: type[T], *options: str) -> T:
    command = launch.command(*options)
    try:
        answer = subprocess.run(
            command, capture_output=True, timeout=launch.start_deadline_s, check=True, stdin=subprocess.DEVNULL
        )
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode(errors="replace").strip() or f"exit {error.returncode}"
        raise CoreDied(f"{shlex.join(command)} failed: {_reason(words)}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CoreMissing(f"{shlex.join(command)} could not be run: {error}") from None
    try:
        return msgspec.json.decode(answer.stdout, type=type_)
    except msgspec.DecodeError:
        words = answer.stdout[:80].decode(errors="replace")
        raise CoreDied(f"{shlex.join(command)} wrote what is no record: {words}") from None


def _reason(words: str) -> str:
    """The core's own line among what the launcher says about it, or Open MPI's page in a line, or the last words."""
    own = [line for line in words.splitlines() if line.startswith("nameplate-core: ")]
    return own[0] if own else explain(words) or words[-LAST_WORDS:]


class _Description(msgspec.Struct):
    schema: int
    probes: list[ProbeInfo]
    mpi: str = ""


def check_options(options: Sequence[str]) -> None:
    """Raises UsageError with the core's own words where it cannot take them."""
    command = alone().command(*options, "--describe")
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=START_DEADLINE_S)
    if answer.returncode != 0:
        raise UsageError(answer.stderr.strip().removeprefix("nameplate-core: "))


def _description(program: Path) -> _Description:
    description = _ask(Launch(program), _Description, "--describe")
    check_schema(description.schema, str(program))
    return description


def describe(launch: Launch | None = None) -> dict[str, ProbeInfo]:
    """Every probe that a core has, by name; default: the one by itself. Raises CoreError."""
    return {probe.name: probe for probe in _description((launch or alone()).program).probes}


def mpi_libraries() -> dict[str, str]:
    """What each MPI build's library calls itself, by the MPI's name. Raises CoreError."""
    return {name: _description(path).mpi for name, path in mpi_programs().items()}


def describe_all() -> dict[str, ProbeInfo]:
    """Every probe that any of the cores here has. Raises CoreError."""
    builds = [Launch(path) for path in mpi_programs().values()]
    return {name: probe for launch in (*builds, alone()) for name, probe in sorted(describe(launch).items())}


def read_machine(root: str | None = None, launch: Launch | None = None) -> dict[str, Any]:
    """What nameplate-core knows about this machine, or about one recorded below ``root``. Raises CoreError.

    With a launcher it is the first rank's machine, and the job's ranks and nodes are under ``job``.
    """
    options = ["--machine", *(["--root", root] if root else [])]
    return _ask(launch or alone(), dict[str, Any], *options)


def check_schema(schema: int, who: str) -> None:
    """Raises CoreMissing when the core speaks another version of the contract."""
    if schema != SCHEMA:
        raise CoreMissing(f"{who} speaks record schema {schema}, this nameplate {SCHEMA}: run {how_to_build()}")


def make_request(experiment: Experiment, limits: Limits, slice_s: float) -> dict[str, Any]:
    """What is asked of the core for one experiment in one round."""
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
    """One nameplate-core process: its header is read when it starts."""

    def __init__(
        self, on_record: OnRecord, nice: int = 0, keeper: Keeper | None = None, options: Sequence[str] = (),
        launch: Launch | None = None,
    ) -> None:  # fmt: skip
        """Files that it makes are kept by ``keeper`` for the next one; ``options`` are further ones of nameplate-core.

        Raises CoreError when it does not start.
        """
        self._launch = launch or alone()
        self._keeper = keeper or Keeper()
        with self._keeper.lend() as lent:
            # A launcher hands neither an open file nor its own death on; its processes end with their input.
            own = [] if self._launch.launcher else ["--die-with-parent", "--keeper", str(lent.fileno())]
            self._process = subprocess.Popen(
                self._launch.command(*own, *options),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C reaches nameplate only, which ends the core in order
                pass_fds=[lent.fileno()],
            )
        self._owns_keeper = keeper is None
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._buffer = b""
        self._launchers_words = ""
        try:
            if nice:
                os.setpriority(os.PRIO_PROCESS, self._process.pid, nice)
            on_record(self._read_header())
        except BaseException:
            self.kill()
            raise

    def _read_header(self) -> Header:
        header = self._read(time.monotonic() + self._launch.start_deadline_s)
        if not isinstance(header, Header):
            raise CoreMissing(f"nameplate-core did not begin with a header: run {how_to_build()}")
        check_schema(header.schema, "nameplate-core")
        return header

    def measure(self, request: Mapping[str, Any], deadline_s: float, on_record: OnRecord) -> Outcome:
        """Raises CoreDied or CoreHung; the process is gone then."""
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
                # The next node has as long: many nodes must not be waited for as long as all of them together.
                deadline = time.monotonic() + deadline_s

    def close(self) -> None:
        """Closes its input and waits for its end record; kills it if it does not come."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            while not isinstance(self._read(time.monotonic() + START_DEADLINE_S), End):
                pass
        except (CoreDied, CoreHung, BrokenPipeError):
            self.kill()
        self._reap()

    def interrupt(self) -> None:
        """It ends after the present sample. Called from a signal handler: it waits for nothing."""
        if self._process.returncode is not None:
            return
        if not self._launch.launcher:
            # It may be gone already, while its end is being waited for.
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGINT)
            return
        # Launchers understand signals as they like, but all of them pass standard input on.
        assert self._process.stdin is not None
        with suppress(OSError):
            os.write(self._process.stdin.fileno(), b"stop\n")

    def kill(self) -> None:
        """It ends now, and its streams are closed. Harmless when it has ended before."""
        if self._process.returncode is None:
            self._end()
        self._reap()

    def _end(self) -> None:
        if self._launch.launcher:
            # It must end its processes on other nodes, which it cannot once it is killed.
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_DEADLINE_S)
        self._process.kill()

    def _reap(self) -> None:
        self._process.wait()
        self._selector.close()
        self._keeper.take_back()
        if self._owns_keeper:
            self._keeper.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _died(self) -> CoreDied:
        code = self._process.wait()
        assert self._process.stderr is not None
        words = self._launchers_words + self._process.stderr.read().decode(errors="replace").strip()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self._reap()
        return CoreDied(f"nameplate-core {how}" + (f": {words[-LAST_WORDS:]}" if words else ""))

    def _read(self, deadline: float) -> CoreRecord:
        while b"\n" not in self._buffer:
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                self.kill()
                raise CoreHung("nameplate-core did not answer before its deadline and was killed")
            assert self._process.stdout is not None
            chunk = os.read(self._process.stdout.fileno(), 1 << 20)
            if not chunk:
                raise self._died()
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        if self._launch.launcher and not line.startswith(b"{"):
            # Some launchers say why they ended the job where the records go.
            self._launchers_words += line.decode(errors="replace") + "\n"
            return self._read(deadline)
        try:
            record: CoreRecord = _decoder.decode(line)
        except msgspec.DecodeError as error:
            self.kill()
            text = line[:80].decode(errors="replace")
            raise CoreDied(f"nameplate-core wrote what is no record of schema {SCHEMA}: {error}: {text}") from None
        return record
