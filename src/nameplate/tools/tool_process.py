"""Run external tools: identify them, bind them to CPUs, start their servers, and stop them at a deadline."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from nameplate.errors import ToolFailed
from nameplate.execution import child_process
from nameplate.execution.child_process import Streams
from nameplate.execution.launch import is_false_alarm
from nameplate.tools.reference_tool import LOOPBACK, ReferenceTool, ToolProgram

# STREAM has no option that prints its version, so it must run once.
IDENTIFY_S = 60.0
SERVER_START_S = 10.0
STDERR_TAIL_CHARACTERS = 200
# The state of a listening TCP socket in /proc/net/tcp.
_LISTENS = "0A"
# Outgoing connections have ports from 32768 by default (Linux, ip_local_port_range).
_SERVER_PORTS = range(20_000, 32_000)
_TRIED_PORTS = 100


def run_tool(
    command: Sequence[str], folder: Path, deadline_s: float, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program until it ends, and return its standard output.

    ``command`` is the program with its arguments, and ``folder`` its current directory. ``environment`` adds variables
    to the environment of this process. Standard input is empty. After ``deadline_s`` seconds the program is killed. Its
    child processes are killed whenever it ends. Invalid UTF-8 in the output is replaced, and CR LF becomes LF.

    Raises:
        ToolFailed: the program cannot be run, exits with a code other than 0, is killed by a signal, or exceeds the
            deadline. An exit code that ``launch.is_false_alarm`` attributes to the MPI launcher is ignored.
    """
    with _started(command, folder, environment) as process:
        try:
            output, stderr = map(_decoded, process.communicate(timeout=deadline_s))
        except subprocess.TimeoutExpired:
            raise ToolFailed(f"did not finish within {deadline_s:.0f} s and was ended") from None
    if process.returncode != 0 and not is_false_alarm(stderr):
        raise ToolFailed(_how_it_ended(process.returncode, stderr.strip() or output.strip()))
    return output


def _decoded(data: bytes) -> str:
    return data.decode(errors="replace").replace("\r\n", "\n")


def _how_it_ended(code: int, stderr: str) -> str:
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return f"{how}: {child_process.end_of_text(stderr, STDERR_TAIL_CHARACTERS)}" if stderr else how


@contextmanager
def _started(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, heard: bool = True
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process in a process group of its own, and yield it; kill the whole group afterwards.

    With ``heard`` False, its output is discarded.
    """
    stderr = subprocess.PIPE if heard else subprocess.DEVNULL
    try:
        process = child_process.start(
            command, streams=Streams(stdout=stderr, stderr=stderr), folder=folder, environment=environment
        )
    except OSError as error:
        raise ToolFailed(f"{shlex.quote(command[0])} cannot be run: {error.strerror}") from None
    try:
        yield process
    finally:
        child_process.end(process)


@contextmanager
def serving(command: Sequence[str], port: int, folder: Path, cpus: Sequence[int]) -> Iterator[None]:
    """Run a server that is bound to the CPUs with the numbers ``cpus``, and kill it when the context ends.

    The context begins when the server listens on ``port``, the TCP or UDP port that the arguments in ``command``
    select. ``folder`` is the server's current directory. Its output is discarded. With empty ``cpus``, the server is
    not bound. The calling thread keeps its CPUs.

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
    """Return whether a process has bound a TCP or UDP port.

    The port is not connected to, because a server might treat the connection as its client.
    """
    for table in ("tcp", "tcp6", "udp", "udp6"):
        path = Path("/proc/net", table)
        lines = path.read_text(encoding="ascii").splitlines()[1:] if path.exists() else []
        for fields in map(str.split, lines):
            is_open = fields[3] == _LISTENS if table.startswith("tcp") else True
            if is_open and int(fields[1].rpartition(":")[2], 16) == port:
                return True
    return False


def loopback_host() -> str:
    """Return "127.0.0.1" if this machine has it, otherwise "::1".

    Raises:
        ToolFailed: the machine has neither address; the message gives the reasons.
    """
    reasons = []
    for family, host in ((socket.AF_INET, LOOPBACK), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.bind((host, 0))
                probe.connect(probe.getsockname())  # sends nothing, but fails if no interface is up
        except OSError as error:
            reasons.append(f"cannot use {host}: {error.strerror}")
        else:
            return host
    raise ToolFailed(f"this machine has no loopback address ({', '.join(reasons)}); run `ip link set lo up`")


def free_port(host: str = LOOPBACK) -> int:
    """Return a random TCP port from 20000 to 31999 that is free on the address ``host`` at the moment.

    The port is not reserved. Linux by default assigns only higher ports to outgoing connections, so that none of them
    can use the port before a server does.

    Raises:
        ToolFailed: none of 100 random ports is free.
    """
    for port in random.SystemRandom().sample(_SERVER_PORTS, _TRIED_PORTS):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe, suppress(OSError):
            probe.bind((host, port))
            return port
    raise ToolFailed(f"no port from {_SERVER_PORTS.start} to {_SERVER_PORTS.stop - 1} is free on {host}")


@contextmanager
def on_cpus(cpus: Sequence[int]) -> Iterator[None]:
    """Bind the calling thread, and the processes that it starts in the context, to the CPUs with the numbers ``cpus``.

    After the context, the thread has its previous CPUs. With empty ``cpus``, nothing changes.

    Raises:
        OSError: this process may use none of the CPUs.
    """
    before = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def path_of_program(name: str) -> str | None:
    """Return the path of a program on PATH, else in the folder of nameplate's own programs; None if it is in neither.

    ``script/bootstrap bench`` builds programs into that folder, which is not on PATH if .venv is not activated.
    """
    return shutil.which(name) or shutil.which(name, path=sysconfig.get_path("scripts"))


def identify(
    reference: ReferenceTool, launcher: Sequence[str], folder: Path
) -> tuple[dict[str, ToolProgram], list[str]]:
    """Return the tool's installed programs by name, and the reasons why other programs on PATH are rejected.

    Each of ``reference.programs`` on PATH is run in ``folder`` for at most 60 s, and is accepted if its output matches
    ``reference.version``, whatever its exit code. ``launcher`` has the command-line arguments that start an MPI job; it
    is ignored unless ``reference.is_mpi``. The reasons are sentences without a full stop. A program that is not on PATH
    has no reason.
    """
    programs: dict[str, ToolProgram] = {}
    doubts = []
    for name in reference.programs:
        path = path_of_program(name)
        if path is None:
            continue
        command = [*(launcher if reference.is_mpi else ()), path, *reference.identify]
        try:
            text = _version_output(command, folder, reference.output)
        except ToolFailed as error:
            doubts.append(f"{path}: {error}")
            continue
        match = reference.version.search(text)
        if match:
            programs[name] = ToolProgram(path, match[1], text)
        else:
            first_line = next((line.strip() for line in text.splitlines() if line.strip()), "")
            doubts.append(f"{path} is not {reference.name}: it prints '{first_line[:STDERR_TAIL_CHARACTERS]}'")
    return programs, doubts


def _version_output(command: Sequence[str], folder: Path, output: str) -> str:
    """Return standard output, standard error and the output file. Some tools print their version and then fail."""
    with _started(command, folder) as process:
        try:
            text = "".join(map(_decoded, process.communicate(timeout=IDENTIFY_S)))
        except subprocess.TimeoutExpired:
            raise ToolFailed(f"did not print its version within {IDENTIFY_S:.0f} s") from None
    return text + (read_output(folder / output) if output else "")


def read_output(path: Path) -> str:
    """Return the text of a file that a tool wrote. Invalid UTF-8 is replaced.

    Raises:
        ToolFailed: the file does not exist or cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ToolFailed(f"did not write {path.name}: {error.strerror}") from None
