"""A run that the system does not let nameplate read is never taken for no run: the reason is said."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nameplate.command_line import run
from recorded_runs import recorded_file

FAULTS = [errno.EMFILE, errno.EACCES, errno.EIO, errno.ENAMETOOLONG]
COMMANDS = [["history"], ["history", "bandwidth"], ["show"], ["report"], ["compare", "--by", "threads"],
            ["check", "--learn"]]  # fmt: skip


def failing(function: Callable[..., Any], fault: int, names: str) -> Callable[..., Any]:
    """Return a system call that fails for paths that end with ``names``."""

    def call(path: Any, *arguments: Any, **options: Any) -> Any:
        if str(path).endswith(names):
            raise OSError(fault, os.strerror(fault), str(path))
        return function(path, *arguments, **options)

    return call


def answer(capsys: pytest.CaptureFixture[str], folder: Path, command: list[str]) -> str:
    """Run a command on a folder, which must fail, and return its last message."""
    first, *rest = command
    arguments = [first, *rest, str(folder)] if "--learn" in rest else [first, str(folder), *rest]
    assert run(arguments) == 2
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    return errors.splitlines()[-1]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    recorded_file("series.jsonl", folder)
    return folder


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("call", ["open series.jsonl", "stat series.jsonl", "stat runs", "scandir runs"])
def test_the_reason_why_a_run_cannot_be_read_is_said(
    runs: Path, capsys: pytest.CaptureFixture[str], command: list[str], call: str, fault: int
) -> None:
    function, name = call.split()
    with pytest.MonkeyPatch.context() as patch:
        for item in ("scandir", "listdir") if function == "scandir" else (function,):
            patch.setattr(os, item, failing(getattr(os, item), fault, name))
        message = answer(capsys, runs, command)
    assert os.strerror(fault) in message
    assert name in message
    assert "write one with" not in message


def test_a_folder_with_other_files_says_what_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.jsonl").write_text('{"some": "log"}\n')
    message = answer(capsys, tmp_path, ["history"])
    assert "none of its run files could be read" in message
    assert "log.jsonl: line 1 is not a nameplate record" in message
    message = answer(capsys, tmp_path, ["check", "--learn"])
    assert "no complete run to learn from" in message
    assert "log.jsonl: line 1 is not a nameplate record" in message


def test_unreadable_runs_are_named_next_to_the_others(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded_file("quick.jsonl", runs)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", failing(os.open, errno.EMFILE, "series.jsonl"))
        assert run(["history", str(runs), "bandwidth"]) == 0
        # A long path is broken at the end of a line.
        assert "series.jsonl:Toomanyopenfiles" in "".join(capsys.readouterr().out.split())
        assert run(["history", str(runs), "no-such-metric"]) == 2
        assert "series.jsonl:Toomanyopenfiles" in "".join(capsys.readouterr().err.split())
    assert run(["history", str(runs), "bandwidth"]) == 0
    assert "could not be read" not in capsys.readouterr().out


def test_a_folder_of_which_a_part_cannot_be_read_is_not_learned_from_without_a_word(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (runs / "closed").mkdir()
    recorded_file("quick.jsonl", runs / "closed")
    monkeypatch.setattr(os, "scandir", failing(os.scandir, errno.EACCES, "closed"))
    assert run(["check", "--learn", str(runs)]) == 2
    assert f"{runs}/closed is left out: cannot read {runs}/closed: Permission denied" in capsys.readouterr().err


def test_a_link_to_nothing_is_no_file(runs: Path) -> None:
    (runs / "dangling.jsonl").symlink_to("nothing")
    (runs / "loop.jsonl").symlink_to("loop.jsonl")
    assert run(["show", str(runs)]) == 0
