"""The batch script: the resources that it requests, and the command that it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from nameplate.errors import FileError, UsageError
from nameplate.execution.launch import Launch
from nameplate.execution.slurm import Allocation, allocation_of, write_script
from nameplate.records.plan_record import Experiment, Limits, PerNode, Plan
from nameplate.records.run_record import Run
from run_samples import run


def launched(*arguments: str) -> Launch:
    return Launch(Path("nameplate-core-mpi-openmpi"), ("srun", *arguments))


def plan(name: str = "cluster", probe: str = "mpi_pingpong", per_node: PerNode = "", **limits: Any) -> Run:
    measured = Plan(name, [Experiment("one", probe, {})], Limits(budget_s=600.0, precision=0.02, **limits))
    return msgspec.structs.replace(run(measured), per_node=per_node)


def asked_by(script: Path) -> dict[str, str]:
    lines = [line for line in script.read_text().splitlines() if line.startswith("#SBATCH --")]
    return dict(line.removeprefix("#SBATCH --").partition("=")[::2] for line in lines)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the installed program by one that prints its arguments, in a folder whose name must be quoted."""
    path = tmp_path / "it's here" / "nameplate"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    path.chmod(0o755)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(path.parent))


def arguments_of(script: Path) -> list[str]:
    """Run a script and return the arguments with which it runs nameplate."""
    environment = {**os.environ, "SLURM_JOB_ID": "17"}
    answer = subprocess.run(["bash", str(script)], env=environment, capture_output=True, check=True)
    return [str(argument) for argument in json.loads(answer.stdout)]


@pytest.mark.parametrize(
    ("message", "asked", "srun", "ranks"),
    [
        ("-n 4", {"ntasks": "4"}, "", 4),
        ("-N4 --mpi=pmix", {"nodes": "4"}, "--mpi=pmix", 4),
        ("--nodes=4 --ntasks-per-node 2", {"nodes": "4", "ntasks-per-node": "2"}, "", 8),
        ("-w n[01-03] --ntasks-per-node=2", {"nodelist": "n[01-03]", "ntasks-per-node": "2"}, "", 6),
        ("-n 2 -c 8 --mem-bind=local", {"ntasks": "2", "cpus-per-task": "8"}, "--mem-bind=local --cpus-per-task=8", 2),
        ("-n 2 -p debug -A me -t 5 late.sh", {"ntasks": "2", "partition": "debug", "account": "me", "time": "5"},
         "late.sh", 2),
    ],
)  # fmt: skip
def test_the_requested_resources_are_in_the_script_header(
    message: str, asked: dict[str, str], srun: str, ranks: int
) -> None:
    allocation = allocation_of(launched(*message.split()))
    assert (allocation.asked, allocation.srun, allocation.ranks) == (asked, ["srun", *srun.split()], ranks)


@pytest.mark.usefixtures("stand_in")
def test_the_script_runs_the_same_command(tmp_path: Path) -> None:
    script = tmp_path / "job.sbatch"
    odd = 'it\'s "$HOME" `a` \\ \n*.toml'
    arguments = ["run", odd, "--mpi", "srun -n 2", "--budget=10min", "--slurm", str(script), "--report", odd]
    write_script(script, Allocation({"ntasks": "2"}, ["srun", "a b"]), plan(), arguments)
    ran = arguments_of(script)
    assert ran == ["run", odd, "--budget=10min", "--report", odd, "--mpi", "srun 'a b'", "-o", "nameplate-17.jsonl"]


@pytest.mark.usefixtures("stand_in")
def test_a_given_run_file_keeps_its_name(tmp_path: Path) -> None:
    script = tmp_path / "job.sbatch"
    write_script(script, Allocation({}, ["srun"]), plan(), ["run", "x", "-o", "a $b.jsonl", f"--slurm={script}"])
    assert arguments_of(script)[-2:] == ["-o", "a $b.jsonl"]


@pytest.mark.parametrize(
    ("of_plan", "given", "minutes"),
    [
        (plan(), {}, "21"),  # 10 min of the budget, 10 min to start, and 1 min before the end
        (plan(rounds=1, series_s=600.0), {}, "32"),  # twice the series, and the overhead of the probe
        (plan(), {"time": "2:00:00"}, "2:00:00"),
    ],
)
def test_the_time_limit_is_that_of_the_plan_plus_start_up(
    tmp_path: Path, of_plan: Run, given: dict[str, str], minutes: str
) -> None:
    script = tmp_path / "job.sbatch"
    write_script(script, Allocation(given, ["srun"]), of_plan, ["run"])
    asked = asked_by(script)
    assert asked["time"] == minutes
    assert asked["signal"] == "B:INT@60"
    assert "exclusive" in asked


def test_missing_account_and_partition_are_left_to_fill_in(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write_script(one, Allocation({}, ["srun"]), plan(), ["run"])
    write_script(other, Allocation({"account": "me"}, ["srun"]), plan(), ["run"])
    assert "\n##SBATCH --account=NAME\n##SBATCH --partition=NAME\n" in one.read_text()
    assert asked_by(other)["account"] == "me"
    assert "##SBATCH --account" not in other.read_text()


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (Launch(Path("nameplate-core")), 'needs --mpi "srun'),
        (Launch(Path("nameplate-core-mpi-openmpi"), ("mpirun", "-n", "2")), 'needs --mpi "srun'),
        (launched("--mpi=pmix"), "the number of nodes is missing"),
        (launched("-n"), "expected one argument"),
    ],
)
def test_an_invalid_allocation_is_rejected_in_one_line(launch: Launch, message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        allocation_of(launch)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_nodes_in_turn_take_longer(tmp_path: Path) -> None:
    allocation = Allocation({"nodes": "8"}, ["srun"])
    assert allocation.nodes == 8
    minutes = {}
    for way in get_args(PerNode)[1:]:
        write_script(tmp_path / way, allocation, plan("m", "memory_stream", way, rounds=60, sample_s=10.0), ["run"])
        minutes[way] = int(asked_by(tmp_path / way)["time"])
    assert minutes["in-turn"] - 11 == pytest.approx(8 * (minutes["at-once"] - 11), abs=8)


def test_an_allocation_or_script_that_cannot_be_used_is_rejected(tmp_path: Path) -> None:
    script = tmp_path / "job.sbatch"
    with pytest.raises(UsageError, match="--nodes: '2-4' is not a whole number"):
        _ = Allocation({"nodes": "2-4"}, ["srun"]).ranks
    with pytest.raises(UsageError, match="memory does not need MPI"):
        write_script(script, Allocation({}, ["srun"]), plan("memory", "memory_stream"), ["run"])
    with pytest.raises(UsageError, match=r"'a\\nrm b': not printable"):
        write_script(script, Allocation({"account": "a\nrm b"}, ["srun"]), plan(), ["run"])
    with pytest.raises(FileError, match=r"cannot write .*: No such file"):
        write_script(tmp_path / "none" / "job", Allocation({}, ["srun"]), plan(), ["run"])
    assert not script.exists()
    script.touch()
    with pytest.raises(FileError, match="the file exists; remove it"):
        write_script(script, Allocation({}, ["srun"]), plan(), ["run"])
    with pytest.raises(FileError, match="the file exists; choose another name"):
        write_script(tmp_path / "b", Allocation({}, ["srun"]), plan(), ["run", "-o", str(script)])
