"""Files that would exhaust memory or a shared file system are rejected before they are written."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_hosts import make_launcher
from machine_wide import unused_name
from nameplate.execution.launch import mpi_programs

MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")


@pytest.fixture
def group_of_600_mb() -> Iterator[Path]:
    """Create a control group with a memory limit of 600 MiB; skip the test if that is not possible."""
    group = MEMORY_GROUPS / unused_name("nameplate-test-room")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        (group / "memory.limit_in_bytes").write_text(str(600 << 20))
        yield group
    finally:
        group.rmdir()


def outcome_of(text: str) -> dict[str, Any]:
    records = [json.loads(line) for line in text.splitlines()]
    return next(record for record in records if record["type"] == "outcome" and "node" not in record)


@pytest.mark.parametrize("op", ["read", "write"])
def test_a_file_in_memory_that_exceeds_the_group_limit_is_rejected(
    core_path: Path, tmp_path: Path, group_of_600_mb: Path, op: str
) -> None:
    def ask(size: str) -> dict[str, Any]:
        params = {"file": str(tmp_path), "size": size, "threads": 1, "op": op}
        request = {"id": "x", "probe": "disk_block", "params": params, "slice_s": 0.01, "warmup_s": 0.0}
        inside = f"mount -t tmpfs -o size=4g tmpfs {tmp_path} && exec {core_path}"
        answer = subprocess.run(
            ["unshare", "--mount", "sh", "-c", inside],
            input=json.dumps(request), capture_output=True, text=True, check=False,
            preexec_fn=lambda: (group_of_600_mb / "cgroup.procs").write_text(str(os.getpid())) and None,
        )  # fmt: skip
        assert answer.returncode == 0, answer.stderr
        return outcome_of(answer.stdout)

    refused = ask("1GB")
    assert refused["ending"] == "skipped"
    assert "files of size=1000000000 on tmpfs would take" in refused["reason"]
    assert "of the control group's limit of 600 MiB" in refused["reason"]
    assert ask("100MB")["ending"] == "ok"


@pytest.mark.usefixtures("as_root")
def test_files_of_all_nodes_must_fit_a_shared_file_system(tmp_path: Path) -> None:
    """Show the core a tmpfs of 600 MiB as NFS; it has room for one file of 200 MB, because half of it stays free."""
    directory, root = tmp_path / "shared", tmp_path / "root"
    directory.mkdir()
    (root / "proc" / "self").mkdir(parents=True)
    (root / "sys").symlink_to("/sys")
    for name in ("cpuinfo", "meminfo", "stat"):
        (root / "proc" / name).symlink_to(f"/proc/{name}")
    (root / "proc" / "self" / "mountinfo").write_text(f"25 22 0:50 / {directory} rw - nfs4 server:/x rw\n")
    launcher = make_launcher(tmp_path, ["near", "far"])
    program = f"{launcher} -n 2 {mpi_programs()['openmpi']} --root {root}"

    def ask(**more: object) -> dict[str, Any]:
        params = {"file": str(directory), "size": "200MB", "threads": 1, "op": "write"}
        request = {"id": "x", "probe": "disk_block", "params": params, "slice_s": 0.01, "warmup_s": 0.0, **more}
        inside = f"mount -t tmpfs -o size=600m tmpfs {directory} && exec {program}"
        answer = subprocess.run(
            ["unshare", "--mount", "sh", "-c", inside],
            input=json.dumps(request) + "\n", capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert answer.returncode == 0, answer.stderr
        return outcome_of("\n".join(line for line in answer.stdout.splitlines() if line.startswith("{")))

    together = ask(nodes=[0, 1], at_once=True)
    assert together["ending"] == "skipped", together
    assert "files of 381.5 MiB do not fit" in together["reason"]
    assert ask(nodes=[0, 1], at_once=False)["ending"] == "ok"


@pytest.mark.parametrize(
    ("size", "ending", "message"),
    [
        ("16MiB", "ok", ""),
        ("400MiB", "ok", ""),
        ("600MB", "skipped", "files of 572.2 MiB do not fit {place}: 512 MiB may be used"),
        ("513MiB", "skipped", "files of 513 MiB do not fit {place}: 512 MiB may be used"),
    ],
)
def test_a_small_file_system_has_room_for_half_of_it(
    core_path: Path, tmp_path: Path, size: str, ending: str, message: str
) -> None:
    params = {"op": "read", "block": "1MiB", "size": size, "cache": "as-is", "file": str(tmp_path), "threads": 1}
    request = {"id": "x", "probe": "disk_block", "params": params, "slice_s": 0.01, "warmup_s": 0.0}
    answer = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs -o size=1g tmpfs {tmp_path} && exec {core_path}"],
        input=json.dumps(request) + "\n", capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    outcome = outcome_of(answer.stdout)
    assert outcome["ending"] == ending, outcome
    assert message.format(place=tmp_path) in outcome.get("reason", "")
