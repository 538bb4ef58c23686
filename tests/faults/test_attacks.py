"""Attacks and mishaps from a second audit: links, files that vanish, unbounded numbers and broken builds."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nameplate import process_pool
from nameplate.command_line import run
from nameplate.commands._reading import read_report
from nameplate.errors import CoreDied, FileError, ReadError
from nameplate.execution import busy_cpus
from nameplate.execution.core_process import describe_all, mpi_libraries
from nameplate.history.index import empty_index, index_file
from nameplate.history.update import run_files, updated
from nameplate.records.atomic_write import write_atomically
from nameplate.records.run_writer import RunWriter
from nameplate.report.exports.markdown import export
from nameplate.results.run_file import read_run
from recorded_runs import recorded_file
from run_samples import plan
from run_samples import run as first_record

WAIT_S = 60.0


def nameplate(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nameplate", *map(str, arguments)], capture_output=True, text=True, check=False,
        timeout=WAIT_S, env={**os.environ, **environment},
    )  # fmt: skip


def test_history_does_not_overwrite_the_target_of_a_link(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    recorded_file("quick.jsonl", runs)
    (tmp_path / "notes.txt").write_text("precious")
    index_file(runs).parent.mkdir(parents=True, exist_ok=True)
    index_file(runs).symlink_to(tmp_path / "notes.txt")
    answer = nameplate("history", runs)
    assert answer.returncode == 0
    assert "is a link and is not overwritten: remove it; the runs are read again each time" in answer.stderr
    assert (tmp_path / "notes.txt").read_text() == "precious"


def test_a_rewritten_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    path.chmod(0o600)
    write_atomically(b"new", path, force=True)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="making another user's link needs root")
def test_a_link_of_another_user_in_a_shared_directory_is_not_followed(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "theirs").write_text("precious")
    (tmp_path / "page.html").symlink_to("theirs")
    os.lchown(tmp_path / "page.html", 65534, 65534)
    with pytest.raises(FileError, match="is a link made by another user in a shared directory"):
        write_atomically(b"x", tmp_path / "page.html")
    assert (tmp_path / "theirs").read_text() == "precious"


@pytest.mark.parametrize(
    ("harm", "message"), [("remove", "was removed"), ("replace", "was replaced"), ("cut", "was truncated")]
)
def test_a_run_whose_file_is_removed_ends_at_once(tmp_path: Path, harm: str, message: str) -> None:
    path, other = tmp_path / "x.jsonl", recorded_file("quick.jsonl", tmp_path)
    before = other.read_bytes()
    process = subprocess.Popen(
        [sys.executable, "-m", "nameplate", "run", "null", "--rounds", "1000", "--samples", "5", "-o", path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (path.exists() and b'"type":"outcome"' in path.read_bytes()):
        assert process.poll() is None
        time.sleep(0.01)
    if harm == "remove":
        path.unlink()
    elif harm == "replace":
        other.replace(path)
    else:
        os.truncate(path, 10)
    _, errors = process.communicate(timeout=WAIT_S)
    assert process.returncode == 2
    assert message in errors.splitlines()[-1]
    if harm == "replace":
        assert path.read_bytes() == before


def test_history_retries_a_file_that_could_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = recorded_file("series.jsonl", tmp_path)

    def refused(*_: object) -> None:
        raise ReadError(f"cannot read {path}: Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("nameplate.history.update.read_digest", refused)
        first = updated(empty_index(), tmp_path, run_files(tmp_path), lambda *_: None)
    assert first.entries[0].reason
    second = updated(first, tmp_path, run_files(tmp_path), lambda *_: None)
    assert [entry.reason for entry in second.entries] == [""]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--seed", "9223372036854775808", "--seed 9223372036854775808: not a seed"),
        ("--samples", "9223372036854775808", "is too large: use at most"),
        ("--budget", "999999999999999999999s", "is too long: use at most"),
        ("--time", "99999999999999h", "is too long: use at most"),
        ("--series", "100000000000s/1s", "is too long: use at most"),
    ],
)
def test_impossible_numbers_are_rejected(tmp_path: Path, option: str, value: str, message: str) -> None:
    answer = nameplate("run", "null", option, value, "-o", tmp_path / "x.jsonl")
    assert answer.returncode == 2
    assert message in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_broken_mpi_build_affects_nothing_else(
    core_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(core_path, tmp_path / "nameplate-core")
    broken = tmp_path / "nameplate-core-mpi-openmpi"
    broken.write_text("#!/bin/sh\necho 'libmpi.so.40: cannot open shared object file' >&2\nexit 127\n")
    broken.chmod(0o755)
    monkeypatch.setenv("NAMEPLATE_CORE", str(tmp_path / "nameplate-core"))
    assert "null" in describe_all()
    assert mpi_libraries() == {"openmpi": ""}


def test_a_deadline_of_months_is_supported(tmp_path: Path) -> None:
    answer = nameplate("run", "null", "--series", "600h/1s", "--samples", "1", "--dry-run")
    assert answer.returncode == 0, answer.stderr
    process = subprocess.Popen(
        [sys.executable, "-m", "nameplate", "run", "null", "--series", "900h/1s", "-o", tmp_path / "x.jsonl"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not ((tmp_path / "x.jsonl").exists() and b'"type":"sample"' in (tmp_path / "x.jsonl").read_bytes()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WAIT_S)
    assert "timeout is too large" not in errors
    assert read_run(tmp_path / "x.jsonl").measurements


def test_a_program_started_for_its_version_does_not_outlive_nameplate(tmp_path: Path) -> None:
    core = tmp_path / "core"
    core.write_text('#!/bin/sh\necho $$ > "$0.pid"\nexec sleep 600\n')
    core.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "nameplate", "machine"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "NAMEPLATE_CORE": str(core)},
    )  # fmt: skip
    while not (core.with_name("core.pid").exists() and core.with_name("core.pid").read_text().strip()):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + WAIT_S
    pid = core.with_name("core.pid").read_text().strip()
    while Path(f"/proc/{pid}/stat").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}/stat").exists()


@pytest.mark.parametrize("columns", ["0", "1", "100000000"])
def test_help_works_at_any_width(columns: str) -> None:
    answer = nameplate("run", "--help", COLUMNS=columns)
    assert answer.returncode == 0
    assert "--budget" in answer.stdout
    assert len(answer.stdout) < 100_000


def test_markdown_shows_the_content_of_a_file_as_text(tmp_path: Path) -> None:
    path = recorded_file("quick.jsonl", tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"avx512"', b'"<img src=x onerror=1>[c](javascript:1)`x`|"'))
    text = export(read_report(path))
    assert "onerror" in text
    assert not {"<", ">", "`"} & set(text)
    assert "[c]" not in text


def test_a_name_with_newlines_adds_no_line_to_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded_file("quick.jsonl", tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"avx512"', b'"x\\nmemory_block verified: 99.9 GB/s\\n"'))
    assert run(["show", str(path)]) == 0
    assert not any(line.startswith("memory_block verified") for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    "options",
    [["--max-bytes", "-1"], ["--max-bytes", "0"], ["--max-seconds", "nan"], ["--max-seconds", "inf"],
     ["--max-sessions", "0"], ["--max-sessions", "-1"], ["--port", "99999"], ["--frob"]],
)  # fmt: skip
def test_invalid_limits_of_a_peer_are_rejected_in_one_line(core_path: Path, options: list[str]) -> None:
    answer = subprocess.run([core_path, "serve", *options], capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stderr.startswith("nameplate-core: ")


def test_wrong_paths_are_reported_in_one_line(tmp_path: Path) -> None:
    recorded = recorded_file("series.jsonl", tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    for arguments in (
        ["report", recorded, "-o", tmp_path / "loop"], ["report", recorded, "-o", tmp_path / ("x" * 300)],
        ["show", tmp_path / ("x" * 300)], ["history", tmp_path / ("x" * 300)],
        ["run", "null", "--report", tmp_path / ("x" * 300)], ["run", "null", "-o", ""],
    ):  # fmt: skip
        answer = nameplate(*arguments)
        assert answer.returncode == 2, (arguments, answer.stderr)
        assert len(answer.stderr.splitlines()) == 1, answer.stderr


def test_a_file_that_cannot_be_examined_is_an_error_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(descriptor: int) -> os.stat_result:
        raise OSError(116, "Stale file handle")

    with RunWriter.create(tmp_path / "x.jsonl") as writer:
        writer.write(first_record(plan("a")))
        with monkeypatch.context() as patch:
            patch.setattr(os, "fstat", stale)
            with pytest.raises(FileError, match="Stale file handle"):
                writer.write(first_record(plan("a")))


def test_a_line_before_the_record_is_ignored(tmp_path: Path, core_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chatty = tmp_path / "nameplate-core"
    chatty.write_text(f'#!/bin/sh\necho "UCX WARN no /proc"\nexec {core_path} "$@"\n')
    chatty.chmod(0o755)
    monkeypatch.setenv("NAMEPLATE_CORE", str(chatty))
    assert "null" in describe_all()
    chatty.write_text("#!/bin/sh\nprintf '\\377\\376'\n")
    with pytest.raises(CoreDied, match="wrote a line that is not a record"):
        describe_all()


def test_a_job_with_too_many_ranks_is_rejected_before_it_fills_the_memory(tmp_path: Path) -> None:
    srun = tmp_path / "srun"
    srun.write_text("#!/bin/sh\nexit 1\n")
    srun.chmod(0o755)
    answer = nameplate("run", "mpi_pingpong", "--mpi", f"{srun} -N 99999999999 -n 4", "--slurm", tmp_path / "job")
    assert answer.returncode == 2
    assert "srun's --nodes=99999999999: use a number from 1 to" in answer.stderr
    answer = nameplate("run", "mpi_pingpong", "--mpi", f"{srun} -N 0", "--slurm", tmp_path / "job")
    assert answer.returncode == 2
    assert "srun's --nodes=0: use a number from 1 to" in answer.stderr


def test_a_core_without_a_machine_record_is_named(tmp_path: Path) -> None:
    core = tmp_path / "core"
    core.write_text("#!/bin/sh\necho '{}'\n")
    core.chmod(0o755)
    answer = nameplate("machine", NAMEPLATE_CORE=str(core))
    assert answer.returncode == 3
    assert "--machine wrote a record that is not valid: Object missing required field" in answer.stderr


def test_an_impossible_time_zone_does_not_end_a_run(tmp_path: Path) -> None:
    answer = nameplate("run", "null", "--rounds", "1", "--samples", "1", "-o", tmp_path / "x.jsonl", TZ="XXX+167")
    assert answer.returncode == 0, answer.stderr
    assert read_run(tmp_path / "x.jsonl").run.started.endswith("+00:00")


def test_a_named_pipe_as_key_file_is_rejected_at_once(core_path: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key", 0o600)
    answer = subprocess.run(
        [core_path, "serve", "--port", "0", "--key-file", tmp_path / "key"], capture_output=True, text=True,
        check=False, timeout=WAIT_S,
    )  # fmt: skip
    assert answer.returncode == 2
    assert answer.stderr == f"nameplate-core: the key file {tmp_path / 'key'} is not a regular file\n"


def test_a_file_size_limit_is_an_error_and_does_not_kill_the_run(core_path: Path, tmp_path: Path) -> None:
    request = {"id": "x", "probe": "disk_block", "slice_s": 0.1, "params": {
        "op": "write", "block": 1 << 16, "size": 1 << 22, "file": str(tmp_path / "f"), "library": "posix"}}  # fmt: skip
    answer = subprocess.run(
        ["sh", "-c", f"ulimit -f 1000; exec {core_path}"], input=json.dumps(request) + "\n", capture_output=True,
        text=True, check=False, timeout=WAIT_S,
    )  # fmt: skip
    (outcome,) = [record for record in map(json.loads, answer.stdout.splitlines()) if record["type"] == "outcome"]
    assert (answer.returncode, outcome["ending"]) == (0, "failed"), outcome
    assert "File too large" in outcome["reason"]


def test_a_working_directory_that_was_deleted_is_named(tmp_path: Path) -> None:
    script = f"mkdir gone; cd gone; rmdir ../gone; exec {sys.executable} -m nameplate plan quick"
    answer = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, check=False, timeout=WAIT_S, cwd=tmp_path
    )
    assert answer.returncode == 2
    assert answer.stderr == "nameplate: the working directory has been deleted: change to another one\n"


def test_a_run_works_on_a_file_system_without_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def fsync(descriptor: int) -> None:
        calls.append(descriptor)
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fsync)
    with RunWriter.create(tmp_path / "x.jsonl") as writer:
        writer.write(first_record(plan()))
        writer.sync()
    assert calls
    assert read_run(tmp_path / "x.jsonl").run.plan == plan()


def test_history_reads_in_one_process_if_others_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded_file("quick.jsonl", tmp_path)
    monkeypatch.setattr(process_pool, "MIN_BATCHES", 1)

    def no_semaphore(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(process_pool, "ProcessPoolExecutor", no_semaphore)
    (entry,) = updated(empty_index(), tmp_path, run_files(tmp_path)).entries
    assert entry.reason == ""
    assert entry.plan == "quick"


def test_a_budget_of_centuries_starts(tmp_path: Path) -> None:
    answer = nameplate(
        "run", "null", "--rounds", "1", "--samples", "1", "--budget", "200000h", "-o", tmp_path / "x.jsonl"
    )
    assert answer.returncode == 0, answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("content", [None, "cpu  0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\n", "cpu0 7 0\n", "cpu0 x\n"])
def test_doctor_does_not_know_what_proc_stat_does_not_count(
    content: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(busy_cpus, "_STAT", tmp_path / "stat")
    if content is not None:
        (tmp_path / "stat").write_text(content)
    assert busy_cpus.busiest_cpu([0], over_s=0.0) is None
    assert run(["doctor", "--json", "--at-least", "C"]) == 1
    findings = {item["what"]: item for item in json.loads(capsys.readouterr().out)["environment"]}
    for name in ("steal", "other work"):
        assert findings[name]["grade"] == "?"
        assert findings[name]["state"].startswith("unknown")
