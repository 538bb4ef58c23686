"""Ends that nobody planned: none has the exit code of a verdict."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

# Replaces the command by a failure.
FAILING = """
import atexit, ctypes, os, sys
from nameplate import command_line
class PanicException(BaseException):
    pass
class Unreadable(Exception):
    def __str__(self): raise MemoryError
def fail(*_, **__):
    {failure}
command_line.make_app = lambda *_: fail
from nameplate.__main__ import main
main()
"""


def outcome_of(code: str, **options: str | Path) -> tuple[int, list[str]]:
    """Return the exit code and the lines of standard error of a Python program."""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    return answer.returncode, answer.stderr.splitlines()


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        ("sys.exit(1)", 70, "SystemExit: 1"),
        ("sys.exit()", 70, "SystemExit"),
        ("sys.exit('no licence')", 70, "SystemExit: no licence"),
        ("raise PanicException('index out of bounds')", 70, "PanicException: index out of bounds"),
        ("raise GeneratorExit", 70, "GeneratorExit"),
        ("raise MemoryError", 3, "out of memory, processes or files: MemoryError"),
        ("raise Unreadable", 70, "MemoryError"),
        ("raise RecursionError('too deep')", 70, "RecursionError: too deep"),
        ("raise RuntimeError(\"can't start new thread\")", 70, "can't start new thread"),
        ("raise BlockingIOError(11, 'Resource temporarily unavailable')", 3, "Resource temporarily unavailable"),
        ("raise KeyboardInterrupt", 3, "stopped"),
    ],
)  # fmt: skip
def test_what_a_library_raises_is_no_verdict(failure: str, code: int, message: str) -> None:
    actual, lines = outcome_of(FAILING.format(failure=failure))
    assert actual == code
    assert len(lines) == 1
    assert lines[0].startswith("nameplate: ")
    assert message in lines[0]


@pytest.mark.parametrize("status", [0, 1, 5])
def test_a_library_in_c_that_ends_the_process_is_no_verdict(status: int) -> None:
    assert outcome_of(FAILING.format(failure=f"ctypes.CDLL(None).exit({status})"))[0] == 70


@pytest.mark.parametrize(
    ("failure", "number"),
    [
        ("os.abort()", signal.SIGABRT),
        ("os.kill(os.getpid(), 15)", signal.SIGTERM),
        ("ctypes.string_at(0)", signal.SIGSEGV),
    ],
)
def test_a_signal_is_no_verdict(failure: str, number: signal.Signals) -> None:
    assert outcome_of(FAILING.format(failure=failure))[0] == -number


def test_an_error_at_the_end_of_the_process_changes_no_verdict() -> None:
    failing = FAILING.format(failure="atexit.register(lambda: 1 / 0); print('SAME'); return 0")
    assert outcome_of(failing)[0] == 0


def test_functions_for_the_end_are_called_and_output_is_written() -> None:
    code = FAILING.format(failure="atexit.register(lambda: print('cleaned')); print('SLOWER'); return 1")
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (1, "SLOWER\ncleaned\n")


@pytest.mark.parametrize("command", [["compare"], ["run", "--help"], ["show", "x"]], ids=" ".join)
@pytest.mark.parametrize("name", ["cyclopts", "msgspec"])
@pytest.mark.parametrize(
    "content",
    [
        "raise ImportError('no such library')",
        "raise SystemExit(1)",
        "(",
        "import ctypes; ctypes.CDLL(None).exit(1)",
    ],
)
def test_a_missing_or_broken_dependency_is_no_verdict(
    command: Sequence[str], name: str, content: str, tmp_path: Path
) -> None:
    (tmp_path / f"{name}.py").write_text(content)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    answer = subprocess.run(
        [sys.executable, "-m", "nameplate", *command], capture_output=True, text=True, check=False, env=environment
    )
    assert answer.returncode == 70
    assert len(answer.stderr.splitlines()) <= 1
    assert "Traceback" not in answer.stderr


def without_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))


def test_a_numerical_library_without_memory_is_no_verdict(tmp_path: Path) -> None:
    """OpenBLAS ends the process itself if it cannot allocate its buffers."""
    answer = subprocess.run(
        [sys.executable, "-c", FAILING.format(failure="import numpy, scipy.linalg; return 0")],
        capture_output=True, text=True, check=False, preexec_fn=without_memory, cwd=tmp_path,
    )  # fmt: skip
    assert answer.returncode not in (1, 2, 4, 5)


def test_a_verdict_that_could_not_be_written_has_no_exit_code(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            [sys.executable, "-c", FAILING.format(failure="print('SLOWER'); return 1")],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
    assert (answer.returncode, answer.stderr) == (
        3,
        "nameplate: cannot write standard output: No space left on device\n",
    )
