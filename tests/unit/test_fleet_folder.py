"""The folder of a fleet: its file is locked by the command that measures, and checked when it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nameplate.errors import FileError, UsageError
from nameplate.fleet.fleet_folder import FLEET_FILE, SCHEMA, FleetFolder, FleetStart
from nameplate.fleet.host_outcome import HostOutcome

START = FleetStart(schema=SCHEMA, id="i", token="t", arguments=["quick"], hosts=["a", "b"])


def test_a_folder_is_continued_where_it_ended(tmp_path: Path) -> None:
    folder = FleetFolder.create(tmp_path / "fleet", START)
    folder.started("a", 90.0)
    folder.ended(HostOutcome(address="b", outcome="measured", file="runs/b.jsonl"))
    reopened = FleetFolder.open(tmp_path / "fleet")
    assert (reopened.start, reopened.running, reopened.missing()) == (START, {"a": 90.0}, [])
    assert list(reopened.addresses.values()) == ["b"]


def test_only_one_command_measures_a_fleet(tmp_path: Path) -> None:
    folder = FleetFolder.create(tmp_path / "fleet", START)
    with pytest.raises(UsageError, match="another command is measuring this fleet; wait until it ends"):
        FleetFolder.resume(folder.path)
    with pytest.raises(UsageError, match="has a fleet: continue it with --resume"):
        FleetFolder.create(folder.path, START)
    FleetFolder.open(folder.path)  # reading is always possible
    assert folder._locked is not None
    os.close(folder._locked)
    FleetFolder.resume(tmp_path / "fleet")


def test_a_folder_of_another_version_is_named(tmp_path: Path) -> None:
    (tmp_path / FLEET_FILE).write_text('{"type":"fleet","schema":1,"id":"i","token":"t","arguments":[],"hosts":[]}\n')
    with pytest.raises(FileError, match=f"its format is 1, and this version reads {SCHEMA}"):
        FleetFolder.open(tmp_path)
