"""Find the nameplate commands in README.md and docs/, so that tests can run them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nameplate.command_line import with_options

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

# Fenced blocks in these languages show output or files, not commands.
_NO_COMMANDS = ("text", "toml", "ini")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(nameplate [^`]+)`")
_COMMENT = re.compile(r"\s+#.*")
# A command substitution, which a shell would replace.
_SUBSTITUTION = re.compile(r"\$\(.*?\)")


@dataclass(frozen=True)
class Command:
    """A command and the page that shows it first."""

    text: str
    page: str

    @property
    def argv(self) -> list[str]:
        """Return the arguments after ``nameplate``, as a shell splits them, with an option for ``--``."""
        return with_options(shlex.split(_SUBSTITUTION.sub("x", self.text))[1:])


def fenced_commands() -> list[Command]:
    """Return every command that stands on a line of its own in a fenced block, each once."""
    return _unique(_fenced(page.read_text(), page.name) for page in PAGES)


def mentioned_commands() -> list[Command]:
    """Return every command within a sentence or a cell of a table, each once."""
    return _unique(_mentioned(page.read_text(), page.name) for page in PAGES)


def _fenced(text: str, page: str) -> Iterator[Command]:
    for language, block in _FENCE.findall(text):
        for line in block.splitlines() if language not in _NO_COMMANDS else ():
            command = _COMMENT.sub("", line.strip().removeprefix("$ "))
            if command.startswith("nameplate "):
                yield Command(command, page)


def _mentioned(text: str, page: str) -> Iterator[Command]:
    for code in _INLINE.findall(_FENCE.sub("", text)):
        yield Command(" ".join(code.split()), page)


def _unique(commands: Iterator[Iterator[Command]]) -> list[Command]:
    first: dict[str, Command] = {}
    for item in (command for page in commands for command in page):
        first.setdefault(item.text, item)
    return [*first.values()]
