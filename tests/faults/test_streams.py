"""Standard streams that are broken, full, closed or limited to ASCII, and signals at any moment."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from nameplate.execution.launch import mpi_programs
from nameplate.results.run_file import read_run
from recorded_runs import quiet_file, recorded_file

FAST = ("--rounds", "1", "--samples", "1", "--warmup", "1ms")
RUN = ("run", "null", *FAST, "-o", "x.jsonl")
WAIT_S = 60.0


def command(*arguments: str | bytes) -> list[str | bytes]:
    return [sys.executable, "-m", "nameplate", *arguments]


def shell(folder: Path, message: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which ``nameplate`` is a command, and return the completed process."""
    line = f'nameplate() {{ {sys.executable} -m nameplate "$@"; }}; {message}'
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=folder, check=False, timeout=WAIT_S)


def a_pipe_without_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def test_a_run_whose_reader_leaves_continues_to_its_end_and_says_so(tmp_path: Path) -> None:
    broken = a_pipe_without_reader()
    code = subprocess.run(command(*RUN), stdout=broken, stderr=broken, cwd=tmp_path, check=False, timeout=WAIT_S)
    os.close(broken)
    assert code.returncode == 3
    assert read_run(tmp_path / "x.jsonl").stop is not None


def test_messages_that_nobody_reads_do_not_change_the_exit_code(tmp_path: Path) -> None:
    broken = a_pipe_without_reader()
    answer = subprocess.run(
        command(*RUN), stdout=subprocess.PIPE, stderr=broken, cwd=tmp_path, check=False, timeout=WAIT_S
    )
    os.close(broken)
    assert answer.returncode == 0
    assert b"overhead" in answer.stdout
    assert read_run(tmp_path / "x.jsonl").stop is not None


def test_a_reader_that_leaves_after_the_work_is_not_an_error(tmp_path: Path) -> None:
    assert shell(tmp_path, "nameplate list | head -n 1; exit ${PIPESTATUS[0]}").returncode == 0
    with subprocess.Popen(command(*RUN), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.wait(WAIT_S) == 0


def test_a_full_disk_behind_standard_output_is_reported_in_one_line_and_loses_no_run(tmp_path: Path) -> None:
    for message in ("nameplate list", f"nameplate {' '.join(RUN)}"):
        answer = shell(tmp_path, f"{message} >/dev/full")
        assert answer.returncode == 3
        assert answer.stderr.splitlines()[-1] == "nameplate: cannot write standard output: No space left on device"
        assert "Traceback" not in answer.stderr
    assert read_run(tmp_path / "x.jsonl").stop is not None


CLOSED = [" ".join(part) for n in (1, 2, 3) for part in combinations(("<&-", ">&-", "2>&-"), n)]


@pytest.mark.parametrize("closed", CLOSED)
def test_closed_standard_streams_do_not_damage_the_run_file(tmp_path: Path, closed: str) -> None:
    """Nobody gets the results if standard output is closed, which is no success."""
    answer = shell(tmp_path, f"nameplate {' '.join(RUN)} {closed}")
    assert answer.returncode == (3 if " >&-" in f" {closed}" else 0), answer.stderr
    if "2>&-" not in closed and answer.returncode:
        assert answer.stderr.splitlines()[-1] == "nameplate: cannot write standard output: it is closed"
    assert "Traceback" not in answer.stderr
    assert read_run(tmp_path / "x.jsonl").stop is not None


@pytest.mark.parametrize("message", ["list", "--version", "--help", "run --help", "machine --json"])
def test_output_for_a_closed_stream_is_no_success(tmp_path: Path, message: str) -> None:
    answer = shell(tmp_path, f"nameplate {message} >&-")
    assert (answer.returncode, answer.stderr) == (3, "nameplate: cannot write standard output: it is closed\n")


@pytest.mark.parametrize(
    "arguments", ["--describe", "--machine", "--help", "--version", "serve --port 0 --json", "quick"]
)
def test_records_for_a_closed_stream_are_no_success(core_path: Path, tmp_path: Path, arguments: str) -> None:
    for closed in [item for item in CLOSED if " >&-" in f" {item}"]:
        answer = shell(tmp_path, f"{core_path} {arguments} {closed}")
        message = "" if "2>&-" in closed else "nameplate-core: cannot write a record: Bad file descriptor\n"
        assert (answer.returncode, answer.stderr) == (3, message)


@pytest.mark.usefixtures("as_root")
def test_ranks_with_closed_streams_use_no_number_of_theirs(family: str, tmp_path: Path) -> None:
    """A rank that is started alone: MPI opens sockets before anything is written."""
    core = mpi_programs()[family]
    answer = shell(tmp_path, f"{core} >&- <&-")
    assert (answer.returncode, "cannot write a record: Bad file descriptor" in answer.stderr) == (3, True)
    assert shell(tmp_path, f"{core} <&- 2>&-").returncode == 0


def test_a_closed_input_and_closed_messages_lose_no_records(core_path: Path, tmp_path: Path) -> None:
    answer = shell(tmp_path, f"{core_path} <&- 2>&-")
    assert (answer.returncode, answer.stdout.count("\n")) == (0, 2)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stopped_reader_does_not_keep_the_core_alive(core_path: Path, tmp_path: Path, stream: str) -> None:
    """The pipe is full from the start, and its reader never reads; one signal ends the program."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    with (tmp_path / "records").open("wb") as records:
        streams: dict[str, Any] = {"stdout": records, "stderr": subprocess.DEVNULL, stream: writer}
        process = subprocess.Popen([core_path, "quick", "--rounds", "1"], **streams)
    while "nameplate-core" not in Path(f"/proc/{process.pid}/cmdline").read_text() or not handles_signals(process.pid):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(WAIT_S) == 3
    os.close(reader)
    os.close(writer)


def handles_signals(process: int) -> bool:
    """Return whether a process catches SIGTERM by now."""
    caught = next(
        line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("SigCgt")
    )
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.usefixtures("as_root")
def test_a_rank_that_waits_for_requests_ends_at_a_signal(family: str) -> None:
    with subprocess.Popen([mpi_programs()[family]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b'"header"' in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 0
        assert b'"interrupted":true' in process.stdout.read()


def test_an_ascii_stream_gets_ascii(tmp_path: Path) -> None:
    assert shell(tmp_path, f"nameplate {' '.join(RUN)}").returncode == 0
    answer = shell(tmp_path, "PYTHONIOENCODING=ascii nameplate show x.jsonl")
    assert answer.returncode == 0, answer.stderr
    assert "overhead" in answer.stdout
    assert answer.stdout.isascii()


def test_an_argument_that_is_not_text_is_reported_in_one_line(tmp_path: Path) -> None:
    for arguments in ([b"show", b"\xff\xfe.jsonl"], [b"run", b"\xff"], [b"run", b"null", b"threads=\xff"]):
        answer = subprocess.run(command(*arguments), capture_output=True, cwd=tmp_path, check=False, timeout=WAIT_S)
        assert answer.returncode == 2, answer.stderr
        assert len(answer.stderr.splitlines()) == 1, answer.stderr


# The first thing that main does is to set the handler. Where a runner in the background ignores the signal, one that
# comes earlier is lost.
START = """
import signal
import nameplate.__main__ as start
signal.signal(signal.SIGINT, start.leave_at_once)
print("ready", flush=True)
start.main()
"""


@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4])
def test_an_interrupt_during_the_start_ends_it_without_a_traceback(tmp_path: Path, delay_s: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", START, "run", "null", "--rounds", "500", "--samples", "2", "-o", "x.jsonl"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WAIT_S)
    assert "Traceback" not in errors
    assert process.returncode == 3, errors


def started_run(folder: Path, *before: str) -> subprocess.Popen[str]:
    """Start a run of one minute and return its process when the header is written."""
    process = subprocess.Popen(
        [*before, *map(str, command("run", "null", "--rounds", "60", "--time", "1s", "-o", "x.jsonl"))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip
    path = folder / "x.jsonl"
    while not (path.exists() and b'"type":"header"' in path.read_bytes()):
        assert process.poll() is None
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_run_keeps_a_complete_file(tmp_path: Path, number: signal.Signals) -> None:
    process = started_run(tmp_path)
    process.send_signal(number)
    _, errors = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3, errors
    assert "Traceback" not in errors
    stop = read_run(tmp_path / "x.jsonl").stop
    assert stop is not None
    assert stop.interrupted


def test_a_run_under_nohup_continues_when_its_terminal_is_closed(tmp_path: Path) -> None:
    process = started_run(tmp_path, "nohup")
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=WAIT_S)
    assert process.returncode == 3


@pytest.mark.parametrize("between_s", [0.0, 0.01, 0.1])
def test_a_second_interrupt_exits_at_once_without_a_traceback(tmp_path: Path, between_s: float) -> None:
    process = started_run(tmp_path)
    process.send_signal(signal.SIGINT)
    time.sleep(between_s)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3, errors
    assert "Traceback" not in errors
    assert read_run(tmp_path / "x.jsonl").run.plan.experiments


def in_a_terminal(message: str, columns: int, keys: bytes, folder: Path) -> tuple[str, int]:
    """Run a line of shell in a terminal, type ``keys`` after its first output; return output and exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.chdir(folder)
        os.environ.update(TERM="xterm", LESS="")
        os.environ.pop("COLUMNS", None)
        os.execv("/bin/bash", ["bash", "-c", f'nameplate() {{ {sys.executable} -m nameplate "$@"; }}; {message}'])
    said = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the other end of the terminal is closed
            break
        if not said and keys:
            os.write(terminal, keys)
        said += part
    return said.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("message", ["list", "show quick.jsonl", "compare quick.jsonl quick.jsonl", "history ."])
def test_a_terminal_of_forty_columns_is_wide_enough_for_every_line(tmp_path: Path, message: str) -> None:
    quiet_file("quick.jsonl", tmp_path)
    said, code = in_a_terminal(f"sleep 0.1; nameplate {message}", 40, b"", tmp_path)
    # One round is too few for a verdict.
    assert code == (4 if message.startswith("compare") else 0), said
    assert "Traceback" not in said
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
    assert max(len(line) for line in plain.replace("\r\n", "\n").split("\n") if "\r" not in line) <= 40


def test_a_pager_that_is_closed_early_is_not_an_error(tmp_path: Path) -> None:
    recorded_file("quick.jsonl", tmp_path)
    said, code = in_a_terminal("nameplate show quick.jsonl | less; exit ${PIPESTATUS[0]}", 80, b"q", tmp_path)
    assert code == 0, said
    assert "Traceback" not in said
