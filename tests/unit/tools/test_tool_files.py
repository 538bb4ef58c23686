"""The files of reference tools leave space in the file system."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from machines import machine_with
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.tools import paired
from nameplate.tools.external import load_references
from nameplate.tools.paired import Bench, PairedComparison
from nameplate.tools.reference_tool import ToolProgram, ToolSetting

MIB = 1 << 20


def comparisons(tool: str, folder: Path) -> list[PairedComparison]:
    """Return the comparisons of a tool that writes a file; the program notes that it was started, and fails."""
    program = folder / "program"
    program.write_text("#!/bin/sh\ntouch started\nexit 1\n")
    program.chmod(0o755)
    reference = load_references()[tool]
    programs = {name: ToolProgram(str(program), "1", "") for name in reference.programs}
    work_folder = folder / tool
    work_folder.mkdir()
    setting = ToolSetting(
        programs=programs, folder=work_folder, host="127.0.0.1", port=7000, seconds=1, cores=1, beyond_bytes=1 << 27,
        machine=machine_with(), launcher=(), ranks=1,
    )  # fmt: skip
    works = [work for work in reference.works(setting) if work.metrics[0].probe == "disk_block"]
    return [PairedComparison(reference, "1", replace(work, prepare=[str(program)]), setting) for work in works]


@pytest.mark.parametrize("tool", ["fio", "sysbench", "iozone"])
@pytest.mark.parametrize(("room", "left"), [(100, 0), (-5, 0), (100, 60)])
def test_a_tool_whose_file_does_not_fit_is_not_started(
    tool: str, room: int, left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paired, "room_bytes", lambda _: room * MIB)
    work = comparisons(tool, tmp_path)
    previous = tmp_path / tool / "data"
    previous.touch()
    os.truncate(previous, left * MIB)
    with closing(FileDescriptorCache()) as keeper:
        Bench([0], machine_with(), None, 1, keeper, lambda *_: None).run(work, 1, 1)
    has = f"has room for {max(room + left, 0)}"
    assert work
    assert all(f"{tool}: its file needs" in item.reason and has in item.reason for item in work)
    assert not (tmp_path / tool / "started").exists()


def test_a_tool_whose_file_fits_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "room_bytes", lambda _: 300 * MIB)
    with closing(FileDescriptorCache()) as keeper:
        Bench([0], machine_with(), None, 1, keeper, lambda *_: None).run(comparisons("fio", tmp_path), 1, 1)
    assert (tmp_path / "fio" / "started").exists()
