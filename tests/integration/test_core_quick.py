"""``nameplate-core quick``: a run without Python, whose records ``nameplate show`` reads."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from nameplate.command_line import run
from nameplate.execution.core_process import describe_core
from nameplate.planning.plan_file import build_plan, read_plan
from nameplate.probes.shared.areas import label_of_area
from nameplate.records.run_record import Run, Stop
from nameplate.report.content.brief import brief
from nameplate.report.content.first_screen import first_screen
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from record_schema import assert_valid


def measure(core: Path, file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Write the records of ``nameplate-core quick`` to a file, and return its exit code and messages."""
    with file.open("wb") as records:
        command: list[str | Path] = [core, "quick", *options]
        return subprocess.run(command, check=False, stdout=records, stderr=subprocess.PIPE, text=True, timeout=300)


def start(file: Path, *command: str | Path) -> subprocess.Popen[bytes]:
    """Start a command that writes records to a file."""
    with file.open("wb") as records:
        return subprocess.Popen(command, stdout=records, stderr=subprocess.PIPE)


@pytest.fixture(scope="module")
def two_rounds(core_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the run file of two rounds, and what was printed for people."""
    file = tmp_path_factory.mktemp("quick") / "node.jsonl"
    done = measure(core_path, file, "--rounds", "2")
    assert done.returncode == 0, done.stderr
    return file, done.stderr


def test_the_records_are_those_of_a_complete_run_file(two_rounds: tuple[Path, str]) -> None:
    records = [json.loads(line) for line in two_rounds[0].read_text().splitlines()]
    assert_valid(records)
    assert [records[0]["type"], records[1]["type"], records[-1]["type"]] == ["run", "header", "stop"]
    assert {record["round"] for record in records[1:-1]} == {1, 2}
    assert set(records[-1]["reasons"].values()) <= {"rounds", "duplicate"}


def test_the_plan_is_quick_of_the_python_package(two_rounds: tuple[Path, str], core_path: Path) -> None:
    recorded = msgspec.json.decode(two_rounds[0].read_text().splitlines()[0], type=Run).plan
    described = describe_core()
    # The core does not fit slices to the periods of a CPU quota.
    limits = msgspec.structs.replace(described.machine.limits, cpus=None)
    machine = msgspec.structs.replace(described.machine, limits=limits)
    planned = build_plan(read_plan("quick"), described.probes, {"rounds": "2"}, machine)
    assert [msgspec.to_builtins(e) for e in recorded.experiments] == [
        msgspec.to_builtins(e) for e in planned.experiments
    ]
    assert recorded.limits == planned.limits


def test_the_table_has_the_values_of_the_first_screen(two_rounds: tuple[Path, str]) -> None:
    file, printed = two_rounds
    actual = read_run(file)
    screen = first_screen(summarise(actual))
    assert printed.splitlines()[0].startswith(screen.machine)
    # The core fits no cache sizes, and finds the latency of the memory at a size, not from a curve.
    compared = [row for row in screen.rows if row.unit != "B" and row.label != "latency"]
    assert len(compared) >= 8
    for row in compared:
        assert f"{row.label:<22}{brief(row.values, row.unit):>14}" in printed, printed
    assert all(f"\n{label_of_area(area)} " in printed for area in ("cpu", "memory", "disk", "net"))


def test_show_reads_the_run(two_rounds: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(two_rounds[0])]) == 0
    assert "VERDICT" in capsys.readouterr().out


def test_the_table_fits_80_columns(two_rounds: tuple[Path, str]) -> None:
    assert max(map(len, two_rounds[1].splitlines()[1:])) <= 80


def test_wrong_results_have_no_value_and_the_exit_code_says_so(faulty_core: Path, tmp_path: Path) -> None:
    done = measure(faulty_core, tmp_path / "node.jsonl", "--rounds", "1")
    assert done.returncode == 3
    assert "\ninvalid: cpu_flops: " in done.stderr
    assert done.stderr.count("\ninvalid: ") == 4
    assert re.search(r"\nand \d+ more without a value, which nameplate show --all lists\n", done.stderr)
    assert "fp64" not in done.stderr.partition("invalid")[0]


def test_a_killed_process_fails_one_experiment_only(core_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "node.jsonl"
    process = start(file, core_path, "quick", "--rounds", "1")
    wait_for_sample(file)
    for child in children_of(process.pid):
        os.kill(child, signal.SIGKILL)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 3
    assert b"nameplate-core was killed by signal 9" in printed
    reasons = last_record(file).reasons.values()
    assert [*reasons].count("failed") == 1
    assert [*reasons].count("rounds") > 60


@pytest.mark.slow
def test_a_process_that_is_killed_in_a_later_round_costs_no_value(core_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "node.jsonl"
    process = start(file, core_path, "quick", "--rounds", "2")
    while b'"round":2,' not in file.read_bytes():
        assert process.poll() is None
        time.sleep(0.01)
    for child in children_of(process.pid):
        os.kill(child, signal.SIGKILL)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == 3
    lines = [line for line in printed.decode().splitlines() if "killed by signal 9" in line]
    assert [line.startswith("1 of 2 rounds failed: ") for line in lines] == [True]
    (note,) = [note for note in summarise(read_run(file)).notes if "killed by signal 9" in note]
    identity, _, message = note.partition(": ")
    assert message == "1 of 2 rounds failed: nameplate-core was killed by signal 9"
    assert last_record(file).reasons[identity] == "failed"


def test_the_processes_are_those_of_the_program_that_the_environment_names(core_path: Path, tmp_path: Path) -> None:
    """An emulator needs it that the kernel does not start for programs of another architecture."""
    named, started = tmp_path / "named", tmp_path / "started"
    named.write_text(f'#!/bin/sh\necho "$3" >> {started}\nexec {core_path} "$@"\n')
    named.chmod(0o755)
    command = ["env", f"NAMEPLATE_CORE={named}", str(core_path), "quick", "--rounds", "1"]
    with start(tmp_path / "node.jsonl", *command) as process:
        assert process.wait(timeout=120) == 0
    assert sorted(started.read_text().split()) == ["--keeper", "serve"]


def test_a_machine_with_one_cpu_has_each_experiment_once(core_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "node.jsonl"
    cpu = min(os.sched_getaffinity(0))
    process = start(file, "taskset", "-c", str(cpu), core_path, "quick")
    wait_for_sample(file)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    ids = [experiment.id for experiment in read_run(file).run.plan.experiments]
    assert len(ids) == len(set(ids))


def test_a_signal_to_all_processes_is_an_interruption_and_no_failure(core_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "node.jsonl"
    process = start(file, core_path, "quick")
    wait_for_sample(file)
    for identity in [*children_of(process.pid), process.pid]:
        with suppress(ProcessLookupError):  # a round may have ended meanwhile
            os.kill(identity, signal.SIGTERM)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 3
    assert b"failed" not in printed
    stop = last_record(file)
    assert stop.interrupted
    assert "failed" not in stop.reasons.values()


def test_a_full_disk_ends_the_run_in_one_line(core_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([core_path, "quick"], check=False, stdout=full, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == b"nameplate-core: cannot write a record: No space left on device"


def test_messages_that_cannot_be_written_end_nothing(core_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "node.jsonl"
    with file.open("wb") as records, Path("/dev/full").open("wb") as full:
        process = subprocess.Popen([core_path, "quick"], stdout=records, stderr=full)
    wait_for_sample(file)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 3
    assert last_record(file).interrupted


@pytest.mark.parametrize("option", [["--describe"], ["--machine"], ["--root", "/"]], ids=" ".join)
def test_options_that_do_not_measure_are_refused(option: Sequence[str], core_path: Path) -> None:
    done = subprocess.run([core_path, *option, "quick"], check=False, capture_output=True, text=True, timeout=60)
    message = f"nameplate-core: {option[0]}: not possible with quick or batch; use --peer, --key-file or --blas\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--peer", "node:ninety"], "--peer node:ninety: not a HOST, HOST:PORT or [ADDRESS]:PORT"),
        (["--key-file", "/none"], "/none"),
        (["--blas", "/none.so"], "/none.so"),
    ],
)
def test_wrong_options_of_the_processes_are_reported_before_anything_is_written(
    option: Sequence[str], message: str, core_path: Path
) -> None:
    done = subprocess.run([core_path, *option, "quick"], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("nameplate-core: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_interrupted_run_keeps_a_complete_file_and_leaves_no_process(core_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "node.jsonl"
    process = start(file, core_path, "quick")
    wait_for_sample(file)
    children = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 3
    assert b"interrupted" in printed
    assert last_record(file).interrupted
    assert children
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    assert read_run(file).stop is not None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--budget", "5x"], "nameplate-core: --budget 5x: not a duration above 0; use 30s or 1min\n"),
        (["--budget", "0s"], "nameplate-core: --budget 0s: not a duration above 0; use 30s or 1min\n"),
        (["--rounds", "0"], "nameplate-core: --rounds: Value 0 not in range 1 to 10000\n"),
        (["--rounds", "2", "--budget", "9s"], "nameplate-core: --rounds excludes --budget\n"),
    ],
)
def test_bad_options_are_reported_in_one_line(
    options: Sequence[str], expected: str, core_path: Path, tmp_path: Path
) -> None:
    done = measure(core_path, tmp_path / "none.jsonl", *options)
    assert (done.returncode, done.stderr) == (2, expected)
    assert (tmp_path / "none.jsonl").read_bytes() == b""


def wait_for_sample(file: Path) -> None:
    """Wait until the first sample has been written."""
    deadline = time.monotonic() + 60
    while b'"type":"sample"' not in file.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children_of(process: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def last_record(file: Path) -> Stop:
    """Return the last record of a run file, which says why each experiment ended."""
    return msgspec.json.decode(file.read_text().splitlines()[-1], type=Stop)
