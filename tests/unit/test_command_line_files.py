"""The man page and the shells' completions say what the command line says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from command_line_files import COMPLETIONS, MAN_PAGE, Shell, completion, man_page
from nameplate.__main__ import make_app

RENEW = "renew it: .venv/bin/python tests/command_line_files.py"


def test_the_man_page_is_what_help_says() -> None:
    assert MAN_PAGE.read_text() == man_page(make_app()), RENEW


def test_the_man_page_names_every_command_and_option() -> None:
    page = MAN_PAGE.read_text()
    for name in (name for name in make_app() if not name.startswith("-")):
        assert f".SS nameplate {name}\n" in page
    assert r"\fB\-\-output\fR, \fB\-o\fR \fIOUTPUT\fR" in page
    assert page.isascii()


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_completions_know_every_command_and_option(shell: Shell) -> None:
    app = make_app()
    script = COMPLETIONS[shell].read_text()
    # Not the whole text: another version of the library writes the same in other words.
    assert options_of(script) == options_of(completion(app, shell)), RENEW
    for name in (name for name in app if not name.startswith("-")):
        assert re.search(rf"\b{name}\b", script), RENEW


def options_of(script: str) -> set[str]:
    return set(re.findall(r"(?:--|-l )([a-z][a-z-]+)", script))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nameplate ", {"run", "show", "doctor", "versus"}),
        ("nameplate comp", {"compare"}),
        ("nameplate run --bu", {"--budget"}),
        ("nameplate report x.jsonl --fig", {"--figures"}),
        ("nameplate show run", {"run.jsonl"}),
    ],
)
def test_bash_completes(line: str, expected: set[str], tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").touch()
    words = line.split(" ")
    script = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nameplate; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    command = ["bash", "--norc", "-c", script, "bash", str(COMPLETIONS["bash"]), *words]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert answer.stderr == ""
    found = set(answer.stdout.split())
    assert expected <= found
    assert all(word.startswith(words[-1]) for word in found)
