"""The program from a user's point of view: real processes, real files, exit codes and messages."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nameplate.command_line import run
from nameplate.commands import doctor
from nameplate.execution.launch import core_path
from nameplate.records.result import Summary
from nameplate.results.digest import values_version
from nameplate.results.run_file import read_digest, read_run

FAST = ("--rounds", "1", "--samples", "1", "--warmup", "1ms")
ISAS = ("scalar", "sse2", "avx2", "avx512", "amx", "neon", "sve")


def nameplate(*arguments: str, cwd: Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nameplate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=cwd, check=False)


def rows_of(answer: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    rows = json.loads(answer.stdout)["rows"]
    assert isinstance(rows, list)
    return rows


def assert_one_line(answer: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    assert answer.returncode == code, answer.stderr
    assert "Traceback" not in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1, answer.stderr
    for word in parts:
        assert word in answer.stderr


def test_a_run_file_can_go_to_standard_output(tmp_path: Path) -> None:
    answer = nameplate("run", "null", *FAST, "-o", "/dev/stdout", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.jsonl").write_text(answer.stdout)
    assert read_run(tmp_path / "x.jsonl").stop is not None
    assert_one_line(
        nameplate("run", "null", "-o", "/dev/stdout", "--json", cwd=tmp_path), 2, "-o /dev/stdout: it has the run file"
    )


def test_a_run_writes_a_table_a_run_file_and_a_report(tmp_path: Path) -> None:
    answer = nameplate("run", "cpu_flops", "threads=1", *FAST, "-o", "x.jsonl", "--report", "x.html", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    # In a container the first line needs two lines of the screen.
    assert any(line.startswith("VERDICT  ") for line in answer.stdout.splitlines()[2:4])
    assert "GFLOP/s" in answer.stdout
    assert "TRUST    LOW: " in answer.stdout, "one round has no interval"
    assert read_run(tmp_path / "x.jsonl").stop is not None
    digest = read_digest(tmp_path / "x.jsonl", values_version())
    assert digest is not None
    assert "rate" in {value.key.metric for value in digest.values}
    assert (tmp_path / "x.html").stat().st_size < 1_500_000


@pytest.mark.slow
def test_a_studys_plan_ends_with_its_tables_charts_and_report(tmp_path: Path) -> None:
    answer = nameplate("run", "cse557-now", "--rounds", "1", "-o", "x.jsonl", "--study", "out", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "tables): nameplate show --all x.jsonl" in " ".join(answer.stdout.split())
    assert "peak, MFLOP/s" in nameplate("show", "--all", "x.jsonl", cwd=tmp_path).stdout
    with (tmp_path / "out" / "tables.csv").open(newline="") as file:
        rows = {(row["row"], row["column"]): row for row in csv.DictReader(file)}
    peak = rows["peak, MFLOP/s", "melmak"]
    assert float(peak["published"]) == 175.0
    assert float(peak["ratio"]) == pytest.approx(float(peak["here"]) / 175.0)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    chart = "cse557-now-figures-1-and-2-rate-against-working-set"
    assert {"report.html", "all.gp", f"{chart}.svg", f"{chart}.png", f"{chart}.dat", f"{chart}.gp"} <= names
    second = nameplate("show", "x.jsonl", "--format", "study", "-o", "again", cwd=tmp_path)
    assert second.returncode == 0, second.stderr
    tables = [(tmp_path / folder / "tables.csv").read_text() for folder in ("out", "again")]
    assert tables[0] == tables[1]


def test_study_output_of_a_plan_without_a_study_is_rejected_before_measuring(tmp_path: Path) -> None:
    answer = nameplate("run", "quick", "--study", "out", "-o", "x.jsonl", cwd=tmp_path)
    assert_one_line(answer, 2, "--study: quick does not reproduce a study", "cs553-kvm")
    assert not (tmp_path / "x.jsonl").exists()
    (tmp_path / "file").write_text("")
    answer = nameplate("run", "cse557-now", "--study", "file/out", "-o", "x.jsonl", cwd=tmp_path)
    assert_one_line(answer, 2, "--study file/out: cannot create the folder: Not a directory")
    nameplate("run", "null", *FAST, "-o", "null.jsonl", cwd=tmp_path)
    answer = nameplate("show", "null.jsonl", "--format", "study", "-o", "out", cwd=tmp_path)
    assert_one_line(answer, 2, "plan null reproduces no study")


def test_show_json_has_exactly_the_agreed_fields(tmp_path: Path) -> None:
    assert nameplate("run", "cpu_flops", "threads=1", *FAST, "-o", "x.jsonl", cwd=tmp_path).returncode == 0
    document = json.loads(nameplate("show", "x.jsonl", "--format", "json", cwd=tmp_path).stdout)
    assert set(document) == {"schema", "machine", "plan", "headline", "rows"}
    assert document["machine"]["hostname"] == "machine 1"
    named = json.loads(nameplate("show", "x.jsonl", "--format", "json", "--identify", cwd=tmp_path).stdout)
    assert named["machine"]["hostname"] == socket.gethostname()
    agreed = {
        "probe", "params", "metric", "value", "unit", "ci", "rounds", "samples", "mean", "best", "sustained", "p95",
        "p99", "rated", "efficiency", "outcome", "reason", "stop", "disturbed", "over_time",
        "capability", "capability_ci",
    }  # fmt: skip
    assert {frozenset(row) for row in document["rows"]} == {frozenset(agreed)}
    assert set(Summary.__struct_fields__) == agreed
    row = document["rows"][0]
    assert (row["unit"], row["params"]["threads"], row["outcome"]) == ("FLOP/s", 1, "ok")
    assert row["value"] > 1e8


def test_csv_and_markdown(tmp_path: Path) -> None:
    assert nameplate("run", "null", "threads=1,2", *FAST, "-o", "x.jsonl", cwd=tmp_path).returncode == 0
    table = list(csv.DictReader(io.StringIO(nameplate("show", "x.jsonl", "-f", "csv", cwd=tmp_path).stdout)))
    assert [row["param.threads"] for row in table] == ["1", "2"]
    assert all(float(row["value"]) > 0 for row in table)
    lines = nameplate("show", "x.jsonl", "-f", "markdown", cwd=tmp_path).stdout.strip().splitlines()
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["run", "t2micro-posix", "--study", "out", "--key-file", "key"], ["--key-file needs the peer"]),
        (["run", "cpu_flop"], ["unknown plan or probe 'cpu_flop'", "did you mean 'cpu_flops'?"]),
        (["run", "cpu_flops", "thread=1"], ["has no parameter 'thread'", "did you mean 'threads'?"]),
        (["run", "cpu_flops", "isa=avx3"], ["isa=avx3: not a valid value", "did you mean 'avx"]),
        (["run", "cpu_flops", "threads=0"], ["threads=0: out of range", "1 to 4096"]),
        (["run", "cpu_flops", "threads"], ["'threads': not a parameter; use name=value"]),
        (["run", "quick", "threads=1"], ["is a plan, whose only parameter is dir=DIRECTORY: leave out 'threads=1'"]),
        (["run", "quick", "dir=no/such"], ["dir=no/such: not a directory"]),
        (["run", "disk"], ["unknown plan or probe 'disk'", "did you mean 'disk_block'?"]),
        (["run", "network"], ["did you mean 'net_pingpong' or 'net_stream'?"]),
        (["run", "null", "--dry-run", "-o", "no/such/x.jsonl"], ["cannot write no/such/x.jsonl: No such file"]),
        (["run", "disk_block", "size=900TiB", "--dry-run"], ["size=900TiB: the file system of . has only "]),
        (["run", "disk_block", "file=no/such/x", "size=1MiB", "--dry-run"], ["there is no directory no/such"]),
        (
            ["run", "net_stream", "--peer", "no-host.invalid:7", "--dry-run"],
            ["--peer no-host.invalid:7: cannot resolve the host"],
        ),
        (["run", "null", "--budget", "soon"], ["budget: 'soon' is not a duration"]),
        (["run", "null", "--priority", "hihg"], ["did you mean 'high'?"]),
        (["run", "null", "--rated", "memory=fast"], ["'fast' is not a value with a unit"]),
        (["run", "null", "--rated", "none.txt"], ["cannot read none.txt"]),
        (["run", "null", "--resume", "none.jsonl"], ["cannot resume none.jsonl: No such file or directory"]),
        (["run", "null", "-o", "no/such/x.jsonl"], ["cannot write no/such/x.jsonl: No such file or directory"]),
        (["run", "null", "--seed", "-1"], ["--seed -1: not a seed; use 0 to"]),
        (["run", "null", "--rated", "cpu=0GHz"], ["must be above 0"]),
        (["run", "--frob"], ["--frob"]),
        (["frob"], ["unknown command 'frob'; available: --help, --version, ab, "]),
        (["help"], ["unknown command 'help'; did you mean '--help'?"]),
        (["--verison"], ["unknown command '--verison'; did you mean '--version'?"]),
        (["shwo"], ["did you mean 'show'?"]),
        (["show", "none.jsonl"], ["cannot read none.jsonl: No such file or directory"]),
        (["report"], ["nothing to report"]),
        (["plan", "quik"], ["did you mean 'quick'?"]),
        (["list", "nul"], ["did you mean 'null'?"]),
        (["machine", "--root", "none"], ["--root none: not a directory"]),
    ],
)
def test_bad_input_is_reported_in_one_line_with_the_valid_input(
    arguments: list[str], parts: Sequence[str], tmp_path: Path
) -> None:
    assert_one_line(nameplate(*arguments, cwd=tmp_path), 2, *parts)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_a_run_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"jobs": []}\n')
    assert_one_line(nameplate("show", "x.jsonl", cwd=tmp_path), 2, "x.jsonl: line 1 is not a nameplate record")


def test_an_unknown_format_is_rejected(tmp_path: Path) -> None:
    nameplate("run", "null", *FAST, "-o", "x.jsonl", cwd=tmp_path)
    assert_one_line(nameplate("show", "x.jsonl", "-f", "jsn", cwd=tmp_path), 2, "did you mean 'json'?")
    assert_one_line(nameplate("show", "x.jsonl", "-f", "exel", cwd=tmp_path), 2, "spreadsheets read csv")


def test_a_report_that_cannot_be_written_is_rejected_before_measuring(tmp_path: Path) -> None:
    arguments = ("run", "null", *FAST, "-o", "x.jsonl", "--report", "no/such/x.html", "--quiet")
    assert_one_line(nameplate(*arguments, cwd=tmp_path), 2, "--report no/such/x.html cannot be written")
    assert list(tmp_path.iterdir()) == []


def test_an_instruction_set_that_this_cpu_lacks_is_skipped_with_the_reason(tmp_path: Path) -> None:
    answer = nameplate(
        "run", "cpu_flops", f"isa={','.join(ISAS)}", *FAST, "mix=add", "threads=1", "--json", cwd=tmp_path
    )
    assert answer.returncode == 0, answer.stderr
    rows = rows_of(answer)
    skipped = [row for row in rows if row["outcome"] == "skipped"]
    assert {row["outcome"] for row in rows} == {"ok", "skipped"}
    assert len(skipped) >= 2  # no CPU has the instruction sets of both x86 and Arm
    assert all(row["value"] is None and row["reason"] for row in skipped)


def test_the_exit_code_says_when_nothing_could_be_measured(tmp_path: Path) -> None:
    answer = nameplate("run", "cpu_flops", "isa=sse2,scalar", "mix=fma", *FAST, cwd=tmp_path)
    assert answer.returncode == 3
    assert "isa=sse2 has no instruction for mix=fma" in answer.stdout


def test_more_threads_than_cores_are_allowed_and_flagged(tmp_path: Path) -> None:
    many = str(2 * (os.cpu_count() or 1) + 1)
    answer = nameplate("run", "cpu_flops", f"threads=1,{many}", "--all", *FAST, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    notes = [line for line in answer.stdout.splitlines() if line.startswith("    oversubscribed")]
    assert len(notes) == 1, "once for all metrics of the experiment"
    assert "! oversubscribed: there are more workers than CPUs" in answer.stdout


def test_given_values_replace_others_and_are_named_as_the_source(tmp_path: Path) -> None:
    (tmp_path / "type.rated").write_text("# this machine type\ncpu_flops=1PFLOP/s\n")
    answer = nameplate("run", "cpu_flops", "threads=1", *FAST, "--rated", "type.rated", "--all", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "reference value 1.000 PFLOP/s = given: --rated cpu_flops" in answer.stdout


def test_three_rounds_of_a_given_length(tmp_path: Path) -> None:
    arguments = ("run", "cpu_flops", "threads=1", "--rounds", "3", "--time", "200ms", "--samples", "1", "--json")
    rows = rows_of(nameplate(*arguments, "-o", "x.jsonl", cwd=tmp_path))
    assert (rows[0]["rounds"], rows[0]["samples"], rows[0]["stop"]) == (3, 3, "rounds")
    lengths = [s.elapsed_s for m in read_run(tmp_path / "x.jsonl").measurements for s in m.samples]
    # Five times a usual sample. If the CPU was busy during calibration, a sample may take a part of the given time.
    assert max(lengths) > 0.05


def test_a_series_has_one_sample_per_interval_and_no_gap(tmp_path: Path) -> None:
    answer = nameplate("run", "cpu_clock", "--series", "2s/100ms", "-o", "x.jsonl", "--quiet", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    samples = read_run(tmp_path / "x.jsonl").measurements[0].samples
    assert len(samples) == 20
    total = samples[-1].start_s + samples[-1].elapsed_s - samples[0].start_s
    assert sum(sample.elapsed_s for sample in samples) == pytest.approx(total, rel=1e-6)


def test_a_seed_repeats_the_order(tmp_path: Path) -> None:
    def order(name: str) -> list[str]:
        nameplate("run", "null", "threads=1,2,3,4,5", *FAST, "--seed", "7", "-o", name, "-q", cwd=tmp_path)
        return [m.outcome.id for m in read_run(tmp_path / name).measurements]

    assert order("a.jsonl") == order("b.jsonl") != sorted(order("c.jsonl"))


def test_dry_run_measures_nothing(tmp_path: Path) -> None:
    answer = nameplate("run", "quick", "--dry-run", cwd=tmp_path)
    assert answer.returncode == 0
    assert "cpu_flops" in answer.stdout
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.jsonl").touch()
    assert_one_line(nameplate("run", "null", "--dry-run", "-o", "x.jsonl", cwd=tmp_path), 2, "x.jsonl exists")


def test_a_plan_measures_in_the_given_directory(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    planned = nameplate("run", "quick", "dir=disk", "--dry-run", cwd=tmp_path).stdout.splitlines()
    of_disk = [line for line in planned if line.startswith("  disk_block")]
    assert len(of_disk) == 4
    assert all(line.endswith(" file=disk") for line in of_disk)
    assert not any("file=" in line for line in planned if line not in of_disk)


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["list", "cpu_flops"], ["list", "formats"], ["plan"], ["plan", "quick"], ["machine"], ["doctor"]],
)
def test_commands_that_show_information_have_json_output(arguments: list[str], tmp_path: Path) -> None:
    answer = nameplate(*arguments, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip()
    if arguments != ["plan"]:
        assert json.loads(nameplate(*arguments, "--json", cwd=tmp_path).stdout)


def test_doctor_has_an_exit_code_for_ci(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "overall", lambda _: "D")
    assert [run(["doctor", *arguments]) for arguments in ([], ["--at-least", "D"], ["--at-least", "C"])] == [0, 0, 1]
    assert run(["doctor", "--json", "--at-least", "A"]) == 1
    capsys.readouterr()
    assert run(["doctor", "--at-least", "X"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_budget_that_is_too_small_names_what_was_not_measured(tmp_path: Path) -> None:
    answer = nameplate("run", "null", "threads=1..40+1", "--budget", "1s", cwd=tmp_path)
    assert answer.returncode == 3
    # The name of the first experiment that was left out decides where the line wraps.
    assert "not measured, because the budget was spent: raise --budget" in " ".join(answer.stdout.split())


def test_resume_accepts_only_the_same_plan_and_machine(tmp_path: Path) -> None:
    nameplate("run", "null", *FAST, "-o", "x.jsonl", cwd=tmp_path)
    assert_one_line(nameplate("run", "--resume", "x.jsonl", "--rounds", "9", cwd=tmp_path), 2, "leave out rounds")
    assert_one_line(nameplate("run", "--resume", "x.jsonl", "--seed", "9", cwd=tmp_path), 2, "leave out --seed")
    text = (tmp_path / "x.jsonl").read_text().replace(f'"hostname":"{socket.gethostname()}"', '"hostname":"elsewhere"')
    (tmp_path / "y.jsonl").write_text(text)
    assert_one_line(nameplate("run", "--resume", "y.jsonl", cwd=tmp_path), 2, "was measured on another host")


def test_resume_of_a_complete_run_keeps_its_values_as_the_last_record(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    nameplate("run", "null", *FAST, "-o", "x.jsonl", cwd=tmp_path)
    before = read_digest(path, values_version())
    assert before is not None
    assert nameplate("run", "--resume", "x.jsonl", cwd=tmp_path).returncode == 0
    after = read_digest(path, values_version())
    assert after is not None
    assert after.values == before.values
    assert path.read_bytes().count(b'"type":"figures"') == 1


# Faults.


@pytest.mark.parametrize("engine", ["thread", "openmp"])
def test_threads_that_cannot_be_started_are_a_failure_not_a_hang(engine: str, tmp_path: Path) -> None:
    limits = {"thread": "ulimit -v 400000;", "openmp": "export OMP_THREAD_LIMIT=2;"}
    python = f"{sys.executable} -m nameplate run null engine={engine} threads=300 --rounds 1 --json -o x.jsonl"
    core = json.dumps(str(core_wrapper(tmp_path, limits[engine])))
    answer = subprocess.run(
        ["sh", "-c", f"NAMEPLATE_CORE={core} {python}"],
        capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert answer.returncode == 3, answer.stderr
    reason = rows_of(answer)[0]["reason"]
    assert isinstance(reason, str)
    assert reason.startswith(("cannot start 300 threads, only", "OpenMP starts 2 of 300 threads"))


def core_wrapper(directory: Path, limit: str) -> Path:
    """Return a nameplate-core that runs under a limit set by the shell."""
    path = directory / "limited-core"
    path.write_text(f'#!/bin/sh\n{limit} exec {core_path()} "$@"\n')
    path.chmod(0o755)
    return path


@pytest.mark.usefixtures("use_faulty_core")
def test_a_wrong_kernel_is_invalid_and_shows_no_number(tmp_path: Path) -> None:
    answer = nameplate("run", "cpu_flops", "threads=1", *FAST, "-o", "x.jsonl", cwd=tmp_path)
    assert answer.returncode == 3
    assert "invalid" in answer.stdout
    assert "but a scalar replay gives" in " ".join(answer.stdout.split())
    assert "FLOP/s" not in answer.stdout
    rows = json.loads(nameplate("show", "x.jsonl", "-f", "json", cwd=tmp_path).stdout)["rows"]
    assert [(row["outcome"], row["value"], row["best"]) for row in rows] == [("invalid", None, None)]


@pytest.mark.usefixtures("use_faulty_core")
def test_a_crash_of_the_core_fails_one_experiment_only(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        '[[experiment]]\nprobe = "fault_crash"\n[[experiment]]\nprobe = "null"\nthreads = [1, 2]\n'
    )
    answer = nameplate("run", "./p.toml", *FAST, "-o", "x.jsonl", cwd=tmp_path)
    assert answer.returncode == 3
    assert "Traceback" not in answer.stderr
    endings = {m.outcome.id: m.outcome for m in read_run(tmp_path / "x.jsonl").measurements}
    assert endings["fault_crash"].ending == "failed"
    assert "SIGSEGV" in endings["fault_crash"].reason
    assert [endings[f"null threads={n}"].ending for n in (1, 2)] == ["ok", "ok"]


def wait_for(condition: object, seconds: float = 30) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "nameplate", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)


def measured(path: Path) -> int:
    return len(read_run(path).measurements) if path.exists() and b"\n" in path.read_bytes() else 0


def children_of(pid: int) -> list[int]:
    actual = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in actual]


def ignores(pid: int, number: signal.Signals) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # the child may end meanwhile
        return False
    return bool(int(status.split("SigIgn:")[1].split()[0], 16) & 1 << number - 1)


LONG = ("run", "null", "threads=1,2", "--rounds", "200", "-o", "x.jsonl")


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_once_keeps_a_valid_partial_run(signal_number: int, tmp_path: Path) -> None:
    process = start(*LONG, cwd=tmp_path)
    wait_for(lambda: measured(tmp_path / "x.jsonl") >= 2)
    core = children_of(process.pid)
    process.send_signal(signal_number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "Traceback" not in err
    assert "TRUST    LOW: the run is incomplete." in out
    stop = read_run(tmp_path / "x.jsonl").stop
    assert stop is not None
    assert stop.interrupted
    assert read_digest(tmp_path / "x.jsonl", values_version()) is None
    assert not any(Path(f"/proc/{pid}").exists() for pid in core)


@pytest.mark.usefixtures("use_faulty_core")
def test_ctrl_c_twice_exits_at_once_even_when_the_core_hangs(tmp_path: Path) -> None:
    process = start("run", "fault_hang", "--rounds", "1", "-o", "x.jsonl", cwd=tmp_path)
    wait_for(lambda: (tmp_path / "x.jsonl").exists() and b'"header"' in (tmp_path / "x.jsonl").read_bytes())
    wait_for(lambda: any(ignores(child, signal.SIGTERM) for child in children_of(process.pid)))
    core = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "Traceback" not in err
    assert not any(Path(f"/proc/{pid}").exists() for pid in core)


def test_after_a_kill_resume_measures_only_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    process = start("run", "null", "threads=1,2", "--rounds", "8", "-o", "x.jsonl", cwd=tmp_path)
    wait_for(lambda: measured(path) >= 3)
    core = children_of(process.pid)
    process.kill()
    process.communicate()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in core))  # the core ends with its parent
    with path.open("ab") as file:
        file.write(b'{"type":"sample","round":2,"id')
    before = [(m.outcome.round, m.outcome.id) for m in read_run(path).measurements]
    answer = nameplate("run", "--resume", "x.jsonl", "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    actual = read_run(path)
    after = [(m.outcome.round, m.outcome.id) for m in actual.measurements]
    assert after[: len(before)] == before
    assert len(after) == len(set(after)) == 16
    assert actual.stop is not None
    assert [row["rounds"] for row in rows_of(answer)] == [8, 8]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="mounting a small file system needs root")
def test_a_full_disk_loses_no_written_record(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        # Few samples per round, so that the first round has room whatever the speed of the machine.
        limits = ["--rounds", "500", "--samples", "10"]
        answer = nameplate("run", "null", *limits, "-o", "small/x.jsonl", "--quiet", cwd=tmp_path)
        assert_one_line(answer, 2, "No space left on device", "--resume small/x.jsonl")
        actual = read_run(small / "x.jsonl")
        assert actual.measurements
        assert (small / "x.jsonl").stat().st_size == actual.complete_bytes
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_last_record_that_cannot_be_written_loses_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = os.write

    def full(descriptor: int, line: bytes) -> int:
        if line.startswith(b'{"type":"figures"'):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, line)

    monkeypatch.setattr(os, "write", full)
    assert run(["run", "null", *FAST, "-o", str(tmp_path / "x.jsonl")]) == 0
    said = capsys.readouterr()
    assert "overhead" in said.out
    assert "No space left on device; the run is complete, only its digest is missing" in said.err
    assert "--resume" not in said.err
    assert read_run(tmp_path / "x.jsonl").stop is not None
