"""Write Markdown whose text is shown literally."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Characters that start HTML, an entity, a link, code or a table cell. Underscores within words are safe.
_SPECIAL = re.compile(r"[&<>|`\[\]]")


def plain(text: str) -> str:
    """Return text that Markdown shows literally, on one line. Names come from files, and some viewers run HTML."""
    return " ".join(_SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text).split("\n"))


def table_rows(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of a table, whose cells are Markdown; the first has the headings, the second the ruler."""
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
