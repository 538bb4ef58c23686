"""A command imports only what it needs, so that it starts quickly."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from nameplate.command_line import make_app
from recorded_runs import recorded_file

SLOW = ("numpy", "scipy", "jinja2", "altair", "pyarrow", "importlib.metadata")
COMMANDS = [name for name in make_app() if not name.startswith("-")]


def imported(*arguments: str) -> set[str]:
    """Return the names of the modules that a command imports."""
    command = [sys.executable, "-X", "importtime", "-m", "nameplate", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    modules = set(re.findall(r"^import time: .*\| +(\S+)$", answer.stderr, re.MULTILINE))
    assert "nameplate.process" in modules, answer.stderr
    return modules


@pytest.mark.parametrize("arguments", [(), ("--help",), ("frob",), ("--frob",)], ids=str)
def test_the_list_of_commands_imports_none_of_them(arguments: tuple[str, ...]) -> None:
    modules = imported(*arguments)
    assert not modules & {"msgspec", *SLOW}
    assert not modules & {f"nameplate.commands.{name}" for name in COMMANDS}


def test_the_version_needs_no_command_line() -> None:
    assert not imported("--version") & {"cyclopts", "rich", "msgspec", *SLOW}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_imports_no_other_command_and_no_slow_library(name: str) -> None:
    modules = imported(name, "--help")
    assert not modules & set(SLOW)
    # ab and run --against compare, too.
    assert not modules & {f"nameplate.commands.{command}" for command in COMMANDS if command not in (name, "compare")}


def test_a_run_whose_results_are_kept_is_shown_without_slow_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    run = str(recorded_file("quick.jsonl", tmp_path))
    assert "nameplate.results.summarise" in imported("show", run)
    assert not imported("show", run) & {"nameplate.results.summarise", "nameplate.tools.imported_run", *SLOW}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_their_summaries(name: str) -> None:
    assert make_app([])[name].help == make_app()[name].help.partition("\n\n")[0]


def test_an_installed_completion_has_the_options_of_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    command = [sys.executable, "-m", "nameplate", "--install-completion", "--shell", "bash"]
    subprocess.run(command, capture_output=True, check=True)
    installed = [path for path in tmp_path.rglob("*nameplate*") if path.is_file()]
    assert any("--budget" in path.read_text() for path in installed)
