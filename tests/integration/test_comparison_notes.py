"""Every form of a comparison names what is not read of its inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nameplate.command_line import run

OSU = "# OSU MPI {} Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1{:>27}\n2{:>27}\n"
BAD = "osu: OSU MPI Bandwidth Test v7.4 (line 1): only osu_latency and"


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Return two folders of outputs, of which the first has an output of another test."""
    for number, folder in enumerate(("base", "new")):
        (tmp_path / folder).mkdir()
        for time in range(6):
            text = OSU.format("Latency", f"12.{number}{time}", f"14.{number}{time}")
            (tmp_path / folder / f"r{time}.txt").write_text(text)
    (tmp_path / "base" / "r2.txt").write_text(OSU.format("Bandwidth", "1.00", "2.00"))
    return [str(tmp_path / folder) for folder in ("base", "new")]


@pytest.mark.parametrize("options", [[], ["--all"], ["--format", "markdown"], ["--format", "junit"]])
def test_a_comparison_names_what_is_not_read(
    folders: list[str], options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run(["compare", *folders, *options])
    arguments = " ".join(capsys.readouterr().out.replace("\\", "").split())
    assert "the base: not read: " in arguments
    assert BAD in arguments


@pytest.mark.parametrize("arguments", [["NEW"], ["NEW", "NEW"], ["--by", "size"]])
def test_json_names_what_is_not_read(
    folders: list[str], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    base, new = folders
    run(["compare", base, *(new if argument == "NEW" else argument for argument in arguments), "--json"])
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert [note for note in notes if BAD in note and "not read: " in note]
    run(["compare", base, *(new if argument == "NEW" else argument for argument in arguments)])
    assert BAD in " ".join(capsys.readouterr().out.split())
