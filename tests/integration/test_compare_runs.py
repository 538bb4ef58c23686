"""Compare files of real runs with ``nameplate compare``."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from nameplate.command_line import run
from recorded_runs import quieted
from slowed_runs import slowed, steady, write_steadily

MEASURE = ["--rounds", "6", "--samples", "5", "--time", "2ms", "--quiet"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measure six rounds of two mixes, of which ``div`` is always slower, and leave out what other programs did."""
    folder = tmp_path_factory.mktemp("runs")
    path = folder / "measured.jsonl"
    assert run(["run", "cpu_flops", "mix=fma,div", "threads=1", *MEASURE, "-o", str(path)]) == 0
    return steady(path, folder / "base.jsonl", 1.0)


def compare(*arguments: object) -> int:
    return run(["compare", *map(str, arguments)])


def test_a_run_is_the_same_as_itself(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(measured, measured, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"schema", "verdict", "gate", "notes", "rows"}
    assert document["verdict"] in ("SAME", "UNSURE")
    assert {row["ratio"] for row in document["rows"]} == {1.0}
    assert not {row["verdict"] for row in document["rows"]} & {"FASTER", "SLOWER", "INCOMPARABLE"}
    assert set(document["rows"][0]) >= {"probe", "params", "metric", "verdict", "ratio", "ci", "reason"}


def test_a_loss_has_exit_code_one_and_a_gain_zero(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower = slowed(measured, tmp_path / "slower.jsonl", 10.0)
    assert compare(measured, slower) == 1
    printed = capsys.readouterr().out
    assert "SLOWER" in printed
    assert "0.100" in printed
    assert compare(measured, slower, "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "SLOWER"
    assert compare(slower, measured) == 0
    assert "FASTER" in capsys.readouterr().out


def test_fail_on_ignores_smaller_losses(measured: Path, tmp_path: Path) -> None:
    slower = slowed(measured, tmp_path / "slower.jsonl", 1.6)
    assert compare(measured, slower, "--fail-on", "45%") == 0
    assert compare(measured, slowed(measured, tmp_path / "much.jsonl", 10.0), "--fail-on", "45%") == 1


def test_runs_without_common_experiments(measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.jsonl"
    assert run(["run", "null", *MEASURE, "-o", str(other)]) == 0
    assert compare(measured, other) == 5
    printed = capsys.readouterr().out
    assert "only in the base: cpu_flops" in printed
    assert "only in the new run: null" in printed


def test_one_round_gives_no_verdict(measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    single = tmp_path / "single.jsonl"
    few = ["--rounds", "1", *MEASURE[2:]]
    assert run(["run", "cpu_flops", "mix=fma,div", "threads=1", *few, "-o", str(single)]) == 0
    single.write_bytes(quieted(single.read_bytes()))
    assert compare(measured, single, "--all") == 4
    assert "too few rounds (1): a verdict needs 5" in " ".join(capsys.readouterr().out.split())
    assert compare(measured, single, "--strict") == 4


def test_compare_by_a_parameter_several_runs_and_selftest(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(measured, "--by", "mix") == 1
    assert "SLOWER" in capsys.readouterr().out
    slower = slowed(measured, tmp_path / "slower.jsonl", 10.0)
    assert compare(measured, slower, measured) == 0
    assert " *" in capsys.readouterr().out
    many = tmp_path / "many.jsonl"
    assert run(["run", "null", "duration=1ms", "--rounds", "12", *MEASURE[2:], "-o", str(many)]) == 0
    assert compare("--selftest", many, "--json") in {0, 1}
    assert json.loads(capsys.readouterr().out)["rows"][0]["pairs"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["BASE"], "compare needs two runs: name BASE and NEW, or one run with --by PARAMETER"),
        (["BASE", "BASE", "--by", "mix"], "--by compares values within one run, but the number of given runs is 2"),
        (["BASE", "--by", "nothing"], "no metric was measured at several values of it; this run varied mix"),
        (["BASE", "BASE", "--fail-on", "much"], "--fail-on much: not a percentage; use one such as 5%"),
        (["BASE", "BASE", "--fail-on", "90%"], "above 0 and up to 50%"),
        (["BASE", "BASE", "--budget", "1min"], "--budget limits the measurement of --selftest"),
        (["BASE", "--selftest"], "--selftest needs at least 12 rounds"),
        (["BASE", "BASE", "--selftest"], "--selftest takes one run, or measures one"),
        (["BASE", "--selftest", "--strict"], "--selftest compares a run with itself: leave out --by, --new"),
        (["BASE", "BASE", "BASE", "--strict"], "--strict is for the verdicts on two runs"),
        (["BASE", "BASE", "BASE", "--gate", "all"], "--gate all decides on two runs: name BASE and NEW"),
        (["BASE", "--by", "mix", "--gate", "all"], "--gate all decides on two runs: name BASE and NEW"),
        (["BASE", "--selftest", "--gate", "all"], "--gate all decides on two runs: name BASE and NEW"),
        (["--selftest", "--budget", "1s"], "--budget 1s is too short: two windows of 6 rounds of quick take"),
        (["BASE", "no.jsonl"], "cannot read no.jsonl"),
    ],
)
def test_what_cannot_be_compared_is_rejected(
    measured: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert compare(*(str(measured) if word == "BASE" else word for word in arguments)) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_unfinished_run_is_compared_as_far_as_it_is(measured: Path, tmp_path: Path) -> None:
    """An experiment that is not complete is left out, and the others are compared."""
    lines = measured.read_text().splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:20])
    assert compare(measured, cut) in {0, 1, 4}


def test_an_empty_run_has_nothing_to_compare(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert compare(measured, tmp_path / "empty.jsonl") == 2
    assert "is empty: this is not a run file" in capsys.readouterr().err


def reasons(path: Path) -> set[str]:
    """Return why the experiments of a run were no longer measured."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return next(set(record["reasons"].values()) for record in records if record["type"] == "stop")


def test_a_run_against_another_ends_once_it_is_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests take CPU time from this one, and a verdict would be withheld.
    monkeypatch.setattr("nameplate.results.cpu_time.ENOUGH_CPU", 0.0)
    monkeypatch.setattr("nameplate.comparison.doubts.ENOUGH_CPU", 0.0)
    # They also disturb the calibration of the length of samples.
    monkeypatch.setattr("nameplate.comparison.doubts.MORE_WORK", math.inf)
    # The rounds of each run agree: if they varied as on a busy machine, more rounds would not decide.
    write_steadily(monkeypatch)
    measured, new = tmp_path / "measured.jsonl", tmp_path / "new.jsonl"
    # This mix has no ceiling, above which a value has no capability.
    assert run(["run", "cpu_flops", "mix=div", "threads=1", *MEASURE, "-o", str(measured)]) == 0
    faster = steady(measured, tmp_path / "faster.jsonl", 0.01)
    assert run(["run", "--against", str(faster), "--budget", "2min", "--quiet", "--json", "-o", str(new)]) == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {(row["capability"] or row)["verdict"] for row in rows if row["metric"] == "rate"} == {"SLOWER"}
    assert reasons(new) == {"decided"}
    # Looked at later, the verdicts are the same, because the file says that it was measured until they were final.
    assert compare(faster, new, "--json") == 1
    assert json.loads(capsys.readouterr().out)["rows"] == rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "5"], "--against takes the plan and its limits from"),
        (["cpu_clock"], "leave out 'cpu_clock'"),
        (["threads=2"], "has its own parameters; leave this one out"),
        (["--detect", "5"], "--detect 5: not a percentage"),
        (["--study", "out"], "--study is not possible with --against"),
        (["--budget", "10ms"], "too short for 6 rounds; use"),
    ],
)
def test_the_plan_is_that_of_the_other_run(
    measured: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["run", *arguments, "--against", str(measured)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_run_that_cannot_be_compared_with_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = tmp_path / "short.jsonl"
    assert run(["run", "null", "duration=1ms", "--rounds", "2", "--quiet", "-o", str(short)]) == 0
    assert run(["run", "--against", str(short)]) == 2
    assert "none of its experiments has 5 rounds" in capsys.readouterr().err
    assert run(["run", "--against", str(short), "--report", str(short)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_detect_needs_a_run_to_compare_with(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "--detect", "5%"]) == 2
    assert "add --against BASE.jsonl" in capsys.readouterr().err


def test_two_variants_are_measured_in_alternation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ab.jsonl"
    variants = ["cpu_flops threads=1 mix=fma", "cpu_flops threads=1 mix=div"]
    options = ["--even-if-busy", "--quiet", "--json", "-o", str(path)]
    assert run(["ab", *variants, "--time", "2ms", "--budget", "2min", *options]) == 1
    (row,) = [row for row in json.loads(capsys.readouterr().out)["rows"] if row["metric"] == "rate"]
    assert row["capability"]["verdict"] == "SLOWER"
    assert row["capability"]["ci"][1] < 1
    assert "mix" not in row["params"]
    assert row["params"]["threads"] == 1
    assert reasons(path) == {"decided"}
    assert run(["show", str(path)]) == 0
    assert "mix=div" in capsys.readouterr().out
    assert run(["run", "--against", str(path)]) == 2
    assert "repeat it with nameplate ab" in capsys.readouterr().err
    assert run(["run", "--resume", str(path)]) == 2
    assert "start a new run" in capsys.readouterr().err


def test_a_variant_can_be_compared_with_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "aa.jsonl"
    variant = "null duration=1ms"
    assert run(["ab", variant, variant, "--budget", "5s", "--even-if-busy", "--quiet", "--json", "-o", str(path)]) in (
        0,
        1,
    )
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 1
    assert run(["show", str(path), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["params"]["variant"] for row in rows] == ["a", "b"]
    assert run(["compare", str(path), "--by", "variant"]) in (0, 1, 4)


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        (["null duration=1ms,2ms", "null"], "names 2 experiments: give one value for each parameter"),
        (["", "null"], "variant A is empty"),
        (["null", "nul"], "unknown probe 'nul'; did you mean 'null'?"),
        (["null 'x", "null"], "a quote is not closed"),
        (["null", "memory_latency size=4KiB"], "null and memory_latency have no metric in common"),
        (["mpi_pingpong", "mpi_pingpong"], "needs an MPI launcher"),
        (["null", "null", "--seed", "-1"], "--seed -1: not a seed"),
    ],
)
def test_impossible_variants_are_rejected_in_one_line(
    variants: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ab", *variants]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_variant_that_cannot_be_measured_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    variants = ["disk_block op=write read_device=/dev/null", "disk_block op=write size=4MiB"]
    assert run(["ab", *variants, "--even-if-busy", "--quiet", "-o", str(tmp_path / "ab.jsonl")]) == 3
    error = capsys.readouterr().err
    assert "A: disk_block" in error
    assert "a device is never written to" in error
