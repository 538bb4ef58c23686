"""``nameplate --help`` has examples and groups of commands."""

from __future__ import annotations

import pytest

from nameplate.command_line import run
from nameplate.commands import command_names


def test_the_help_has_examples_and_each_command_under_a_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    head, *panels = text.split("╭─ ")
    assert [line.partition(":")[0] for line in head.splitlines() if line.startswith("nameplate ")] == [
        "nameplate run", "nameplate check", "nameplate compare OLD.jsonl NEW.jsonl",
    ]  # fmt: skip
    titles = {panel.partition(" ─")[0]: panel for panel in panels}
    assert list(titles) == ["Measure", "Read results", "This machine and nameplate", "Options"]
    for name in command_names():
        assert sum(f"│ {name} " in panel for panel in panels) == 1, name
    assert "--version" in titles["Options"]
    assert "│ ab " in titles["Measure"]
