"""Compare files of real runs with ``nameplate compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nameplate.command_line import run

MEASURE = ["--rounds", "6", "--samples", "5", "--time", "2ms", "--quiet"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measure six rounds of two mixes, of which ``div`` is always slower."""
    path = tmp_path_factory.mktemp("runs") / "base.jsonl"
    assert run(["run", "cpu_flops", "mix=fma,div", "threads=1", *MEASURE, "-o", str(path)]) == 0
    return path


def slowed(original: Path, path: Path, factor: float) -> Path:
    """Write the same run with every sample ``factor`` times as long."""
    lines = []
    for line in original.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "sample":
            record["elapsed_s"] *= factor
            for worker in record.get("workers", []):
                worker["elapsed_s"] *= factor
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n")
    return path


def compare(*arguments: object) -> int:
    return run(["compare", *map(str, arguments)])


def test_a_run_is_the_same_as_itself(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(measured, measured, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"schema", "rows"}
    assert {row["ratio"] for row in document["rows"]} == {1.0}
    assert not {row["verdict"] for row in document["rows"]} & {"FASTER", "SLOWER", "INCOMPARABLE"}
    assert set(document["rows"][0]) >= {"probe", "params", "metric", "verdict", "ratio", "ci", "reason"}


def test_a_loss_has_exit_code_one_and_a_gain_zero(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower = slowed(measured, tmp_path / "slower.jsonl", 10.0)
    assert compare(measured, slower) == 1
    shown = capsys.readouterr().out
    assert "SLOWER" in shown
    assert "0.100" in shown
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
    shown = capsys.readouterr().out
    assert "only in the base: cpu_flops" in shown
    assert "only in the new run: null" in shown


def test_one_round_gives_no_verdict(measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    single = tmp_path / "single.jsonl"
    few = ["--rounds", "1", *MEASURE[2:]]
    assert run(["run", "cpu_flops", "mix=fma,div", "threads=1", *few, "-o", str(single)]) == 0
    assert compare(measured, single) == 0
    assert "needs 5 rounds (got 1)" in " ".join(capsys.readouterr().out.split())
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
    ("arguments", "words"),
    [
        (["BASE"], "compare needs two runs: name BASE and NEW, or one run with --by PARAMETER"),
        (["BASE", "BASE", "--by", "mix"], "--by compares values within one run, but 2 were given"),
        (["BASE", "--by", "nothing"], "no metric was measured at several values of it; this run varied mix"),
        (["BASE", "BASE", "--fail-on", "much"], "--fail-on much: not a percentage; use one such as 5%"),
        (["BASE", "BASE", "--fail-on", "90%"], "at most 50%"),
        (["BASE", "BASE", "--budget", "1min"], "--budget limits the measurement of --selftest"),
        (["BASE", "--selftest"], "--selftest needs at least 12 rounds"),
        (["BASE", "BASE", "--selftest"], "--selftest takes one run, or measures one"),
        (["--selftest", "--budget", "1s"], "--budget 1s is too short: two stretches of 6 rounds of quick take"),
        (["BASE", "no.jsonl"], "cannot read no.jsonl"),
    ],
)
def test_what_cannot_be_compared_is_rejected(
    measured: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert compare(*(str(measured) if word == "BASE" else word for word in arguments)) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_an_unfinished_run_is_compared_as_far_as_it_is(measured: Path, tmp_path: Path) -> None:
    """An experiment that is not complete is left out, and the others are compared."""
    lines = measured.read_text().splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:20])
    assert compare(measured, cut) in {0, 1}


def test_an_empty_run_has_nothing_to_compare(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert compare(measured, tmp_path / "empty.jsonl") == 2
    assert "is empty: this is not a run file" in capsys.readouterr().err
