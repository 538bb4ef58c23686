"""No command overwrites an input or a run file, and an output that cannot be written is rejected before the work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nameplate.command_line import run
from recorded_runs import recorded_file


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return recorded_file("quick.jsonl", tmp_path)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Run a command that must be rejected, and return its single line of error message."""
    assert run([*map(str, arguments)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


def test_a_command_does_not_overwrite_the_run_that_it_reads(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded.read_bytes()
    link, other = tmp_path / "link.html", tmp_path / "hard.csv"
    link.symlink_to(recorded)
    os.link(recorded, other)
    for target in (recorded, link, other):
        assert "would overwrite" in refused(capsys, "report", recorded, "-o", target)
        assert "would overwrite" in refused(capsys, "show", recorded, "--format", "csv", "-o", target)
        assert "would overwrite" in refused(capsys, "nodes", recorded, "-o", target)
    assert recorded.read_bytes() == before


def test_no_other_run_file_is_overwritten(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = recorded_file("series.jsonl", tmp_path)
    before = other.read_bytes()
    message = "is a run file, which is not overwritten"
    assert message in refused(capsys, "report", recorded, "-o", other)
    assert message in refused(capsys, "show", recorded, "--format", "markdown", "-o", other)
    assert message in refused(capsys, "run", "null", "--report", other)
    assert message in refused(capsys, "versus", "null", "-o", other)
    assert other.read_bytes() == before


def test_the_outputs_of_a_run_must_be_different_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "would overwrite" in refused(capsys, "run", "null", "-o", "x", "--report", "x")
    assert "would overwrite" in refused(capsys, "run", "null", "-o", "x", "--report", "./x")
    assert "is a directory" in refused(capsys, "run", "null", "-o", "x", "--report", ".")
    assert list(tmp_path.iterdir()) == []


def test_a_report_may_be_overwritten(recorded: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(["report", str(recorded), "-o", str(page)]) == 0
    assert run(["report", str(recorded), "-o", str(page)]) == 0
