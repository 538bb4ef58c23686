"""The consoles that everything is printed to: what a file or the user says is text, never markup."""

from __future__ import annotations

from rich.console import Console

# COLUMNS may say anything, also 0. Below this no table is readable.
_MIN_WIDTH = 20


def make_console(stderr: bool = False, width_without_terminal: int | None = None) -> Console:
    """Return a console for standard output or error, in colour where it is a terminal.

    ``width_without_terminal`` is its width in characters where it is none; default: what COLUMNS says, else 80.
    """
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal and width_without_terminal is not None:
        console.width = width_without_terminal
    console.width = max(_MIN_WIDTH, console.width)
    return console
