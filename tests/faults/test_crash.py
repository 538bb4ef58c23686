"""A crash or a kill at any moment: measured results are kept, and a resumed run measures the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from nameplate.command_line import run
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

FAULTS = Path(__file__).parent
SYNC_AFTER_S = 1.0
ROUNDS = 40
# The slice is long enough for all samples, even on a busy machine.
PATIENT_PLAN = """
[[experiment]]
probe = "null"
threads = "1,2"
slice = "30s"
"""
START = f"""
import sys
from nameplate.records import run_writer
run_writer.SYNC_AFTER_S = {SYNC_AFTER_S}
from nameplate.__main__ import main
sys.argv[1:] = sys.argv[1:]
main()
"""


@pytest.fixture(scope="session")
def lossy_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile and return the library that keeps a copy of the data that was synced."""
    library = tmp_path_factory.mktemp("faults") / "sync_faults.so"
    subprocess.run(["gcc", "-shared", "-fPIC", FAULTS / "sync_faults.c", "-o", library], check=True)
    return library


def test_a_crash_of_the_machine_loses_no_more_than_the_stated_time(tmp_path: Path, lossy_disk: Path) -> None:
    path, left = tmp_path / "x.jsonl", tmp_path / "left.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", START, "run", "null", "--rounds", str(ROUNDS), "--samples", "5", "-o", path],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path,
        env={**os.environ, "LD_PRELOAD": str(lossy_disk), "NAMEPLATE_SYNCED": str(left)},
    )  # fmt: skip
    sizes: list[tuple[float, int]] = []
    while not left.exists() or len(sizes) < 20:
        assert process.poll() is None, process.communicate()
        sizes.append((time.monotonic(), path.stat().st_size if path.exists() else 0))
        time.sleep(0.1)
    killed_at = time.monotonic()
    process.kill()
    process.communicate()
    # Between the end of an experiment and the fsync, the next experiment runs and its round may start.
    slack_s = 1.0 + 2 * longest_pause_s(sizes)
    old_enough = max(size for at, size in sizes if at < killed_at - SYNC_AFTER_S - slack_s or size == 0)
    retained = left.read_bytes()
    assert path.read_bytes().startswith(retained)
    assert len(retained) >= old_enough
    assert run(["run", "--resume", str(left), "--quiet"]) == 0
    assert rounds_of(left) == list(range(1, ROUNDS + 1))


def longest_pause_s(sizes: Sequence[tuple[float, int]]) -> float:
    """Return the longest time in seconds for which the file did not grow, after its first growth."""
    grown = [at for (_, before), (at, size) in pairwise(sizes) if size > before]
    return max((later - earlier for earlier, later in pairwise(grown)), default=0.0)


def rounds_of(path: Path) -> list[int]:
    """Return the round numbers of a complete run with one experiment."""
    file = read_run(path)
    assert file.stop is not None
    assert file.stop.reasons == {"null": "rounds"}
    return [measurement.outcome.round for measurement in file.measurements if measurement.outcome.ending == "ok"]


def kill_nameplate(process: subprocess.Popen[bytes], core: int) -> None:
    process.kill()


def kill_core_and_nameplate(process: subprocess.Popen[bytes], core: int) -> None:
    # The core may have ended meanwhile; process 0 would be the test's own group.
    if core:
        with suppress(ProcessLookupError):
            os.kill(core, signal.SIGKILL)
    process.kill()


def terminate(process: subprocess.Popen[bytes], core: int) -> None:
    process.send_signal(signal.SIGTERM)


def hang_up(process: subprocess.Popen[bytes], core: int) -> None:
    process.send_signal(signal.SIGHUP)


def interrupt_twice(process: subprocess.Popen[bytes], core: int) -> None:
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "kill",
    [kill_nameplate, kill_core_and_nameplate, terminate, hang_up, interrupt_twice],
    ids=lambda kill: kill.__name__,
)
def test_a_killed_and_resumed_run_is_like_an_uninterrupted_one(
    tmp_path: Path, kill: Callable[[subprocess.Popen[bytes], int], None]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PATIENT_PLAN)
    options = [str(plan), "--rounds", "3", "--samples", "20", "--seed", "7"]
    complete, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    assert run(["run", *options, "--quiet", "-o", str(complete)]) == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "nameplate", "run", *options, "-o", str(broken)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not (broken.exists() and b'"type":"sample"' in broken.read_bytes()):
        assert process.poll() is None
        time.sleep(0.001)
    core = next(iter(children_of(process.pid)), 0)
    kill(process, core)
    process.wait(30)
    assert run(["run", "--resume", str(broken), "--quiet"]) == 0
    assert measured(broken) == measured(complete)


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def measured(path: Path) -> tuple[dict[str, str], list[tuple[str, int, int]]]:
    """Return why each experiment stopped, and the complete measurements as (id, round, number of samples)."""
    file = read_run(path)
    assert file.stop is not None
    complete = [measurement for measurement in file.measurements if not measurement.outcome.interrupted]
    return file.stop.reasons, sorted(
        (measurement.outcome.id, measurement.outcome.round, len(measurement.samples)) for measurement in complete
    )


def test_a_killed_core_costs_one_round_which_a_resumed_run_measures(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "nameplate", "run", "null", "--rounds", "4", "--samples", "1", "--time", "1s",
         "-o", path],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    while not (path.exists() and b'"type":"header","round":2' in path.read_bytes()):
        assert process.poll() is None
        time.sleep(0.001)
    for core in children_of(process.pid):
        os.kill(core, signal.SIGKILL)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "1 of 4 rounds failed: nameplate-core was killed by SIGKILL" in " ".join(printed.split())
    (before,) = {result.summary.rounds for result in summarise(read_run(path)).results}
    assert before == 3
    assert run(["show", str(path)]) == 0
    assert run(["run", "--resume", str(path), "--quiet"]) == 0
    report = summarise(read_run(path))
    assert {(result.summary.rounds, result.summary.stop) for result in report.results} == {(4, "rounds")}
    assert not [note for note in report.notes if "failed" in note]


def test_two_runs_never_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    command = [sys.executable, "-m", "nameplate", "run"]
    first = subprocess.Popen(
        [*command, "null", "--rounds", "30", "--samples", "20", "-o", path], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not (path.exists() and b'"type":"header"' in path.read_bytes()):
        assert first.poll() is None
        time.sleep(0.001)
    second = subprocess.run([*command, "--resume", path], capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "is in use by another run" in second.stderr
    assert first.poll() is None
    first.send_signal(signal.SIGINT)
    first.wait(30)
    headers = [
        json.loads(line)["round"] for line in path.read_text().splitlines() if line.startswith('{"type":"header"')
    ]
    assert headers == sorted(set(headers)), "each round has one header"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_keeps_complete_lines_and_the_run_is_resumed_elsewhere(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    message = (
        f"mount -t tmpfs -o size=24k tmpfs {small} && {sys.executable} -m nameplate run null --rounds 200 --samples 3"
    )
    keep = f"code=$?; cp {small}/x.jsonl {tmp_path}/x.jsonl; exit $code"
    answer = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"{message} -o {small}/x.jsonl; {keep}"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1].endswith(f"are kept; continue with --resume {small}/x.jsonl")
    assert "No space left on device; the samples before are kept" in answer.stderr
    path = tmp_path / "x.jsonl"
    assert path.read_bytes().endswith(b"\n")
    assert read_run(path).measurements
