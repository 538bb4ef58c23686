"""Write Markdown whose text is shown literally, even where GitHub or GitLab would turn it into links."""

from __future__ import annotations

import re
from collections.abc import Sequence

# GitHub and GitLab look for references in the shown text, where an escaped character counts like a plain one. A space
# of no width breaks a reference: after the sign of @name, #1, !1, $1, %1, ~1 or &1, in URLs, www. and :emoji:, in GH-1
# and the keys of other trackers, and in anything that may be the hash of a commit, which has at least seven digits.
_REFERENCE = re.compile(
    r"(?<=[@#!$%~&])(?=[\w\"])|(?<=:)(?=//|[\w+-]+:)|(?i:(?<=www))(?=\.)|(?<=[A-Za-z]-)(?=\d)"
    r"|[0-9a-fA-F]{6}(?=[0-9a-fA-F])"
)
_NO_WIDTH = "\u200b"
# Characters that start HTML, an entity, a link, code, emphasis, a formula or a table cell. An underscore between two
# letters or digits is safe.
_SPECIAL = re.compile(rf"[&<>|`\[\]\\*~$^#@{_NO_WIDTH}]|(?<![^\W_])_|_(?![^\W_])")
# Text that starts a list, a rule, a heading or a command of a bot at the beginning of a line.
_BLOCK = re.compile(r"^(?:[-+](?=[- ]|$)|[=/:]|\d{1,9}[.)](?= |$))")


def plain(text: str) -> str:
    """Return ``text`` escaped so that Markdown shows it literally, on one line, with single spaces.

    Text from files could otherwise contain HTML, notify people (``@name``) or make links. The result is shown literally
    at the start of a line, too, where Markdown recognises lists and headings. It is "" if ``text`` is blank.
    """
    line = _REFERENCE.sub(rf"\g<0>{_NO_WIDTH}", " ".join(text.split()))
    return _BLOCK.sub(_entity, _SPECIAL.sub(_entity, line))


def bold(text: str) -> str:
    """Return ``text`` escaped as by ``plain``, in bold; "" if ``text`` is blank."""
    escaped = plain(text)
    return f"**{escaped}**" if escaped else ""


def table_rows(lines: Sequence[Sequence[str]]) -> str:
    """Return the lines of a Markdown table, each with a line feed at the end.

    Each of ``lines`` has the cells of one line as Markdown, which is not escaped here. The first line has the headings,
    the second the ruler, such as ``---`` or ``---:`` in each column.
    """
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _entity(match: re.Match[str]) -> str:
    """Return the text of a match with its last character as an entity."""
    return f"{match[0][:-1]}&#{ord(match[0][-1])};"
