"""Standard streams that are broken, full, closed or limited to ASCII, and signals at any moment."""

from __future__ import annotations

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
from pathlib import Path

import pytest

from nameplate.results.run_file import read_run
from recorded_runs import recorded_file

FAST = ("--rounds", "1", "--samples", "1", "--warmup", "1ms")
RUN = ("run", "null", *FAST, "-o", "x.jsonl")
WAIT_S = 60.0


def command(*arguments: str | bytes) -> list[str | bytes]:
    return [sys.executable, "-m", "nameplate", *arguments]


def shell(folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which ``nameplate`` is a command, and return the completed process."""
    line = f'nameplate() {{ {sys.executable} -m nameplate "$@"; }}; {words}'
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
    assert b"Tool overhead" in answer.stdout
    assert read_run(tmp_path / "x.jsonl").stop is not None


def test_a_reader_that_leaves_after_the_work_is_not_an_error(tmp_path: Path) -> None:
    assert shell(tmp_path, "nameplate list | head -n 1; exit ${PIPESTATUS[0]}").returncode == 0
    with subprocess.Popen(command(*RUN), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.wait(WAIT_S) == 0


def test_a_full_disk_behind_standard_output_is_reported_in_one_line_and_loses_no_run(tmp_path: Path) -> None:
    for words in ("nameplate list", f"nameplate {' '.join(RUN)}"):
        answer = shell(tmp_path, f"{words} >/dev/full")
        assert answer.returncode == 3
        assert answer.stderr.splitlines()[-1] == "nameplate: cannot write standard output: No space left on device"
        assert "Traceback" not in answer.stderr
    assert read_run(tmp_path / "x.jsonl").stop is not None


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_do_not_damage_the_run_file(tmp_path: Path, closed: str) -> None:
    answer = shell(tmp_path, f"nameplate {' '.join(RUN)} {closed}")
    assert answer.returncode == 0, answer.stderr
    assert "Traceback" not in answer.stderr
    assert read_run(tmp_path / "x.jsonl").stop is not None


def test_an_ascii_stream_gets_ascii(tmp_path: Path) -> None:
    assert shell(tmp_path, f"nameplate {' '.join(RUN)}").returncode == 0
    answer = shell(tmp_path, "PYTHONIOENCODING=ascii nameplate show x.jsonl")
    assert answer.returncode == 0, answer.stderr
    assert "Tool overhead" in answer.stdout
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


def in_a_terminal(words: str, columns: int, keys: bytes, folder: Path) -> tuple[str, int]:
    """Run a line of shell in a terminal, type ``keys`` after its first output; return output and exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.chdir(folder)
        os.environ.update(TERM="xterm", LESS="")
        os.environ.pop("COLUMNS", None)
        os.execv("/bin/bash", ["bash", "-c", f'nameplate() {{ {sys.executable} -m nameplate "$@"; }}; {words}'])
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


@pytest.mark.parametrize("words", ["list", "show quick.jsonl", "compare quick.jsonl quick.jsonl", "history ."])
def test_a_terminal_of_forty_columns_is_wide_enough_for_every_line(tmp_path: Path, words: str) -> None:
    recorded_file("quick.jsonl", tmp_path)
    said, code = in_a_terminal(f"sleep 0.1; nameplate {words}", 40, b"", tmp_path)
    assert code == 0, said
    assert "Traceback" not in said
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
    assert max(len(line) for line in plain.replace("\r\n", "\n").split("\n") if "\r" not in line) <= 40


def test_a_pager_that_is_closed_early_is_not_an_error(tmp_path: Path) -> None:
    recorded_file("quick.jsonl", tmp_path)
    said, code = in_a_terminal("nameplate show quick.jsonl | less; exit ${PIPESTATUS[0]}", 80, b"q", tmp_path)
    assert code == 0, said
    assert "Traceback" not in said
