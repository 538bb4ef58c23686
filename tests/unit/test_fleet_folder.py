"""The folder of a fleet: its file is locked by the command that measures, and checked when it is read."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from nameplate.errors import FileError, UsageError
from nameplate.fleet.fleet_folder import FLEET_FILE, SCHEMA, FleetFolder, FleetStart
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome
from nameplate.results.digest import values_version
from nameplate.results.run_file import read_digest
from recorded_runs import quieted, unpacked

START = FleetStart(schema=SCHEMA, id="i", token="t", arguments=["quick"], hosts=["a", "b"])


def test_a_folder_is_continued_where_it_ended(tmp_path: Path) -> None:
    folder = FleetFolder.create(tmp_path / "fleet", START)
    folder.started("a", 90.0)
    folder.ended(HostOutcome(address="b", outcome="measured", file="runs/b.jsonl"))
    reopened = FleetFolder.open(tmp_path / "fleet")
    assert (reopened.start, reopened.running, reopened.missing()) == (START, {"a": 90.0}, [])
    assert list(reopened.addresses.values()) == ["b"]


RUN = b"".join(line for line in quieted(unpacked("quick")).splitlines(keepends=True) if b'"figures"' not in line[:30])


def test_records_are_checked_after_they_were_collected(tmp_path: Path) -> None:
    """Also by the next command, if this one was killed."""
    hosts = {"a": RUN, "b": b"no records", "c": RUN[: len(RUN) // 2], "d": RUN}
    folder = FleetFolder.create(tmp_path / "fleet", msgspec.structs.replace(START, hosts=list(hosts)))
    for host, records in hosts.items():
        folder.started(host, 90.0)
        folder.part(host).write_bytes(records)
        folder.note_collected(host, CoreEnd("0" if host == "d" else "137", "", False))
    reopened = FleetFolder.open(folder.path)
    assert (reopened.running, reopened.missing(), reopened.outcomes) == ({}, [], {})
    folder.part("d").rename(folder.path / "runs/d.jsonl")  # the last act of a command that was killed
    steps: list[tuple[int, int]] = []
    reopened.check_collected(lambda *step: steps.append(step))
    assert steps == [(4, 4)]
    assert (reopened.collected, reopened.missing()) == ({}, ["b", "c"])
    ends = FleetFolder.open(folder.path).outcomes
    assert {host: end.outcome for host, end in ends.items()} == {
        "a": "measured", "b": "killed", "c": "killed", "d": "measured",
    }  # fmt: skip
    assert sorted(path.name for path in (folder.path / "runs").iterdir()) == ["a.jsonl", "b.part", "c.jsonl", "d.jsonl"]
    assert read_digest(folder.path / "runs/a.jsonl", values_version())


def test_a_host_that_is_measured_again_has_its_new_outcome(tmp_path: Path) -> None:
    folder = FleetFolder.create(tmp_path / "fleet", START)
    folder.ended(HostOutcome(address="a", outcome="busy", file="runs/a.jsonl"))
    folder.started("a", 90.0)
    folder.part("a").write_bytes(RUN)
    folder.note_collected("a", CoreEnd("0"))
    folder.check_collected()
    assert FleetFolder.open(folder.path).outcomes["a"].outcome == "measured"


def test_an_earlier_file_of_a_host_that_fails_does_not_count(tmp_path: Path) -> None:
    folder = FleetFolder.create(tmp_path / "fleet", START)
    folder.ended(HostOutcome(address="a", outcome="stopped", file="runs/a.jsonl"))
    folder.ended(HostOutcome(address="a", outcome="unreachable", reason="no route to host"))
    assert FleetFolder.open(folder.path).outcomes["a"].file == "runs/a.jsonl"


def test_a_run_that_was_checked_twice_has_one_digest(tmp_path: Path) -> None:
    """A command may be killed before it notes the outcome."""
    folder = FleetFolder.create(tmp_path / "fleet", START)
    folder.part("a").write_bytes(RUN)
    folder.note_collected("a", CoreEnd("0"))
    folder.check_collected()
    size_bytes = (folder.path / "runs/a.jsonl").stat().st_size
    folder.note_collected("a", CoreEnd("0"))
    folder.check_collected()
    assert (folder.path / "runs/a.jsonl").stat().st_size == size_bytes
    assert folder.outcomes["a"].outcome == "measured"


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
