"""Writing a run file: only complete lines, only one writer, and on the disk in time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nameplate.errors import FileError
from nameplate.records.run_record import Stop
from nameplate.records.run_writer import SYNC_AFTER_S, RunWriter
from run_samples import outcome, plan, run

STOP = Stop(reasons={"a": "rounds"}, elapsed_s=1.0, interrupted=False)


class FakeDisk:
    """A simulated clock, and an fsync that takes a given time on it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, takes_s: float) -> None:
        self.now = 100.0
        self.synced_at: list[float] = []
        self._takes_s = takes_s
        monkeypatch.setattr(os, "fsync", self._fsync)

    def _fsync(self, descriptor: int) -> None:
        self.synced_at.append(self.now)
        self.now += self._takes_s


def writer_on(disk: FakeDisk, path: Path) -> RunWriter:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    return RunWriter(path, descriptor, is_new=True, clock=lambda: disk.now)


def test_records_are_on_the_disk_after_the_stated_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FakeDisk(monkeypatch, takes_s=0.01)
    writer = writer_on(disk, tmp_path / "x.jsonl")
    for _ in range(100):
        disk.now += 1.0
        writer.write(STOP)
        writer.sync_if_due()
    assert disk.synced_at == pytest.approx([130, 160, 190], abs=1.1)
    writer.close()
    assert len(disk.synced_at) == 4, "the last records too"


def test_a_slow_disk_is_synced_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FakeDisk(monkeypatch, takes_s=0.5)
    writer = writer_on(disk, tmp_path / "x.jsonl")
    while disk.now < 5000:
        disk.now += 1.0
        writer.write(STOP)
        writer.sync_if_due()
    assert 0.5 * len(disk.synced_at) / (disk.now - 100 - SYNC_AFTER_S) <= 0.0011
    writer.close()


def test_without_new_records_there_is_no_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FakeDisk(monkeypatch, takes_s=0.01)
    writer = writer_on(disk, tmp_path / "x.jsonl")
    disk.now += 1000
    writer.sync_if_due()
    writer.close()
    writer.close()
    assert disk.synced_at == []


def test_a_second_writer_is_rejected_until_the_first_has_closed(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with RunWriter.create(path) as first:
        first.write(run(plan("a")))
        with pytest.raises(FileError, match="is in use by another run"):
            RunWriter.reopen(path)
    RunWriter.reopen(path).close()


def test_a_killed_writer_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    RunWriter.create(path).close()
    script = (
        "import sys, time; from pathlib import Path; from nameplate.records.run_writer import RunWriter\n"
        "writer = RunWriter.reopen(Path(sys.argv[1])); print('ready', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "ready\n"
    with pytest.raises(FileError, match="in use by another run"):
        RunWriter.reopen(path)
    other.kill()
    other.communicate()
    RunWriter.reopen(path).close()


def test_two_runs_started_in_one_second_have_separate_files(tmp_path: Path) -> None:
    writers = [RunWriter.create_numbered(tmp_path / "nameplate-20260101-000000.jsonl") for _ in range(3)]
    assert [writer.path.stem for writer in writers] == [
        "nameplate-20260101-000000", "nameplate-20260101-000000-2", "nameplate-20260101-000000-3",
    ]  # fmt: skip
    for writer in writers:
        writer.close()


def test_only_a_regular_file_is_resumed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path in (tmp_path / "pipe.jsonl", Path("/dev/full")):
        with pytest.raises(FileError, match=r"cannot resume .*: it is not a regular file"):
            RunWriter.reopen(path)
    assert Path("/dev/full").exists()


def test_a_full_disk_keeps_complete_lines_and_says_how_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.jsonl"
    writer = RunWriter.create(path)
    writer.write(run(plan("a")))
    before = path.read_bytes()
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if path.stat().st_size > len(before):
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:10])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(FileError, match=r"No space left on device; the samples before are kept; continue with --res"):
        writer.write(outcome("a"))
    writer.close()
    assert path.read_bytes() == before


def test_a_file_whose_first_line_does_not_fit_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    writer = RunWriter.create(tmp_path / "x.jsonl")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(FileError, match="No space left on device; nothing was measured"):
        writer.write(run(plan("a")))
    writer.close()
    assert list(tmp_path.iterdir()) == []


def test_writing_to_a_file_system_that_accepts_no_bytes_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = RunWriter.create(tmp_path / "x.jsonl")
    writer.write(run(plan("a")))
    monkeypatch.setattr(os, "write", lambda descriptor, data: 0)
    with pytest.raises(FileError, match="accepted no bytes and gave no reason; the samples before are kept"):
        writer.write(outcome("a"))
    writer.close()
