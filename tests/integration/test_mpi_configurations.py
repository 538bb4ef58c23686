"""mpi_stream on some of the ranks of a node while the others sleep, and sweeps over ranks × threads in one plan."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pytest

from fake_hosts import make_launcher
from mpi_ranks import OPEN_MPI, ask, command, nameplate, ranks_of, stream
from nameplate.execution.launch import mpi_programs
from nameplate.planning.plan_file import shipped_plans
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

pytestmark = pytest.mark.usefixtures("as_root")


@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_different_ranks_take_part_in_turn(family: str) -> None:
    numbers = (2, 4, 1, 3)
    requests = [stream(op="copy", repeats=2, ranks_per_node=number) for number in numbers]
    records = ask(command(family, 4), *requests, stream(op="copy", repeats=2))
    outcomes = [r for r in records if r["type"] == "outcome"]
    samples = [r for r in records if r["type"] == "sample"]
    assert [r["ending"] for r in outcomes] == ["ok"] * 5, outcomes
    assert [r["params"]["ranks_per_node"] for r in outcomes] == [*numbers, 4]
    assert [r["facts"]["ranks"] for r in outcomes] == [*numbers, 4]
    assert [r["nodes"][0]["ranks"] for r in samples] == [*numbers, 4]
    assert [r["nodes"][0]["bytes_in_repeat"] for r in samples] == [2 * number << 20 for number in (*numbers, 4)]


def test_too_many_ranks_are_rejected_and_the_job_continues() -> None:
    records = ask(command("openmpi", 2), stream(ranks_per_node=3), stream(repeats=2, ranks_per_node=1))
    refused, then = [r for r in records if r["type"] == "outcome"]
    assert (refused["ending"], then["ending"]) == ("skipped", "ok")
    assert refused["reason"] == "ranks_per_node=3 is more than the 2 ranks that the launcher started on this node"


def test_some_ranks_of_every_node_take_part(tmp_path: Path) -> None:
    launcher = make_launcher(tmp_path, ["here", "far1"], slots=2)
    path = tmp_path / "run.jsonl"
    answer = nameplate("run", "mpi_stream", "op=copy", "size=1MiB", "threads=1", "repeats=2", "ranks_per_node=1",
                       "--rounds", "1", "--samples", "1", "--mpi", f"{launcher} -n 4", "-o", str(path))  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    result = summarise(read_run(path)).results[0]
    assert [node.ranks for node in result.node_times] == [1, 1]
    assert result.facts["ranks"] == 2


def test_inactive_ranks_sleep() -> None:
    """The working rank is busy all the time; the others only poll for a message now and then."""
    with subprocess.Popen(
        command("openmpi", 3), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        _measure(process.stdin, process.stdout, stream(ranks_per_node=1))
        ranks = ranks_of(mpi_programs()["openmpi"], process.pid)
        assert len(ranks) == 3
        # On a busy machine the working rank may get little more than the polls take.
        tries = [_idle_per_busy(ranks, process.stdin, process.stdout) for _ in range(3)]
        process.stdin.close()
        process.wait(60)
    assert min(tries) < 0.25


def _idle_per_busy(ranks: Sequence[int], requests: IO[str], records: IO[str]) -> float:
    """Measure with one working rank; return the most CPU time of the others as a share of that rank's."""
    before = [_cpu_s(rank) for rank in ranks]
    _measure(requests, records, {**stream(ranks_per_node=1), "slice_s": 2, "max_samples": 10**6})
    busy, *idle = sorted((_cpu_s(rank) - was for rank, was in zip(ranks, before, strict=True)), reverse=True)
    return max(idle) / busy


def _measure(requests: IO[str], records: IO[str], request: dict[str, Any]) -> None:
    requests.write(json.dumps({"id": "x", "warmup_s": 0.0, **request}) + "\n")
    requests.flush()
    for line in records:
        if json.loads(line)["type"] == "outcome":
            return
    raise AssertionError("the job ended without an outcome")


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_one_plan_measures_every_configuration(tmp_path: Path) -> None:
    plan = tmp_path / "small.toml"
    text = shipped_plans()["distributed-stream"].read_text(encoding="utf-8")
    plan.write_text(text.replace('slice = "500ms"', 'size = "1MiB"\nrepeats = 2'), encoding="utf-8")
    path = tmp_path / "run.jsonl"
    answer = nameplate("run", str(plan), "--rounds", "1", "--samples", "1", "--mpi", f"{OPEN_MPI} --bind-to none -n 2",
                       "-o", str(path))  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    report = summarise(read_run(path))
    table = next(table for table in report.tables if table.title.startswith("Each rank"))
    assert table.headings[:3] == ["Function", "ranks per node", "threads"]
    named = [tuple(row[:3]) for row in table.rows]
    assert len(set(named)) == len(named), "no two rows look the same"
    triads = {(r.summary.params["ranks_per_node"], r.summary.params["threads"]) for r in report.results
              if r.summary.params["op"] == "triad"}  # fmt: skip
    assert triads >= {(1, 1), (2, 1)}
