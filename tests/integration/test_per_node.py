"""Probes of single machines on every node of a job: several hosts on this machine, with real ranks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fake_hosts import make_launcher
from mpi_ranks import descends, nameplate
from nameplate.planning.plan_file import SHIPPED
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

pytestmark = pytest.mark.usefixtures("as_root")
HOSTS = ["near", "far1", "far2", "far3"]
CELL = ["cpu_flops", "isa=avx2", "threads=1", "--rounds", "2"]
SCHEMA = json.loads((Path(__file__).parents[2] / "schema" / "record.schema.json").read_text())


@pytest.fixture
def launcher(tmp_path: Path) -> str:
    """Return a launcher for four hosts with one rank each."""
    return make_launcher(tmp_path, HOSTS)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("way", ["in-turn", pytest.param("at-once", marks=pytest.mark.slow)])
def test_every_node_takes_the_probe_and_has_a_record(tmp_path: Path, launcher: str, way: str) -> None:
    path = tmp_path / "run.jsonl"
    answer = nameplate("run", *CELL, "--per-node", way, "-o", str(path), "--mpi", f"{launcher} -n 4")
    assert answer.returncode == 0, answer.stderr
    actual = records(path)
    for record in actual:
        jsonschema.validate(record, SCHEMA)
    samples = [record for record in actual if record["type"] == "sample"]
    assert sorted(sample["node"] for sample in samples) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert all(len(json.dumps(record)) <= 4096 for record in actual if "node" in record)
    assert all(sample["elapsed_s"] > 0.02 for sample in samples), "samples of 10 ms are added up"
    outcomes = [record for record in actual if record["type"] == "outcome"]
    assert all(outcome["total_s"] < 60 for outcome in outcomes), "every rank's clock begins before its experiment does"
    file = read_run(path)
    assert file.run.per_node == way
    assert [sorted(m.of_nodes) for m in file.measurements] == [[0, 1, 2, 3]] * 2
    nodes = summarise(file).nodes
    assert nodes is not None
    assert nodes.names == HOSTS
    assert len(set(nodes.classes)) == 1
    assert [metric.title for metric in nodes.metrics] == [f"{CELL[0]} isa=avx2 threads=1 rate",
                                                          f"{CELL[0]} isa=avx2 threads=1 flops_per_cycle"]  # fmt: skip
    assert all(value is not None and value > 1e8 for value in nodes.metrics[0].value)
    view = nameplate("nodes", str(path))
    assert view.returncode in (0, 1)
    assert all(host in view.stdout for host in HOSTS)


@pytest.mark.slow
def test_a_slow_node_is_measured_again_alone(tmp_path: Path, launcher: str) -> None:
    """The first run shows one node a hundred times slower than the others; the second run finds it normal."""
    first, second = tmp_path / "run.jsonl", tmp_path / "again.jsonl"
    answer = nameplate("run", *CELL[:-1], "6", "--per-node", "in-turn", "-o", str(first), "--mpi", f"{launcher} -n 4")
    assert answer.returncode == 0, answer.stderr
    slowed = records(first)
    for record in slowed:
        # The times are replaced, so that disturbances on this machine do not affect the result.
        if record["type"] == "sample":
            record["elapsed_s"] = record["work"]["flops"] / (1e8 if record["node"] == 2 else 1e10)
    first.write_text("".join(json.dumps(record) + "\n" for record in slowed))
    actual = nameplate("nodes", str(first))
    assert (actual.returncode, "scontrol update NodeName=far2 " in actual.stdout) == (1, True), actual.stdout

    answer = nameplate("nodes", str(first), "--recheck", str(second), "--mpi", f"{launcher} -n 4")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    labels = {line.split()[0]: line.split()[-1] for line in answer.stdout.splitlines() if " rate " in line}
    assert labels == {"far2": "transient"}
    file = read_run(second)
    assert (file.stop is not None, len(file.measurements), file.run.per_node) == (True, 6, "in-turn")
    assert all(set(measurement.of_nodes) == {0, 1, 2, 3} for measurement in file.measurements)

    answer = nameplate("nodes", str(first), "--recheck", str(tmp_path / "x"), "--mpi", f"{launcher} -n 2")
    assert (answer.returncode, "the job does not include far" in answer.stderr) == (2, True), answer.stderr


@pytest.mark.slow
def test_nodes_in_turn_never_overlap(tmp_path: Path, launcher: str) -> None:
    began = time.monotonic()
    answer = nameplate("run", "null", "--samples", "1", "--time", "2s", "--rounds", "1", "--per-node", "in-turn",
                       "-o", str(tmp_path / "run.jsonl"), "--mpi", f"{launcher} -n 4")  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert time.monotonic() - began > 4 * 2.0


@pytest.mark.slow
def test_a_node_that_cannot_measure_is_named_and_the_others_are_measured(tmp_path: Path) -> None:
    launcher = make_launcher(tmp_path, HOSTS[:3], {"far1": "ulimit -v 1000000"})
    path = tmp_path / "run.jsonl"
    answer = nameplate("run", "memory_stream", "op=read", "size=1GiB", "threads=1", "pages=small", "--rounds", "1",
                       "--per-node", "in-turn", "-o", str(path), "--mpi", f"{launcher} -n 3")  # fmt: skip
    assert answer.returncode == 3
    report = summarise(read_run(path))
    assert report.nodes is not None
    assert report.nodes.metrics[0].value[1] is None
    assert all(report.nodes.metrics[0].value[position] for position in (0, 2))
    assert any("far1" in note for note in report.notes), report.notes
    assert "far1" in answer.stdout
    assert "not measured: far1" in nameplate("nodes", str(path)).stdout


@pytest.mark.slow
def test_records_of_other_ranks_survive_the_death_of_a_rank(tmp_path: Path, launcher: str) -> None:
    path = tmp_path / "run.jsonl"
    arguments = ["run", "cpu_flops", "isa=avx2", "threads=1", "--rounds", "1", "--samples", "1", "--time", "2s",
             "--per-node", "in-turn", "--seed", "1", "-o", str(path), "--mpi", f"{launcher} -n 4"]  # fmt: skip
    process = subprocess.Popen([sys.executable, "-m", "nameplate", *arguments], stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.PIPE)  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and '"node"' in path.read_text()):
        time.sleep(0.05)
    measured = next(record["node"] for record in records(path) if "node" in record)
    victim = next(pid for pid, host in ranks_by_host(process.pid) if host != HOSTS[measured] and host != HOSTS[0])
    os.kill(victim, signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "failed" in output
    view = nameplate("nodes", str(path))
    assert "not measured: " in view.stdout, view.stderr


def ranks_by_host(launcher: int) -> list[tuple[int, str]]:
    """Return the ranks of a launched job with the name of their host."""
    ranks = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
            if b"nameplate-core-mpi-" not in arguments[0] or not descends(int(entry.name), launcher):
                continue
        except OSError:
            continue
        host = subprocess.run(
            ["nsenter", "-t", entry.name, "-u", "hostname"], capture_output=True, text=True, check=False
        )
        ranks.append((int(entry.name), host.stdout.strip()))
    return ranks


def test_ranks_need_not_be_spread_evenly(tmp_path: Path) -> None:
    launcher = make_launcher(tmp_path, HOSTS[:2], slots=2)
    path = tmp_path / "run.jsonl"
    answer = nameplate("run", "mpi_stream", "op=copy", "size=1MiB", "threads=1", "--rounds", "1", "--samples", "1",
                       "-o", str(path), "--mpi", f"{launcher} -n 3")  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    nodes = next(record["nodes"] for record in records(path) if record["type"] == "sample")
    assert [(node["ranks"], node["bytes_in_repeat"]) for node in nodes] == [(2, 4 << 20), (1, 2 << 20)]


@pytest.mark.slow
def test_the_cluster_plan_measures_single_nodes_and_all_together(tmp_path: Path, launcher: str) -> None:
    """Every node is measured alone, without an option for it, and then all nodes together.

    The hosts share the memory of one machine, so the arrays are smaller than those of the plan.
    """
    path, plan_path = tmp_path / "run.jsonl", tmp_path / "cluster.toml"
    plan_path.write_text((SHIPPED / "cluster.toml").read_text().replace('op = "triad"', 'op = "triad"\nsize = "64MB"'))
    answer = nameplate("run", str(plan_path), "--rounds", "1", "-o", str(path), "--mpi", f"{launcher} -n {len(HOSTS)}")
    assert answer.returncode == 0, answer.stderr
    by_node = {(record["probe"], record["node"]) for record in records(path)
               if record["type"] == "outcome" and "node" in record}  # fmt: skip
    single = ("cpu_flops", "memory_stream", "memory_latency", "disk_block")
    assert by_node == {(probe, node) for probe in single for node in range(len(HOSTS))}
    endings = {record["probe"]: record["ending"] for record in records(path) if record["type"] == "outcome"}
    assert endings.keys() == {*single, "mpi_stream", "mpi_pairs", "mpi_pingpong"}
    assert set(endings.values()) <= {"ok", "skipped"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["null", "--per-node", "in-turn"], "--per-node needs the nodes of an MPI job"),
        (["null", "--per-node", "in-turn", "--mpi", "mpirun -n 2", "--series", "2s/1s"], "leave out --series"),
        (["null", "--per-node", "in-trun", "--mpi", "mpirun -n 2"], "did you mean 'in-turn'?"),
        (["cluster"], 'cluster measures the nodes of an MPI job: nameplate run cluster --mpi "srun -N 8"'),
    ],
)
def test_impossible_options_are_rejected_in_one_line(arguments: list[str], said: str) -> None:
    answer = nameplate("run", *arguments)
    assert (answer.returncode, said in answer.stderr) == (2, True), answer.stderr
    assert len(answer.stderr.splitlines()) == 1
