"""Readers reject hostile files with one line, within limits of time and memory.

Each command runs in its own process. The limits are generous: an unbounded reader exceeds them by far, and a slow
machine does not reach them. ``bench/cost/reader_bounds.py`` measures the actual time and memory.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hostile_files import HEAVY, HOSTILE, SLOW_CALLS, Hostile
from nameplate.history.index import index_file
from recorded_runs import GOLDEN, quieted, unpacked

CPU_S = 40
MEMORY_BYTES = 4 << 30


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def nameplate(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a nameplate command within the limits, in ``folder``, without standard input."""
    return limited([sys.executable, "-m", "nameplate", *map(str, arguments)], folder)


def limited(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command within the limits of time and memory."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # each thread reserves address space
    return subprocess.run(
        command, cwd=folder, env=environment, preexec_fn=_limit, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.title)
def test_a_hostile_file_is_rejected_in_one_line(hostile: Hostile, tmp_path: Path) -> None:
    arguments = hostile.make(tmp_path)
    ended = nameplate(*arguments, folder=tmp_path)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr[-2000:]
    assert hostile.says in ended.stderr
    assert len(ended.stderr) < 2000


@pytest.mark.parametrize("title", SLOW_CALLS)
def test_the_time_is_linear_in_the_length(title: str, tmp_path: Path) -> None:
    code, says = SLOW_CALLS[title]
    ended = limited([sys.executable, "-c", code], tmp_path)
    assert ended.returncode == (1 if says else 0), ended.stderr[-2000:]
    assert says in ended.stderr


def test_history_shows_the_other_runs_and_names_unreadable_files(tmp_path: Path) -> None:
    for name, kind in (("a.jsonl", "mpi_stream"), ("b.jsonl", "mpi_pairs")):
        (tmp_path / name).write_bytes(quieted(unpacked(kind)))
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "text.jsonl").write_text("not a run")
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / os.fsdecode(b"latin-\xe4.jsonl")).write_bytes(unpacked("mpi_stream"))
    index_file(tmp_path).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(index_file(tmp_path))
    ended = nameplate("history", tmp_path, "--json", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr[-2000:]
    reported = json.loads(ended.stdout)
    assert [run["path"] for run in reported["runs"]] == ["a.jsonl", "b.jsonl"]
    reasons = {item["path"]: item["reason"] for item in reported["not_read"]}
    assert "it is a named pipe, not a regular file" in reasons["pipe.jsonl"]
    assert "line 1 is not a nameplate record" in reasons["text.jsonl"]
    assert "Too many levels of symbolic links" in reasons["loop.jsonl"]
    assert "its name is not UTF-8; rename it" in reasons["latin-\\xe4.jsonl"]
    printed = nameplate("history", tmp_path, folder=tmp_path)
    message = (printed.stdout + printed.stderr).replace("\n", "")  # a long path is folded
    assert (printed.returncode, "pipe.jsonl" in message) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HEAVY, ids=lambda hostile: hostile.title)
def test_a_heavy_file_is_read_within_the_limits(hostile: Hostile, tmp_path: Path) -> None:
    ended = nameplate(*hostile.make(tmp_path), folder=tmp_path)
    assert ended.returncode in {0, 1, 2}, ended.stderr[-2000:]
    assert "Traceback" not in ended.stderr, ended.stderr[-2000:]


@pytest.mark.parametrize(
    "arguments", [["show", b"\xff"], ["report", "x.jsonl", "-o", b"a\xe4.html"], ["run", b"\xff=1"]]
)
def test_an_argument_that_is_not_text_is_rejected(arguments: list[str | bytes], tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(unpacked("mpi_stream"))
    ended = nameplate(*map(os.fsdecode, arguments), folder=tmp_path)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr[-2000:]
    assert "is not UTF-8: rename the file or folder" in ended.stderr


def test_a_report_of_an_unrecorded_machine_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "fio.json").write_bytes((GOLDEN / "references" / "fio-3.33.json").read_bytes())
    ended = nameplate("report", "fio.json", "--identify", "-o", "x.html", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr[-2000:]
