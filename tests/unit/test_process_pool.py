"""Processes that compute batches leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nameplate.process_pool import map_batches

WAITING = """
import os, sys
sys.path.insert(0, {folder!r})
from test_process_pool import wait_in
from nameplate.process_pool import map_batches
if __name__ == "__main__":
    list(map_batches(wait_in, [{marks!r}] * 8, 1))
"""


def wait_in(marks: Sequence[str]) -> None:
    """Leave a file with the process ID in a folder, and wait."""
    (Path(marks[0]) / f"{os.getpid()}").touch()
    time.sleep(30)


def add(numbers: Sequence[int]) -> int:
    return sum(numbers)


@pytest.mark.parametrize("n_batches", [0, 1, 3, 9])
def test_results_are_in_the_order_of_the_items(n_batches: int) -> None:
    assert list(map_batches(add, range(2 * n_batches), 2)) == [4 * batch + 1 for batch in range(n_batches)]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_the_one_that_started_it(tmp_path: Path, sent: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(WAITING.format(folder=str(Path(__file__).parent), marks=str(tmp_path / "marks")))
    (tmp_path / "marks").mkdir()
    with subprocess.Popen(
        [sys.executable, script], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        until = time.monotonic() + 60
        # A process that is still starting does not ignore Ctrl-C yet.
        n_processes = len(os.sched_getaffinity(0))
        while len(marks := [*(tmp_path / "marks").iterdir()]) < n_processes and time.monotonic() < until:
            time.sleep(0.05)
        if sent == signal.SIGINT:
            os.killpg(process.pid, sent)  # as a terminal does; the batches under way still end
            time.sleep(1)
        n_left = sum(Path("/proc", mark.name).exists() for mark in marks)
        process.kill()
        _, messages = process.communicate()
    assert len(marks) == n_left == n_processes
    assert messages.count("Traceback") <= 1, "only that of the process itself"
    while any(Path("/proc", mark.name).exists() for mark in (tmp_path / "marks").iterdir()):
        assert time.monotonic() < until
        time.sleep(0.05)
