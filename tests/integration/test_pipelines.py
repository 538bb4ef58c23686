"""Pipelines get exports that their tools read, verdicts as tests, and the comparison of runners."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from junitparser import JUnitXml
from pyarrow import parquet

from nameplate.command_line import run
from recorded_runs import quiet_file


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    return quiet_file("quick.jsonl", tmp_path)


def test_a_run_compared_with_itself_fails_no_test(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = ["compare", str(quick), str(quick), "--gate", "all"]
    assert run([*both, "--format", "junit"]) == 0
    (suite,) = JUnitXml.fromstring(capsys.readouterr().out.encode())
    assert run([*both, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert suite.tests == len(rows) > 50
    assert suite.failures == 0


def test_a_comparison_of_a_whole_run_is_a_short_comment(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # One round is too few for a capability.
    assert run(["compare", str(quick), str(quick), "-f", "markdown"]) == 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("**UNSURE: no main value has a capability in both runs")
    assert len(lines) <= 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{run}", "{run}", "--format", "jnit"], "did you mean 'junit'?"),
        (["{run}", "--by", "threads", "--format", "junit"], "--format junit shows two runs"),
        (["{run}", "{run}", "--format", "markdown", "--json"], "use one of them"),
    ],
)
def test_a_format_that_does_not_fit_is_refused(
    quick: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["compare", *(word.format(run=quick) for word in arguments)]) == 2
    assert message in capsys.readouterr().err


def test_formats_of_several_files_are_written_to_a_folder(quick: Path, tmp_path: Path) -> None:
    assert run(["show", str(quick), "--format", "parquet", "-o", str(tmp_path / "out")]) == 0
    assert run(["show", str(quick), "--format", "github-action-benchmark", "-o", str(tmp_path / "out")]) == 0
    names = ["bigger-is-better.json", "results.parquet", "samples.parquet", "smaller-is-better.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    assert parquet.read_metadata(tmp_path / "out" / "samples.parquet").num_rows > 500


def test_a_runner_is_compared_with_the_one_of_a_run(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The recorded run was not made in the state that this machine is in now, so either answer may be right.
    code = run(["doctor", "--against", str(quick), "--json"])
    actual = json.loads(capsys.readouterr().out)["comparable"]
    assert [item["what"] for item in actual] == ["processor", "clock under load", "trust in the run", "quiet now"]
    assert code == (0 if all(item["is_met"] for item in actual) else 5)
    run(["doctor", "--against", str(quick)])
    assert ("\ncomparable with " if code == 0 else "comparable with ") in capsys.readouterr().out


def test_a_runner_cannot_be_compared_with_a_file_that_is_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--against", str(tmp_path / "missing.jsonl")]) == 2
    assert "missing.jsonl" in capsys.readouterr().err
