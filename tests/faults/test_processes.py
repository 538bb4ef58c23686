"""Programs that nameplate starts never block when they write much, and none of them outlives nameplate."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nameplate.errors import CoreDied, CoreHung
from nameplate.execution import child_process
from nameplate.execution.core_process import CoreProcess
from nameplate.execution.launch import Launch, core_path
from nameplate.records.run_record import Header, Outcome, Sample
from nameplate.tools.paired import scratch
from nameplate.tools.tool_process import run_tool

WAIT_S = 60.0


def launcher(folder: Path, script: str) -> Launch:
    """Return a launch of the core through a shell script that replaces an MPI launcher."""
    path = folder / "launcher"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Launch(core_path(), (str(path),))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids: list[int]) -> list[int]:
    """Wait for the processes to end; return the ones that still run after the deadline."""
    deadline = time.monotonic() + WAIT_S
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def test_a_megabyte_of_messages_does_not_block_a_run(tmp_path: Path) -> None:
    noise = 'i=0; while [ $i -lt 16000 ]; do echo "rank $i is bound to core 0, socket 0, as it was asked for" >&2; '
    records: list[Header | Sample | Outcome] = []
    core = CoreProcess(records.append, launch=launcher(tmp_path, noise + 'i=$((i+1)); done; exec "$@"'))
    outcome = core.measure({"id": "x", "probe": "null", "params": {}, "slice_s": 0.05}, 20, records.append)
    core.close()
    assert outcome.ending == "ok"


def test_the_reason_is_kept_among_many_messages(tmp_path: Path) -> None:
    noise = 'echo "nameplate-core: no room" >&2; i=0; while [ $i -lt 9000 ]; do echo "noise $i" >&2; i=$((i+1)); done'
    with pytest.raises(CoreDied, match="ended with exit code 7: nameplate-core: no room"):
        CoreProcess(lambda _: None, launch=launcher(tmp_path, noise + "; exit 7"))


def test_ten_thousand_lines_that_are_not_records_are_ignored(tmp_path: Path) -> None:
    noise = "i=0; while [ $i -lt 10000 ]; do echo MPI says hello; i=$((i+1)); done"
    records: list[Header | Sample | Outcome] = []
    core = CoreProcess(records.append, launch=launcher(tmp_path, noise + '; exec "$@"'))
    core.close()
    assert isinstance(records[0], Header)


def test_an_endless_line_is_rejected_before_it_fills_the_memory(tmp_path: Path) -> None:
    with pytest.raises(CoreDied, match="a line of more than 64 MiB instead of a record"):
        CoreProcess(lambda _: None, launch=launcher(tmp_path, "tr '\\0' x < /dev/zero"))


def test_messages_without_records_end_at_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nameplate.execution.launch.MPI_START_DEADLINE_S", 3.0)
    with pytest.raises(CoreHung, match=r"did not answer before its deadline .*; its last message: .*rank 3$"):
        CoreProcess(lambda _: None, launch=launcher(tmp_path, "while :; do echo waiting for rank 3 >&2; done"))


def test_a_tool_that_writes_much_to_both_streams_does_not_block(tmp_path: Path) -> None:
    script = "import sys; [print('x' * 999, file=f) for f in (sys.stdout, sys.stderr) for _ in range(1000)]"
    assert len(run_tool([sys.executable, "-c", script], tmp_path, WAIT_S)) == 1_000_000


# A parent that starts a program as nameplate does, prints its process id and waits.
PARENT = """
import sys, time
from nameplate.execution import child_process
child = child_process.start(["sleep", "600"])
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_no_program_outlives_a_killed_nameplate(number: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert is_running(pid)
    parent.send_signal(number)
    parent.communicate(timeout=WAIT_S)
    assert wait_until_gone([pid]) == []


def test_a_program_does_not_start_if_its_parent_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getppid", lambda: 1)
    process = child_process.start(["sleep", "600"])
    assert process.wait(WAIT_S) == 1
    child_process.end(process)


def test_the_children_of_a_program_end_with_it() -> None:
    process = child_process.start(["sh", "-c", "sleep 600 & echo $!; wait"])
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    assert is_running(pid)
    child_process.end(process)
    assert wait_until_gone([pid]) == []


def descendants_named(parent: int, word: str) -> list[int]:
    """Return the descendants of ``parent`` whose command line contains the word."""
    matches = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            message = (entry / "cmdline").read_bytes().decode(errors="replace")
            ancestor = int(entry.name)
            while ancestor not in (0, 1, parent):
                ancestor = int((Path("/proc") / str(ancestor) / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if ancestor == parent and word in message and int(entry.name) != parent:
            matches.append(int(entry.name))
    return matches


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_versus_leaves_no_server_and_no_folder(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "nameplate", "versus", "sockperf", "--pairs", "50", "--time", "1s"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    servers: list[int] = []
    while not servers:
        assert process.poll() is None, process.communicate()
        servers = descendants_named(process.pid, "serve")
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=WAIT_S)
    assert "Traceback" not in errors
    assert wait_until_gone(servers) == []
    if number == signal.SIGKILL:
        # A killed process cannot remove its folder, so the next versus does.
        (tmp_path / ".nameplate-versus-stray").write_text("no folder")
        with scratch(tmp_path) as folder:
            assert [path for path in tmp_path.iterdir() if path.is_dir()] == [folder]
        assert [path.name for path in tmp_path.iterdir()] == [".nameplate-versus-stray"]
    else:
        assert process.returncode == 3
        assert list(tmp_path.iterdir()) == []


def test_a_folder_of_a_running_versus_is_left_alone(tmp_path: Path) -> None:
    with scratch(tmp_path) as first, scratch(tmp_path) as second:
        assert first.is_dir()
        assert second.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_core_does_not_start_if_its_parent_has_ended(core_path: Path) -> None:
    gone = subprocess.run([core_path, "--die-with-parent", "1"], input=b"", capture_output=True, check=False)
    assert (gone.returncode, gone.stdout) == (3, b"")
    command = [str(core_path), "--die-with-parent", str(os.getpid())]
    assert subprocess.run(command, input=b"", capture_output=True, check=False).returncode == 0
