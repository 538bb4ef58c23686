"""nameplate under a real Slurm of one node: launched by srun, and as a batch job."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nameplate.execution.launch import CORE_VARIABLE, launch_with, mpi_programs
from nameplate.execution.srun import PMI_OF
from nameplate.fleet.fleet_folder import FleetFolder
from nameplate.hostlist import compress, expand
from nameplate.results.measurements import RunFile
from nameplate.results.run_file import read_run
from slurm_here import slurm_here

DEADLINE_S = 120.0


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with slurm_here(tmp_path_factory.mktemp("slurm")) as path:
        yield path


@pytest.fixture(autouse=True)
def cluster(configuration: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in a folder of their own; ranks yield, because there may be fewer cores than ranks."""
    monkeypatch.setenv("SLURM_CONF", str(configuration))
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=sorted(PMI_OF))
def srun(request: pytest.FixtureRequest) -> str:
    """Return the launcher for each MPI, with the PMI that it supports."""
    assert request.param in mpi_programs(), "run script/bootstrap test"
    return f"srun --mpi={PMI_OF[request.param]}"


def nameplate(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "nameplate", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, timeout=DEADLINE_S, check=False)


def said(*arguments: str) -> str:
    return subprocess.run(arguments, capture_output=True, text=True, timeout=DEADLINE_S, check=True).stdout


def wait_until(happened: Callable[[], bool], name: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not happened():
        assert time.monotonic() < deadline, name
        time.sleep(0.05)


def state_of(job: str) -> str:
    actual = re.search(r"JobState=(\S+)", said("scontrol", "show", "job", job))
    assert actual
    return actual[1]


def submit(script: str) -> str:
    return said("sbatch", "--parsable", script).strip()


def finished(job: str) -> str:
    wait_until(lambda: state_of(job) not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"), f"job {job} runs on")
    return state_of(job)


SHORT = ("--rounds", "2", "--samples", "1", "--time", "1ms")


def stream_plan(slice_s: int, ops: str = '"triad"') -> str:
    """Write a plan whose samples end in time on busy cores too, and return its name.

    Messages between spinning ranks would not end in time. The samples are long enough to be written one by one.
    """
    Path("stream.toml").write_text(
        f'rounds = 1\n[[experiment]]\nprobe = "mpi_stream"\nslice = "{slice_s}s"\nop = [{ops}]\n'
        'size = "64MiB"\nrepeats = 120\nthreads = 1\n'
    )
    return "./stream.toml"


def long_run(path: Path, *more: str) -> tuple[str, ...]:
    return ("run", stream_plan(600), "-o", str(path), *more)


def has_begun(path: Path) -> Callable[[], bool]:
    """Return a function that tells whether the run has written a sample, so that its ranks exist."""
    return lambda: path.exists() and '"type":"sample"' in path.read_text()


def rank_of(family: str, number: int) -> int:
    """Return the process of this rank of the running step."""
    expected = {f"SLURM_PROCID={number}".encode(), f"SLURM_CONF={os.environ['SLURM_CONF']}".encode()}
    for entry in Path("/proc").iterdir():
        try:
            is_rank = entry.name.isdigit() and (entry / "exe").readlink() == mpi_programs()[family].resolve()
            if is_rank and expected <= set((entry / "environ").read_bytes().split(b"\0")):
                return int(entry.name)
        except OSError:
            continue
    raise AssertionError(f"rank {number} is not to be found")


def family_of(srun: str) -> str:
    return next(family for family, pmi in PMI_OF.items() if srun.endswith(pmi))


def test_a_batch_job_leaves_a_run_file(srun: str) -> None:
    asked = ("run", "mpi_pingpong", "size=8,64", "pairs=1", *SHORT, "--mpi", f"{srun} -N 1 --ntasks-per-node=2")
    written = run(*nameplate(*asked, "--slurm", "job.sbatch"))
    assert (written.returncode, written.stdout) == (0, "wrote job.sbatch; submit it with: sbatch job.sbatch\n")
    job = submit("job.sbatch")
    message = Path(f"nameplate-mpi_pingpong-{job}.out")
    assert finished(job) == "COMPLETED", message.read_text()
    assert f"nameplate show --all nameplate-{job}.jsonl" in message.read_text()
    printed = json.loads(said(*nameplate("show", f"nameplate-{job}.jsonl", "--format", "json")))
    rows = [row for row in printed["rows"] if row["metric"] == "latency"]
    assert [(row["params"]["size"], row["outcome"], row["rounds"]) for row in rows] == [(8, "ok", 2), (64, "ok", 2)]
    mpi_job = read_run(Path(f"nameplate-{job}.jsonl")).headers[0].machine.job
    assert mpi_job is not None
    assert mpi_job.ranks == 2


def test_every_round_in_an_allocation_is_a_step(srun: str) -> None:
    message = nameplate("run", "mpi_pingpong", "size=8", "pairs=1", *SHORT, "-q", "--mpi", srun, "-o", "run.jsonl")
    answer = run("salloc", "-Q", "-n", "2", *message)
    assert answer.returncode == 0, answer.stderr
    assert len(read_run(Path("run.jsonl")).headers) == 2


def test_the_first_rank_of_a_manual_launch_reads_requests_and_writes_records(srun: str) -> None:
    experiments: list[dict[str, Any]] = [
        {"id": str(size), "probe": "mpi_pingpong", "params": {"size": size}, "warmup_s": 0, "slice_s": 20,
         "sample_s": 0.001, "max_samples": 2}
        for size in range(8)
    ]  # fmt: skip
    launch = launch_with(f"{srun} -n 2")
    requests = "".join(json.dumps(experiment) + "\n" for experiment in experiments)
    answer = subprocess.run(
        launch.command(), input=requests, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert answer.returncode == 0, answer.stderr
    records = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [r["id"] for r in records if r["type"] == "outcome" and r["ending"] == "ok"] == [
        c["id"] for c in experiments
    ]
    assert records[-1] == {"type": "end", "experiments": len(experiments), "interrupted": False}


@pytest.mark.slow
def test_ctrl_c_ends_the_run_in_an_orderly_way(srun: str) -> None:
    path = Path("run.jsonl")
    with subprocess.Popen(nameplate(*long_run(path, "--mpi", f"{srun} -n 2"))) as process:
        wait_until(has_begun(path), "the run does not begin")
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE_S) == 3
    assert_stopped_in_order(read_run(path))


def assert_stopped_in_order(stopped: RunFile) -> None:
    assert stopped.stop is not None
    assert stopped.stop.interrupted
    (measurement,) = stopped.measurements
    assert measurement.outcome.interrupted
    assert measurement.samples


@pytest.mark.slow
def test_the_signal_before_the_time_limit_ends_a_job_in_an_orderly_way(srun: str) -> None:
    path = Path("run.jsonl")
    assert run(*nameplate(*long_run(path, "--mpi", f"{srun} -n 2", "--slurm", "job.sbatch"))).returncode == 0
    job = submit("job.sbatch")
    wait_until(has_begun(path), "the job does not begin")
    # The signal that --signal=B:INT@60 sends.
    said("scancel", "--signal=INT", "--batch", job)
    assert finished(job) == "FAILED"  # exit code 3: not everything was measured
    assert_stopped_in_order(read_run(path))


@pytest.mark.slow
def test_the_run_waits_for_a_slow_rank(srun: str) -> None:
    path = Path("run.jsonl")
    late = Path("late")
    late.write_text('#!/bin/sh\n[ "$SLURM_PROCID" = 0 ] || sleep 2\nexec "$@"\n')
    late.chmod(0o755)
    launcher = f"{srun} -n 2 {late.absolute()}"
    message = ("run", stream_plan(8), "-q", "-o", str(path), "--mpi", launcher)
    with subprocess.Popen(nameplate(*message)) as process:
        wait_until(has_begun(path), "the run does not begin")
        rank = rank_of(family_of(srun), 1)
        os.kill(rank, signal.SIGSTOP)
        time.sleep(2)
        assert process.poll() is None
        os.kill(rank, signal.SIGCONT)
        assert process.wait(DEADLINE_S) == 0
    (measurement,) = read_run(path).measurements
    assert measurement.outcome.ending == "ok"


@pytest.mark.slow
def test_a_killed_rank_fails_one_experiment_and_the_next_is_measured(srun: str) -> None:
    path = Path("run.jsonl")
    message = ("run", stream_plan(3, '"copy", "triad"'), "-q", "-o", str(path), "--mpi", f"{srun} -n 2")
    with subprocess.Popen(nameplate(*message)) as process:
        wait_until(has_begun(path), "the run does not begin")
        os.kill(rank_of(family_of(srun), 1), signal.SIGKILL)
        assert process.wait(DEADLINE_S) == 3
    outcomes = [measurement.outcome for measurement in read_run(path).measurements]
    assert sorted(outcome.ending for outcome in outcomes) == ["failed", "ok"]
    reason = next(outcome.reason for outcome in outcomes if outcome.ending == "failed")
    assert "task 1: Killed" in reason


@pytest.mark.slow
def test_a_cancelled_job_leaves_a_readable_file(srun: str) -> None:
    path = Path("run.jsonl")
    assert run(*nameplate(*long_run(path, "--mpi", f"{srun} -n 2", "--slurm", "job.sbatch"))).returncode == 0
    job = submit("job.sbatch")
    wait_until(has_begun(path), "the job does not begin")
    said("scancel", job)
    assert finished(job) == "CANCELLED"
    # Slurm ends srun as well, so the experiment may have no outcome.
    cancelled = read_run(path)
    assert cancelled.lost or cancelled.measurements
    assert cancelled.stop is None or cancelled.stop.interrupted
    assert "mpi_stream" in said(*nameplate("show", "--all", str(path)))


@pytest.mark.parametrize(
    ("family", "pmi", "message"),
    [
        ("openmpi", "none", "Open MPI did not get its ranks from srun: use srun --mpi=pmix"),
        ("mpich", "none", "select the interface of this library: srun --mpi=pmix or --mpi=pmi2"),
        ("mpich", "pmix", "select the interface of this library: srun --mpi=pmix or --mpi=pmi2"),
    ],
)
def test_ranks_that_do_not_form_one_job_are_detected(
    family: str, pmi: str, message: str, core_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (core_path.name, mpi_programs()[family].name):
        Path(name).symlink_to(core_path.parent / name)
    monkeypatch.setenv(CORE_VARIABLE, str(Path(core_path.name).absolute()))
    answer = run(*nameplate("run", "mpi_pingpong", "--mpi", f"srun -n 2 --mpi={pmi}"))
    assert answer.returncode == 3
    assert message in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_srun_gets_the_needed_options_that_the_user_did_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ("srun", "--input=0", "--kill-on-bad-exit=1")
    assert launch_with("srun --kill-on-bad-exit=1 --input=0 --mpi=pmi2").launcher[1:] == (*needed[:0:-1], "--mpi=pmi2")
    assert launch_with("srun -n 2").launcher == (*needed, "--mpi=pmi2", "-n", "2")
    by_name = launch_with("srun -n 2 --mpi pmix")
    assert (by_name.launcher, by_name.program) == ((*needed, "-n", "2", "--mpi", "pmix"), mpi_programs()["openmpi"])
    monkeypatch.setenv("SLURM_MPI_TYPE", "pmix_v4")
    by_variable = launch_with("srun -n 2")
    assert (by_variable.launcher, by_variable.program) == ((*needed, "-n", "2"), mpi_programs()["openmpi"])


def test_labelled_output_of_srun_is_rejected_in_one_line(srun: str) -> None:
    answer = run(*nameplate("run", "mpi_pingpong", "--mpi", f"{srun} -n 2 --label"))
    assert answer.returncode == 3
    assert "wrote a line that is not a record: 0: {" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.from_regex(r"[a-c]{1,2}[019]{0,3}", fullmatch=True), min_size=1, max_size=12))
def test_host_lists_agree_with_slurm(names: list[str]) -> None:
    text = said("scontrol", "show", "hostlist", ",".join(names)).strip()
    assert compress(names) == text
    assert expand(text) == said("scontrol", "show", "hostnames", text).split()


def test_a_fleet_is_the_hosts_of_an_allocation(tmp_path: Path) -> None:
    """The cluster has one host, which other tests may disturb."""
    command = nameplate("fleet", "run", "cpu_flops", "threads=1", "--engine", "srun", "--rounds", "2", "-o", "fleet")
    done = run("salloc", "-N", "1", "--quiet", *command)
    assert done.returncode in (0, 3), done.stderr
    (outcome,) = FleetFolder.open(tmp_path / "fleet").outcomes.values()
    assert outcome.outcome in ("measured", "busy")
    assert outcome.address == socket.gethostname().partition(".")[0]
    assert read_run(tmp_path / "fleet" / outcome.file).run.plan.name == "cpu_flops"
    assert sorted(path.name for path in (tmp_path / "fleet").iterdir()) == ["fleet.hosts", "runs"]
    outside = run(*nameplate("fleet", "run", "--engine", "srun", "-o", "other"))
    assert (outside.returncode, "there is no allocation" in outside.stderr) == (2, True)
