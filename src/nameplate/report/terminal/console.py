"""The consoles that everything is printed to: what a file or the user says is text, never markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from nameplate.control_characters import clean_text

# COLUMNS may say anything, also 0. Below this no table is readable.
_MIN_WIDTH = 20


class _CleanConsole(Console):
    """A console whose text, whatever it comes from, has no control characters. Styles are added to it later."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments of ``renderable``, cleaned."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(clean_text(segment.text), segment.style)


def make_console(stderr: bool = False, width_without_terminal: int | None = None) -> Console:
    """Return a console for standard output or error, in colour where it is a terminal.

    ``width_without_terminal`` is its width in characters where it is none; default: what COLUMNS says, else 80.
    """
    console = _CleanConsole(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal and width_without_terminal is not None:
        console.width = width_without_terminal
    console.width = max(_MIN_WIDTH, console.width)
    return console
