"""The man page and the shell completions agree with the command line."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line_files import COMPLETIONS, MAN_PAGE, Shell, completion, man_page
from nameplate.command_line import make_app

RENEW = "renew it: .venv/bin/python tests/support/command_line_files.py"


def test_the_man_page_agrees_with_help() -> None:
    assert MAN_PAGE.read_text() == man_page(make_app()), RENEW


def test_the_man_page_names_every_command_and_option() -> None:
    page = MAN_PAGE.read_text()
    for name in (name for name in make_app() if not name.startswith("-")):
        assert f".SS nameplate {name}\n" in page
    assert r"\fB\-\-output\fR, \fB\-o\fR \fIOUTPUT\fR" in page
    assert page.isascii()


def test_every_argument_is_described() -> None:
    app = make_app()
    for name in (name for name in app if not name.startswith("-")):
        for argument in app[name].assemble_argument_collection(parse_docstring=True).filter_by(show=True):
            assert argument.parameter.help, (name, argument.names)


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_completions_have_every_command_and_option(shell: Shell) -> None:
    app = make_app()
    script = COMPLETIONS[shell].read_text()
    # Compare the options, not the whole text, which depends on the version of the library.
    assert options_of(script) == options_of(completion(app, shell)), RENEW
    for name in (name for name in app if not name.startswith("-")):
        assert re.search(rf"\b{name}\b", script), RENEW


def options_of(script: str) -> set[str]:
    return set(re.findall(r"(?:--|-l )([a-z][a-z-]+)", script))


def bash(line: str, folder: Path) -> set[str]:
    script = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nameplate; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return set(said(["bash", "--norc", "-c", script, "bash", str(COMPLETIONS["bash"]), *line.split(" ")], folder))


def fish(line: str, folder: Path) -> set[str]:
    script = f"source {shlex.quote(str(COMPLETIONS['fish']))}; complete -C {shlex.quote(line)}"
    return {candidate.split("\t")[0] for candidate in said(["fish", "--no-config", "-c", script], folder)}


def zsh(line: str, folder: Path) -> set[str]:
    """Return the word that one Tab completes; menu-complete inserts it even if there is also a message to show."""
    (folder / ".zshrc").write_text(
        f"fpath=({shlex.quote(str(COMPLETIONS['zsh'].parent))} $fpath); autoload -Uz compinit; compinit -u -D\n"
        'tab() { zle menu-complete; print -r -- "$BUFFER" > answer; exit }; zle -N tab; bindkey "^I" tab\n'
    )
    ours, shells = os.openpty()
    try:
        os.write(ours, f"{line}\t".encode())
        environment = {**os.environ, "ZDOTDIR": str(folder), "TERM": "xterm"}
        subprocess.run(
            ["zsh", "-i"], stdin=shells, stdout=shells, stderr=shells, cwd=folder, env=environment, check=True,
            start_new_session=True, timeout=60,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(shells)
    return {(folder / "answer").read_text().split()[-1]}


def said(command: list[str], folder: Path) -> list[str]:
    answer = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    assert answer.stderr == ""
    return answer.stdout.splitlines()


@pytest.mark.parametrize("shell", [bash, fish, zsh])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nameplate comp", "compare"),
        ("nameplate run --bu", "--budget"),
        ("nameplate report x.jsonl --cha", "--charts"),
        ("nameplate show run", "run.jsonl"),
    ],
)
def test_a_shell_completes(shell: Callable[[str, Path], set[str]], line: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").touch()
    assert shell(line, tmp_path) == {expected}


@pytest.mark.parametrize("shell", [bash, fish])
def test_a_shell_lists_all_commands(shell: Callable[[str, Path], set[str]], tmp_path: Path) -> None:
    assert shell("nameplate ", tmp_path) >= {name for name in make_app() if not name.startswith("-")}
