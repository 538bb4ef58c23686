"""Start programs that do not outlive nameplate, and read their output without ever blocking them."""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nameplate.interruption import deferred

# prctl(2).
_PR_SET_PDEATHSIG = 1
# Loaded here, because a child must not load a library between fork and exec.
_prctl = ctypes.CDLL(None, use_errno=True).prctl

# The parts of a program's messages that are kept: the beginning often has the reason, the end how it exited.
_HEAD_BYTES = 4096
_TAIL_BYTES = 4096
# Room for a record with all pairs of two thousand nodes.
_MAX_LINE_BYTES = 64 << 20
_CHUNK_BYTES = 1 << 16
# Far below 24 days, the longest wait that the kernel accepts.
_MAX_WAIT_S = 3600.0
# How long to read messages after a program has ended: they are in the pipe already, unless a child still holds it.
_STDERR_WAIT_S = 1.0


class Streams(NamedTuple):
    """The standard streams of a program, as file descriptors or constants of subprocess.

    Use a file descriptor, ``subprocess.PIPE`` or ``subprocess.DEVNULL`` for each. By default the program has no input,
    and its standard output and error are pipes to this process.
    """

    stdin: int = subprocess.DEVNULL
    stdout: int = subprocess.PIPE
    stderr: int = subprocess.PIPE


_OUTPUT_ONLY = Streams()


def start(
    command: Sequence[str],
    *,
    streams: Streams = _OUTPUT_ONLY,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    inherited: Sequence[int] = (),
    death_signal: signal.Signals = signal.SIGKILL,
) -> subprocess.Popen[bytes]:
    """Start a program in its own session and process group, and return its process, which ``end`` must end.

    ``command`` has the program and its arguments, and ``streams`` its standard streams. ``folder`` is its current
    directory; None uses the current directory of this process. ``environment`` has variables that are added to the
    environment of this process. ``inherited`` are file descriptors that stay open in the program. The kernel sends
    ``death_signal`` to the program, but not to its children, when the thread that called this function ends, even by
    SIGKILL (prctl(2), PR_SET_PDEATHSIG). Raises OSError if the program cannot be run.
    """
    parent = os.getpid()

    def die_with_parent() -> None:
        _prctl(_PR_SET_PDEATHSIG, death_signal)
        if os.getppid() != parent:
            # The parent ended before the call of prctl.
            os._exit(1)

    process: subprocess.Popen[bytes] | None = None
    try:
        # Interrupted between fork and the assignment, nobody would know the process, and its children would remain.
        with deferred():
            process = subprocess.Popen(
                command, cwd=folder, env={**os.environ, **(environment or {})}, stdin=streams.stdin,
                stdout=streams.stdout, stderr=streams.stderr, pass_fds=inherited, start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509 (it takes no lock that another thread may hold at the fork)
            )  # fmt: skip
    except BaseException:
        if process is not None:
            end(process)
        raise
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program started by ``start`` with all processes of its group, wait for it, and close its streams.

    It is not an error if the program has ended before; remaining processes of its group are killed in this case, too.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()


class LineTooLong(Exception):
    """A line of a program's output is longer than 64 MiB, more than any record."""


def run(command: Sequence[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run a program without input until it ends, and return its exit code, standard output and standard error.

    Both outputs are text, in which invalid UTF-8 is replaced. An exit code other than 0 is not an error. For a
    program that a signal ended, it is the negative number of the signal. Remaining processes of the program's group are
    killed. Raises OSError if the program cannot be run, and subprocess.TimeoutExpired, after killing it, if it does not
    end within ``timeout_s``.
    """
    process = start(command)
    try:
        output, messages = process.communicate(timeout=timeout_s)
    finally:
        end(process)
    return subprocess.CompletedProcess(
        command, process.returncode, output.decode(errors="replace"), messages.decode(errors="replace")
    )


def end_of_text(text: str, max_chars: int) -> str:
    """Return the end of a text on one line: whole words, at most ``max_chars`` characters, after ``...`` if it is cut.

    White space is replaced by single spaces. A last word that alone is longer than ``max_chars`` is cut inside the
    word.
    """
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    end = line[-(max_chars - len("... ")) :]
    return "... " + (end.partition(" ")[2] or end)


class Excerpt:
    """Keeps the first and the last 4 KiB of a text of any length."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._is_cut = False

    def add(self, data: bytes) -> None:
        """Append ``data`` to the text, and drop all bytes except the first and the last 4 KiB."""
        room = _HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        self._is_cut |= len(self._tail) > _TAIL_BYTES
        del self._tail[:-_TAIL_BYTES]

    def text(self) -> str:
        """Return the kept text, decoded as UTF-8 and without white space at its ends.

        If the whole text has more than 8 KiB, a line ``...`` separates its first and its last 4 KiB. Invalid bytes are
        replaced.
        """
        return (self._head + (b"\n...\n" if self._is_cut else b"") + self._tail).decode(errors="replace").strip()


class Output:
    """Reads a program started by ``start``: lines of standard output, and an excerpt of standard error (``messages``).

    Both pipes are read together. A program that fills one therefore never blocks while the other one is read. The
    process that the constructor takes must have both streams as pipes. The pipes are read only during
    calls of ``line`` and ``read_last_messages``.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.messages = Excerpt()
        self._stdout = process.stdout.fileno()
        self._lines: deque[bytes] = deque()
        self._partial: list[bytes] = []
        self._partial_bytes = 0
        self._is_at_end = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(process.stderr.fileno(), selectors.EVENT_READ)

    def line(self, deadline: float) -> bytes | None:
        """Return the next line of standard output without its newline, or None after the last one.

        Text after the last newline is dropped. ``deadline`` is a time of ``time.monotonic``. Raises TimeoutError if no
        line is complete at the deadline, and LineTooLong for a line of more than 64 MiB.
        """
        while not self._lines and not self._is_at_end:
            self._read(deadline)
        return self._lines.popleft() if self._lines else None

    def _read(self, deadline: float) -> None:
        left_s = deadline - time.monotonic()
        events = self._selector.select(min(max(0.0, left_s), _MAX_WAIT_S))
        if left_s <= 0 and not any(key.fd == self._stdout for key, _ in events):
            raise TimeoutError
        for key, _ in events:
            data = os.read(key.fd, _CHUNK_BYTES)
            if not data:
                self._selector.unregister(key.fd)
            if key.fd != self._stdout:
                self.messages.add(data)
            elif data:
                self._split(data)
            else:
                self._is_at_end = True

    def _split(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        if lines:
            self._lines.append(b"".join([*self._partial, lines[0]]))
            self._lines.extend(lines[1:])
            self._partial, self._partial_bytes = [], 0
        self._partial.append(rest)
        self._partial_bytes += len(rest)
        if self._partial_bytes > _MAX_LINE_BYTES:
            raise LineTooLong(f"a line of more than {_MAX_LINE_BYTES >> 20} MiB")

    def read_last_messages(self) -> str:
        """Read the rest of standard error, and return its excerpt.

        Call it after the program has ended. It waits at most 1 s for the end of both pipes, which a child of the
        program may still hold.
        """
        deadline = time.monotonic() + _STDERR_WAIT_S
        while self._selector.get_map() and time.monotonic() < deadline:
            with suppress(TimeoutError, LineTooLong):
                self._read(deadline)
        return self.messages.text()

    def close(self) -> None:
        """Stop reading. The pipes stay open, since they belong to the process; ``end`` closes them."""
        self._selector.close()
