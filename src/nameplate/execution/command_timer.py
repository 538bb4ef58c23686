"""Time programs that the user gives, with a small process that starts them."""

from __future__ import annotations

import math
import shlex
import subprocess
from collections.abc import Sequence

import msgspec

from nameplate.control_characters import clean_json
from nameplate.errors import CommandFailed, CoreDied, CoreMissing, UsageError
from nameplate.execution import child_process
from nameplate.execution.child_process import Output, Streams
from nameplate.execution.launch import core_path, how_to_build

_MESSAGE_CHARACTERS = 300


class CommandTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The time and memory of one run of a program.

    ``elapsed_s`` is the time from just before the program is executed to its end, and ``cpu_user_s`` and
    ``cpu_system_s`` the CPU time of the program and of the processes that it waited for, in seconds.
    ``max_memory_bytes`` is the largest resident memory of any of these processes. ``exit_code`` is 128 plus the number
    of a signal that ended the program. ``problem`` says why the program did not start, "" if it did, and ``messages``
    is the end of what it wrote to standard error, "" if the exit code is 0.
    """

    elapsed_s: float
    cpu_user_s: float
    cpu_system_s: float
    max_memory_bytes: int
    exit_code: int
    problem: str
    messages: str

    @property
    def cpu_s(self) -> float:
        """Return the user and system CPU time together in seconds."""
        return self.cpu_user_s + self.cpu_system_s


class CommandTimer:
    """Times programs one after the other. It is a context manager: at its end, a program that still runs is killed.

    nameplate-core starts the programs, not this process, since the kernel counts what the process that starts a program
    holds as part of the program's peak memory.
    """

    def __enter__(self) -> CommandTimer:
        """Start the process that runs the programs. Raises CoreMissing if nameplate-core is missing or cannot run."""
        path = core_path()
        try:
            self._process = child_process.start([str(path), "commands"], streams=Streams(stdin=subprocess.PIPE))
        except OSError as error:
            raise CoreMissing(f"cannot run {path}: {error.strerror}") from None
        self._output = Output(self._process)
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process and the program that it runs."""
        child_process.end(self._process)
        self._output.close()

    def run(self, argv: Sequence[str], *, may_fail: bool = False) -> CommandTimes:
        """Run a program with its arguments until it ends, and return what it took.

        The program is searched on PATH. It has no input, and its output is dropped. With ``may_fail`` its exit code may
        be any.

        Raises:
            UsageError: the program cannot be executed.
            CommandFailed: its exit code is not 0.
            CoreDied: nameplate-core ended.
            CoreMissing: nameplate-core is of another version and cannot run programs.
        """
        assert self._process.stdin is not None
        line = None
        try:
            self._process.stdin.write(msgspec.json.encode({"argv": argv}) + b"\n")
            self._process.stdin.flush()
            line = self._output.line(math.inf)
        except BrokenPipeError:
            pass
        if line is None:
            message = child_process.end_of_text(self._output.read_last_messages(), _MESSAGE_CHARACTERS)
            raise CoreDied(f"nameplate-core ended while it ran {shlex.join(argv)}: {message or 'without a message'}")
        try:
            times = msgspec.json.decode(clean_json(line), type=CommandTimes)
        except msgspec.DecodeError:
            raise CoreMissing(f"{core_path()} cannot time commands: run {how_to_build()}") from None
        if times.problem:
            raise UsageError(f"cannot run {argv[0]}: {times.problem}")
        if times.exit_code and not may_fail:
            said = child_process.end_of_text(times.messages, _MESSAGE_CHARACTERS)
            raise CommandFailed(f"{shlex.join(argv)} exited with {times.exit_code}{f': {said}' if said else ''}")
        return times
