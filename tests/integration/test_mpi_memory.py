"""The kinds of memory of mpi_stream: real files on real mounts, through libpmem and memkind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from machine_wide import unused_name
from mpi_ranks import OPEN_MPI, ask, command, nameplate, ranks_of, stream
from nameplate.execution.launch import mpi_programs
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

pytestmark = pytest.mark.usefixtures("as_root")

OPERATIONS = ["copy", "scale", "add", "triad", "read", "write"]
WRITING = [op for op in OPERATIONS if op != "read"]


@pytest.fixture
def small_mount(tmp_path: Path) -> Iterator[Path]:
    """Mount a tmpfs of 4 MiB; skip the test if that is not possible."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    directory = tmp_path / "small"
    directory.mkdir()
    arguments = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(directory)]
    if subprocess.run(arguments, capture_output=True, check=False).returncode != 0:
        pytest.skip("this container may not mount")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


@pytest.fixture
def tmpfs() -> Path:
    """Return the tmpfs that Debian mounts."""
    return Path("/dev/shm")


def measured(ranks: int, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    return [r for r in ask(command("openmpi", ranks), *requests) if r["type"] == "outcome"]


def pmem(path: Path | str, **params: Any) -> dict[str, Any]:
    return stream(**{"memory": "pmem", "path": str(path), "repeats": 2, **params})


def test_every_operation_is_verified_on_every_kind_of_memory(tmp_path: Path) -> None:
    kinds: list[dict[str, Any]] = [{}, *({"memory": kind, "path": str(tmp_path)} for kind in ("pmem", "memkind"))]
    requests = [stream(op=op, repeats=2, **kind) for kind in kinds for op in OPERATIONS]
    outcomes = measured(2, *requests)
    assert [r["ending"] for r in outcomes] == ["ok"] * len(requests), outcomes
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("persist", ["none", "element", "array"])
def test_stores_are_verified_however_they_are_made_durable(tmpfs: Path, persist: str) -> None:
    outcomes = measured(2, *(pmem(tmpfs, op=op, persist=persist, size=65536, threads=2) for op in WRITING))
    assert [r["ending"] for r in outcomes] == ["ok"] * len(WRITING), outcomes


def test_a_mount_is_reported_by_its_kind(tmpfs: Path, tmp_path: Path) -> None:
    in_memory, on_disk, of_memkind = measured(1, pmem(tmpfs), pmem(tmp_path), stream(memory="memkind", path=str(tmpfs)))
    labels = {"path": str(tmpfs), "filesystem": "tmpfs", "mount": "memory"}
    assert in_memory["labels"].items() >= {**labels, "durability": "none"}.items()
    assert (on_disk["labels"]["mount"], on_disk["labels"]["durability"]) == ("file", "none")
    assert of_memkind["labels"].items() >= labels.items()
    assert "durability" not in of_memkind["labels"]


def test_a_claim_of_persistence_does_not_change_the_kind_of_the_mount(
    tmpfs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMEM_IS_PMEM_FORCE", "1")
    (outcome,) = measured(1, pmem(tmpfs, persist="array"))
    assert outcome["ending"] == "ok"
    assert (outcome["labels"]["mount"], outcome["labels"]["durability"]) == ("memory", "forced")


@pytest.mark.parametrize(
    ("params", "ending", "message"),
    [
        ({"memory": "pmem"}, "skipped", "memory=pmem needs path="),
        ({"memory": "memkind"}, "skipped", "memory=memkind needs path="),
        ({"path": "/dev/shm"}, "skipped", "path= needs memory=pmem or memory=memkind"),
        ({"memory": "pmem", "path": "/no/such/place"}, "failed", "path=/no/such/place: No such file or directory"),
        ({"memory": "memkind", "path": "/no/such/place"}, "failed", "path=/no/such/place: No such file or directory"),
        ({"memory": "pmem", "path": "/etc/passwd"}, "failed", "path=/etc/passwd: not a directory"),
        ({"memory": "pmem", "path": ""}, "failed", "path= names no directory"),
        ({"memory": "pmem", "path": "/proc"}, "failed", "libpmem cannot map 4096 bytes in /proc"),
        ({"persist": "array"}, "skipped", "persist=array needs memory=pmem"),
        ({"memory": "memkind", "path": "/dev/shm", "persist": "array"}, "skipped", "persist=array needs memory=pmem"),
        ({"memory": "pmem", "path": "/dev/shm", "persist": "array", "op": "read"}, "skipped", "op=read stores nothing"),
        (
            {"memory": "pmem", "path": "/dev/shm", "persist": "element", "stores": "nontemporal"},
            "skipped", "stores=nontemporal: each store is too small to be made durable by element",
        ),
        (
            {"memory": "pmem", "path": "/dev/shm", "persist": "element", "size": "1GiB", "repeats": 1000000},
            "skipped", "choose a smaller size or fewer repeats",
        ),
        ({"memory": "pmem", "path": "/dev/shm", "size": "1TiB"}, "skipped", "of memory"),
    ],
)  # fmt: skip
def test_impossible_memory_is_rejected_in_one_line(params: dict[str, Any], ending: str, message: str) -> None:
    (outcome,) = measured(2, stream(**{"repeats": 2, **params}))
    assert (outcome["ending"], len(outcome["reason"].splitlines())) == (ending, 1)
    assert message in outcome["reason"]


@pytest.mark.parametrize("memory", ["pmem", "memkind"])
def test_a_full_mount_is_rejected_and_the_job_continues(small_mount: Path, memory: str) -> None:
    refused, then = measured(2, stream(memory=memory, path=str(small_mount), size="8MiB"), stream(repeats=2))
    assert (refused["ending"], then["ending"]) == ("skipped", "ok")
    assert f"{small_mount} is full: 8388608 bytes do not fit" in refused["reason"]


def test_an_ordinary_disk_keeps_its_reserve(tmp_path: Path) -> None:
    (outcome,) = measured(1, pmem(tmp_path, size="100TiB"))
    assert outcome["ending"] == "skipped"
    assert f"do not fit {tmp_path}" in outcome["reason"]


def test_several_directories_are_used_one_per_node(tmpfs: Path, tmp_path: Path) -> None:
    machine = ask(command("openmpi", 1))[0]["machine"]
    if len(machine["topology"]["numa_nodes"]) != 1:
        pytest.skip("a machine with one NUMA node is wanted")
    (outcome,) = measured(1, pmem(f"{tmpfs}:{tmp_path}"))
    assert outcome["ending"] == "skipped"
    assert "2 directories for 1 NUMA nodes" in outcome["reason"]


def test_ranks_with_different_memory_are_rejected_by_name(tmpfs: Path, tmp_path: Path) -> None:
    """Each rank's path is on another file system, as if a mount were missing on one node."""
    program = mpi_programs()["openmpi"]
    (tmp_path / "0").symlink_to(tmpfs)
    (tmp_path / "1").mkdir()
    script = f"cd {tmp_path}/$OMPI_COMM_WORLD_RANK && exec {program}"
    records = ask([*OPEN_MPI.split(), "-n", "2", "sh", "-c", script], pmem("."), stream(repeats=2))
    refused, then = [r for r in records if r["type"] == "outcome"]
    assert (refused["ending"], then["ending"]) == ("skipped", "ok")
    assert refused["reason"].startswith("rank 1 on ")
    assert "the first rank's" in refused["reason"]
    assert "tmpfs" in refused["reason"]


@pytest.mark.parametrize("memory", ["pmem", "memkind"])
def test_a_killed_job_leaves_no_file_and_no_memory_behind(tmpfs: Path, tmp_path: Path, memory: str) -> None:
    for directory in (tmpfs, tmp_path):
        path = directory / unused_name("nameplate-test")
        path.mkdir()
        try:
            _start_and_kill(stream(memory=memory, path=str(path), size="128MiB", repeats=100000))
            assert list(path.iterdir()) == []
            assert not _mapping_programs(path)
        finally:
            shutil.rmtree(path)


def _mapping_programs(directory: Path) -> list[str]:
    """Return the processes that map files in ``directory``; a mapping keeps a deleted file's memory in use."""
    identities = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            identities += [maps.parent.name] if f" {directory}/" in maps.read_text() else []
    return identities


def _start_and_kill(request: dict[str, Any]) -> None:
    with subprocess.Popen(
        command("openmpi", 1), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"id": "x", "warmup_s": 0, **request}).encode() + b"\n")
        process.stdin.flush()
        position = request["params"]["path"]
        deadline = time.monotonic() + 60
        while not (ranks := _with_arrays(process.pid, position)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert ranks, "no rank has mapped its arrays"
        os.kill(ranks[0], signal.SIGKILL)
        process.wait(60)


def _with_arrays(launcher: int, position: str) -> list[int]:
    """Return the ranks that have mapped all three arrays."""
    ranks = ranks_of(mpi_programs()["openmpi"], launcher)
    return [rank for rank in ranks if _mapped_bytes(rank, position) >= 3 * (128 << 20)]


def _mapped_bytes(rank: int, position: str) -> int:
    total = 0
    for line in Path(f"/proc/{rank}/maps").read_text().splitlines():
        if position in line and line.endswith("(deleted)"):
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            total += end - start
    return total


def test_a_wrong_element_in_a_file_is_found(tmpfs: Path) -> None:
    faulty = Path(__file__).parents[2] / "build" / "release" / "nameplate-core-faulty-mpi-openmpi"
    assert faulty.is_file(), f"build it: cmake --build --preset release --target {faulty.name}"
    for persist in ("array", "element"):
        records = ask([*OPEN_MPI.split(), "-n", "1", str(faulty)], pmem(tmpfs, op="copy", persist=persist, size=65536))
        outcome = next(r for r in records if r["type"] == "outcome")
        assert outcome["ending"] == "invalid"
        assert "but copy gives" in outcome["reason"]


def test_a_run_notes_that_the_memory_was_not_persistent(tmpfs: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    arguments = ["run", "mpi_stream", "op=triad,read", "memory=pmem", f"path={tmpfs}", "persist=none,array"]
    more = ["size=1MiB", "repeats=2", "threads=1", "--mpi", f"{OPEN_MPI} -n 2", "--rounds", "1", "--samples", "1"]
    answer = nameplate(*arguments, *more, "-o", str(path))
    assert answer.returncode == 0, answer.stderr
    report = summarise(read_run(path))
    persisted = next(
        r for r in report.results if r.summary.params["persist"] == "array" and r.summary.value is not None
    )
    assert f"tmpfs on {tmpfs}: ordinary memory, not persistent memory" in persisted.remarks
    assert "not persistent: flushed by msync" in persisted.remarks
    assert persisted.rated.value is None
    assert f"memory=pmem, path={tmpfs}, persist=array" in " ".join(table.title for table in report.tables)
