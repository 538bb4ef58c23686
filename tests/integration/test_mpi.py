"""The MPI program with both MPIs of Debian: real launchers and real ranks."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest

from mpi_ranks import LAUNCHERS, OPEN_MPI, ask, command, faulty_mpi, nameplate, ranks_left, ranks_of, stream
from nameplate.execution.launch import CORE_VARIABLE, family_of, is_false_alarm, launch_with, mpi_programs
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

pytestmark = pytest.mark.usefixtures("as_root")


def experiment(**params: Any) -> dict[str, Any]:
    return {"probe": "mpi_pingpong", "params": params, "slice_s": 20, "sample_s": 0.002, "max_samples": 2}


def test_every_rank_takes_part_and_one_writes(family: str) -> None:
    header, *records = ask(command(family, 4), experiment(size=1000), experiment(size=0, pairs=2, pairing="mirrored"))
    job = header["machine"]["job"]
    assert (job["ranks"], len(job["nodes"]), job["placement"]) == (4, 1, [[0, 4]])
    assert {"openmpi": "Open MPI", "mpich": "MPICH"}[family] in job["library"]
    assert all(limit > 0 for limit in job["eager_limits"].values())
    assert job["eager_limits"]
    outcomes = [r for r in records if r["type"] == "outcome"]
    assert [r["ending"] for r in outcomes] == ["ok", "ok"]
    assert [r["labels"]["ranks"] for r in outcomes] == ["0-2", "0-3 1-2"]
    samples = [r for r in records if r["type"] == "sample" and r["id"] == "1"]
    assert len(samples) == 2
    for sample in samples:
        assert len(sample["workers"]) == 2
        assert sample["work"]["ops"] == 2 * 2 * sample["repetitions"]
        assert sample["work"]["bytes"] == 0
        assert all(w["start_s"] >= 0 and 0 < w["elapsed_s"] <= sample["elapsed_s"] * 1.001 for w in sample["workers"])


@pytest.mark.parametrize("pairing", ["block", "mirrored", "adjacent", "random"])
@pytest.mark.parametrize("ranks", [2, 5])
def test_any_number_of_ranks_in_any_pairing(pairing: str, ranks: int) -> None:
    records = ask(command("openmpi", ranks), experiment(size=64, pairs=ranks // 2, pairing=pairing, seed=3))
    outcome = next(r for r in records if r["type"] == "outcome")
    assert outcome["ending"] == "ok", outcome
    busy = outcome["labels"]["ranks"].replace("-", " ").split()
    assert len(set(busy)) == len(busy) == ranks // 2 * 2


@pytest.mark.parametrize("size", [0, 8, 70_000])
def test_any_kind_of_data_arrives(family: str, size: int) -> None:
    kinds = ("unchanged", "echo", "fresh")
    records = ask(command(family, 2), *(experiment(size=size, data=data) for data in kinds))
    outcomes = [r for r in records if r["type"] == "outcome"]
    assert [(r["ending"], r["params"]["data"]) for r in outcomes] == [("ok", data) for data in kinds]


@pytest.mark.parametrize(("link", "data", "noticed_by"), [
    ("0-1", "unchanged", 1), ("1-0", "unchanged", 0), ("0-1", "fresh", 1), ("1-0", "fresh", 0),
    ("0-1", "echo", 0),  # by both, since the wrong byte comes back; the reason is that of the leading rank
    ("1-0", "echo", 0),
])  # fmt: skip
def test_a_flipped_byte_is_noticed_in_both_directions(
    link: str, data: str, noticed_by: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(faulty_mpi("openmpi", tmp_path)))
    monkeypatch.setenv("FAULTY_LINK", link)
    records = ask(command("openmpi", 2), experiment(size=5000, data=data))
    outcome = next(r for r in records if r["type"] == "outcome")
    assert outcome["ending"] == "invalid"
    assert re.fullmatch(rf"rank {noticed_by} on \S+: a message differs from what was sent", outcome["reason"])


def test_impossible_parameters_are_skipped_and_the_rest_is_measured(family: str) -> None:
    records = ask(command(family, 3), experiment(pairs=2), experiment(size="nonsense"), experiment(size=8))
    outcomes = [r for r in records if r["type"] == "outcome"]
    assert (outcomes[0]["ending"], outcomes[0]["reason"]) == ("skipped", "pairs=2: 3 ranks can form at most 1 pairs")
    assert outcomes[1]["ending"] == "failed"
    assert outcomes[2]["ending"] == "ok"
    alone = ask(command(family, 1), experiment())
    assert "a message needs two" in next(r for r in alone if r["type"] == "outcome")["reason"]


def test_other_probes_measure_the_leading_rank() -> None:
    records = ask(command("openmpi", 2), {"probe": "null", "params": {}, "slice_s": 0.01})
    assert next(r for r in records if r["type"] == "outcome")["ending"] == "ok"


def test_a_launcher_of_another_mpi_is_detected(family: str) -> None:
    other = next(name for name in LAUNCHERS if name != family)
    answer = subprocess.run(
        command(family, 2, other), input="", capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == 3
    assert "the launcher started 2 processes" in answer.stderr
    assert "script/bootstrap --mpi=" in answer.stderr
    assert answer.stderr.count("launcher and MPI library do not match") == 1


def test_a_line_of_input_ends_the_run_after_the_current_sample(family: str) -> None:
    with subprocess.Popen(
        command(family, 2), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdin.write(json.dumps({"id": "long", **experiment(), "slice_s": 600, "max_samples": None}) + "\n")
        process.stdin.flush()
        time.sleep(0.5)
        process.stdin.write("stop\n")
        process.stdin.flush()
        records = [json.loads(line) for line in process.stdout]
        messages = process.stderr.read()
        assert process.wait(30) == 0 or is_false_alarm(messages), messages
    assert records[-1] == {"type": "end", "experiments": 1, "interrupted": True}
    assert next(r for r in records if r["type"] == "outcome")["interrupted"]


def test_a_killed_rank_ends_the_job_and_earlier_results_are_kept(family: str) -> None:
    with subprocess.Popen(
        command(family, 3), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps({"id": "first", **experiment()}) + "\n")
        process.stdin.write(json.dumps({"id": "second", **experiment(), "slice_s": 600, "max_samples": None}) + "\n")
        process.stdin.flush()
        measured = _lines_until(process.stdout, "outcome")
        ranks = ranks_of(mpi_programs()[family], process.pid)
        assert len(ranks) == 3, "the ranks are not to be found"
        os.kill(ranks[-1], signal.SIGKILL)
        out, err = process.stdout.read(), process.stderr.read()
        assert process.wait(60) != 0
    # The launcher of MPICH writes this message among the records, where nameplate filters it.
    assert "ignal 9" in err + out
    lines = [json.loads(line) for line in [*measured, *out.splitlines()] if line.startswith("{")]
    outcomes = [r for r in lines if r["type"] == "outcome"]
    assert [r["id"] for r in outcomes] == ["first"]
    deadline = time.monotonic() + 60
    while ranks_left(ranks) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not ranks_left(ranks)


def _lines_until(stream: IO[str], record: str) -> list[str]:
    """Return the lines of a program's output up to its first record of this type."""
    lines = [stream.readline()]
    while lines[-1] and f'"type":"{record}"' not in lines[-1]:
        lines.append(stream.readline())
    return lines


@pytest.mark.slow
def test_a_run_gives_the_costs_of_a_message(tmp_path: Path, family: str) -> None:
    path = tmp_path / "run.jsonl"
    sizes = "0..30000+1000,1,64,512"
    arguments = ["run", "mpi_pingpong", f"size={sizes}", "pairs=1", "--mpi", f"{LAUNCHERS[family]} -n 2"]
    answer = nameplate(*arguments, "--rounds", "2", "--samples", "1", "--time", "1ms", "-o", str(path))
    assert answer.returncode == 0, answer.stderr
    # The first screen has the table only if it has few lines, which depends on the number of breaks.
    assert "Message cost" in nameplate("show", "--all", str(path)).stdout
    report = summarise(read_run(path))
    metrics = {result.summary.metric for result in report.results}
    assert {"latency", "bandwidth", "startup_time", "incremental_cost"} <= metrics
    assert report.machine is not None
    assert report.machine.job is not None
    assert report.machine.job.ranks == 2


def test_the_launcher_determines_the_build(family: str) -> None:
    assert family_of(f"mpirun.{family}") == family
    launch = launch_with(f"mpirun.{family} -n 2")
    assert launch.program == mpi_programs()[family]
    assert launch.command("--machine") == [f"mpirun.{family}", "-n", "2", str(launch.program), "--machine"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mpi_pingpong"], "needs an MPI launcher"),
        (["mpi_pingpong", "--mpi", "no-such-mpirun -n 2"], "not found on PATH"),
        (["mpi_pingpong", "--mpi", ""], "not found on PATH"),
        (["mpi_pingpong", "--mpi", "mpirun.openmpi -n 2", "--priority", "high"], "whose launcher starts the processes"),
    ],
)
def test_a_launch_error_is_reported_in_one_line(arguments: list[str], message: str) -> None:
    answer = nameplate("run", *arguments)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_a_folder_that_open_mpi_cannot_make_is_explained() -> None:
    answer = nameplate("run", "mpi_pingpong", "--mpi", f"{OPEN_MPI} --mca orte_tmpdir_base /proc/self -n 2")
    assert answer.returncode == 3
    assert "could not make its folder for temporary files" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_without_an_mpi_build_the_package_is_named(
    tmp_path: Path, core_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nameplate-core").symlink_to(core_path)
    monkeypatch.setenv(CORE_VARIABLE, str(tmp_path / "nameplate-core"))
    answer = nameplate("run", "mpi_pingpong", "--mpi", "mpirun -n 2")
    assert answer.returncode == 2
    assert "apt install libopenmpi-dev openmpi-bin, then script/bootstrap" in answer.stderr
    path = tmp_path / "run.jsonl"
    assert nameplate("run", "null", "--rounds", "1", "--samples", "1", "-q", "-o", str(path)).returncode == 0


@pytest.mark.slow
def test_a_run_survives_a_rank_that_dies(tmp_path: Path, family: str) -> None:
    path = tmp_path / "run.jsonl"
    arguments = [sys.executable, "-m", "nameplate", "run", "mpi_pingpong", "size=8,16", "pairs=1"]
    more = ["--mpi", f"{LAUNCHERS[family]} -n 2", "--rounds", "1", "--samples", "1", "--time", "2s", "-o", str(path)]
    with subprocess.Popen([*arguments, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        # With the records of the plan and of the machine in the file, the ranks are those of the run, not the ones that
        # described the machine.
        while (not path.exists() or len(path.read_text().splitlines()) < 2) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        ranks = ranks_of(mpi_programs()[family], process.pid)
        assert len(ranks) == 2
        os.kill(ranks[-1], signal.SIGKILL)
        out, _ = process.communicate(timeout=90)
    assert process.returncode == 3
    endings = sorted(m.outcome.ending for m in read_run(path).measurements)
    assert endings == ["failed", "ok"]
    reason = next(m.outcome.reason for m in read_run(path).measurements if m.outcome.ending == "failed")
    assert "ended with exit code" in reason or "was killed by" in reason
    assert "failed" in out


@pytest.mark.parametrize("op", ["copy", "scale", "add", "triad"])
def test_the_ranks_of_a_node_are_timed_together(family: str, op: str) -> None:
    arrays = 3 if op in ("add", "triad") else 2
    records = ask(command(family, 3), stream(op=op, repeats=4))
    sample = next(r for r in records if r["type"] == "sample")
    assert next(r for r in records if r["type"] == "outcome")["ending"] == "ok"
    (node,) = sample["nodes"]
    assert (node["ranks"], node["repeats"], node["bytes_in_repeat"]) == (3, 4, 3 * arrays << 20)
    assert sample["work"]["bytes"] == 4 * node["bytes_in_repeat"]
    for spread in (node["window"], node["longest"], node["rank"]):
        assert 0 < spread["minimum_s"] <= spread["average_s"] <= spread["maximum_s"]
    assert node["longest"]["maximum_s"] == node["rank"]["maximum_s"]
    assert node["window"]["average_s"] >= node["longest"]["average_s"]
    assert node["start_skew_s"] >= 0


def test_a_wrong_element_of_one_rank_is_named() -> None:
    good = mpi_programs()["openmpi"]
    faulty = Path(__file__).parents[2] / "build" / "release" / "nameplate-core-faulty-mpi-openmpi"
    assert faulty.is_file(), f"build it: cmake --build --preset release --target {faulty.name}"
    arguments = [*OPEN_MPI.split(), "-n", "2", str(good), ":", "-n", "1", str(faulty)]
    outcome = ask(arguments, stream(repeats=2, op="copy"))[-2]
    assert outcome["ending"] == "invalid"
    assert re.fullmatch(r"rank 2 on \S+: c\[\d+\] is \S+, but copy gives \S+", outcome["reason"]), outcome["reason"]


def test_a_stream_has_at_least_two_repeats() -> None:
    records = ask(command("openmpi", 2), stream(repeats=1), stream(repeats=0), stream(size=12))
    outcomes = [r for r in records if r["type"] == "outcome"]
    assert [r["ending"] for r in outcomes] == ["failed"] * 3
    assert ["repeats" in r["reason"] for r in outcomes] == [True, True, False]
    assert "size" in outcomes[2]["reason"]


def test_the_number_of_threads_follows_openmp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    request = stream(repeats=2)
    del request["params"]["threads"]
    outcome = ask(command("openmpi", 1), request)[-2]
    assert outcome["params"]["threads"] == 2


def test_a_run_names_the_node_that_had_the_worst_repeat(tmp_path: Path) -> None:
    arguments = [
        "run",
        "mpi_stream",
        "op=triad,copy",
        "size=1MiB",
        "repeats=2",
        "threads=1",
        "--mpi",
        f"{OPEN_MPI} -n 2",
    ]
    answer = nameplate(*arguments, "--rounds", "1", "--samples", "1", "-o", str(tmp_path / "run.jsonl"))
    assert answer.returncode == 0, answer.stderr
    answer = nameplate("show", "--all", str(tmp_path / "run.jsonl"))
    assert "as in DistributedStream" in " ".join(answer.stdout.split())
    report = summarise(read_run(tmp_path / "run.jsonl"))
    table = next(table for table in report.tables if table.title.startswith("Each rank"))
    assert [row[0] for row in table.rows] == ["Copy", "Triad"]
    assert report.machine is not None
    assert {row[-1] for row in table.rows} == {report.machine.hostname}
