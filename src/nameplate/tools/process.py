"""Run external tools: identify them, give them a folder, CPUs, a server and a deadline, and end them."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from nameplate.errors import ToolFailed
from nameplate.execution import child_process
from nameplate.execution.child_process import Streams
from nameplate.execution.launch import is_false_alarm
from nameplate.tools.reference_tool import LOOPBACK, FoundProgram, ReferenceTool

# STREAM has no option that prints its version, so it must run once.
IDENTIFY_S = 60.0
SERVER_START_S = 10.0
LAST_WORDS = 200
# The state of a listening TCP socket in /proc/net/tcp.
_LISTENS = "0A"
# Servers have other ports than outgoing connections, which begin at 32768 (Linux, ip_local_port_range).
_SERVER_PORTS = range(20_000, 32_000)
_TRIED_PORTS = 100


def run_tool(
    command: Sequence[str], folder: Path, deadline_s: float, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program until it ends, and return what it wrote to standard output.

    ``folder`` is its current directory. ``environment`` adds variables to those of this process. Invalid UTF-8 is
    replaced, and CR LF becomes LF. The program has no input. After ``deadline_s`` seconds it is killed; its children
    are killed when it ends in any way.

    Raises:
        ToolFailed: the program cannot be run, ends with another exit code than 0 or by a signal, or does not end in
            time. A false alarm of an MPI launcher (``launch.is_false_alarm``) is ignored.
    """
    with _started(command, folder, environment) as process:
        try:
            output, words = map(_decoded, process.communicate(timeout=deadline_s))
        except subprocess.TimeoutExpired:
            raise ToolFailed(f"did not finish within {deadline_s:.0f} s and was ended") from None
    if process.returncode != 0 and not is_false_alarm(words):
        raise ToolFailed(_how_it_ended(process.returncode, words.strip() or output.strip()))
    return output


def _decoded(data: bytes) -> str:
    return data.decode(errors="replace").replace("\r\n", "\n")


def _how_it_ended(code: int, words: str) -> str:
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return f"{how}: {child_process.end_of_text(words, LAST_WORDS)}" if words else how


@contextmanager
def _started(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, heard: bool = True
) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process in a group of its own; nothing of the group remains afterwards."""
    words = subprocess.PIPE if heard else subprocess.DEVNULL
    try:
        process = child_process.start(
            command, streams=Streams(stdout=words, stderr=words), folder=folder, environment=environment
        )
    except OSError as error:
        raise ToolFailed(f"{shlex.quote(command[0])} cannot be run: {error.strerror}") from None
    try:
        yield process
    finally:
        child_process.end(process)


@contextmanager
def serving(command: Sequence[str], port: int, folder: Path, cpus: Sequence[int]) -> Iterator[None]:
    """Run a server that is bound to these CPUs; in the context it listens on ``port``, and afterwards it is killed.

    ``port`` is the TCP or UDP port that ``command`` makes it listen on. ``folder`` is its current directory. Its output
    is discarded. Without ``cpus`` it is not bound. The caller's processes are not bound.

    Raises:
        ToolFailed: the server cannot be run, or does not listen within 10 s.
    """
    with ExitStack() as stack:
        with on_cpus(cpus):
            server = stack.enter_context(_started(command, folder, heard=False))
        deadline = time.monotonic() + SERVER_START_S
        while not _is_bound(port):
            if server.poll() is not None or time.monotonic() > deadline:
                raise ToolFailed(f"its server does not listen: {shlex.join(command)}")
            time.sleep(0.01)
        yield


def _is_bound(port: int) -> bool:
    """Return whether a TCP or UDP port is taken, without a connection, which a server might take for a client."""
    for table in ("tcp", "tcp6", "udp", "udp6"):
        path = Path("/proc/net", table)
        lines = path.read_text(encoding="ascii").splitlines()[1:] if path.exists() else []
        for fields in map(str.split, lines):
            is_open = fields[3] == _LISTENS if table.startswith("tcp") else True
            if is_open and int(fields[1].rpartition(":")[2], 16) == port:
                return True
    return False


def loopback_host() -> str:
    """Return the first of 127.0.0.1 and ::1 that this machine has.

    Raises:
        ToolFailed: it has neither; the message has the reasons.
    """
    reasons = []
    for family, host in ((socket.AF_INET, LOOPBACK), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.bind((host, 0))
                probe.connect(probe.getsockname())  # sends nothing; it fails if no interface is up
        except OSError as error:
            reasons.append(f"cannot use {host}: {error.strerror}")
        else:
            return host
    raise ToolFailed(f"this machine has no loopback address ({', '.join(reasons)}); ip link set lo up adds them")


def free_port(host: str = LOOPBACK) -> int:
    """Return a random TCP port of this address that nobody uses at the moment. It is not reserved.

    By default, Linux does not assign it to outgoing connections, which could otherwise take it before a server does.

    Raises:
        ToolFailed: a hundred ports are in use.
    """
    for port in random.SystemRandom().sample(_SERVER_PORTS, _TRIED_PORTS):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe, suppress(OSError):
            probe.bind((host, port))
            return port
    raise ToolFailed(f"found no free port of {host} from {_SERVER_PORTS.start} to {_SERVER_PORTS.stop - 1}")


@contextmanager
def on_cpus(cpus: Sequence[int]) -> Iterator[None]:
    """Bind the calling thread, and processes that it starts in the meantime, to the CPUs with these numbers.

    Afterwards the thread has its previous CPUs. If ``cpus`` is empty, nothing is changed. Raises OSError if the process
    may use none of them.
    """
    before = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def identify(
    reference: ReferenceTool, launcher: Sequence[str], folder: Path
) -> tuple[dict[str, FoundProgram], list[str]]:
    """Return the programs on PATH that identify themselves as the tool, by name, and why others do not count.

    Each of ``reference.programs`` on PATH is run in ``folder`` for at most 60 s; its exit code does not count.
    ``launcher`` has the words that precede it if ``reference.is_mpi``, and is ignored otherwise. The reasons are
    sentences without a full stop; a program that is not on PATH has none.
    """
    found: dict[str, FoundProgram] = {}
    doubts = []
    for name in reference.programs:
        path = shutil.which(name)
        if path is None:
            continue
        command = [*(launcher if reference.is_mpi else ()), path, *reference.identify]
        try:
            text = _all_words(command, folder, reference.output)
        except ToolFailed as error:
            doubts.append(f"{path}: {error}")
            continue
        match = reference.version.search(text)
        if match:
            found[name] = FoundProgram(path, match[1], text)
        else:
            doubts.append(f"{path} is not {reference.name}: it prints '{_first_line(text)}'")
    return found, doubts


def _all_words(command: Sequence[str], folder: Path, output: str) -> str:
    """Return standard output, standard error and the output file; some tools print their version with an error."""
    with _started(command, folder) as process:
        try:
            words = "".join(map(_decoded, process.communicate(timeout=IDENTIFY_S)))
        except subprocess.TimeoutExpired:
            raise ToolFailed(f"does not identify itself within {IDENTIFY_S:.0f} s") from None
    return words + (read_output(folder / output) if output else "")


def read_output(path: Path) -> str:
    """Return the text of a file that a tool wrote. Invalid UTF-8 is replaced.

    Raises:
        ToolFailed: there is no such file, or it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ToolFailed(f"did not write {path.name}: {error.strerror}") from None


def _first_line(text: str) -> str:
    return next((line.strip()[:LAST_WORDS] for line in text.splitlines() if line.strip()), "")
