"""Create the consoles for all output. Text from files or from the user is printed literally, never as markup."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from nameplate.control_characters import clean_text

# The environment variable COLUMNS may have any value, even 0; no table is readable below this width.
_MIN_WIDTH = 20
# The width of output to a file or a pipe, unless COLUMNS gives one.
_WIDTH_WITHOUT_TERMINAL = 100


class _CleanConsole(Console):
    """A console that removes control characters from all text, whatever its source. Styles are applied afterwards."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments of ``renderable`` without control characters."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(clean_text(segment.text), segment.style)


def make_console(stderr: bool = False) -> Console:
    """Return a console for standard output or, with ``stderr``, for standard error.

    The output has colour if it goes to a terminal. Text is printed literally, without rich's markup, and control
    characters in it are replaced. The width in characters is the environment variable COLUMNS if it is a number,
    otherwise the width of the terminal, or 100 without a terminal. The width is at least 20.
    """
    console = _CleanConsole(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdecimal():
        console.width = _WIDTH_WITHOUT_TERMINAL
    console.width = max(_MIN_WIDTH, console.width)
    return console
