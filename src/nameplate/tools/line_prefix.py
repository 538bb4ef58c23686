"""Separate the output of several processes that a launcher or job system wrote into one log with line prefixes.

A prefix is the text before the heading of a tool's output in the same line, for example ``[1,0]<stdout>:``, ``0: `` or
a time. All lines with the same prefix belong to the same process; a time in the prefix may differ from line to line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nameplate.errors import Unreadable

# The formats of the times that mpirun, ts, journald, container engines, CI systems and libraries write. No format has
# an optional part that could match a number of the tool.
_TIMES = (
    r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}",
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?",
    r"\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[-+]\d\d:?\d\d)?",
    r"\d{1,2}[./]\d{1,2}[./]\d{4},? \d{1,2}:\d\d:\d\d(?: [AP]M)?",
    r"\d{8}[-T_]\d{6}Z?",
    r"\d\d:\d\d:\d\d(?:[.,]\d+)?",
    r" *\d+\.\d{1,9}s",
    r" *\d+\.\d{3,9}",
    r"\d{13}",
    r"\d{10}",
)
_TIME = re.compile("|".join(rf"(?<![\w.])({form})(?!\d)" for form in _TIMES))
# A quotation mark shows that the heading is text within source code or a command.
_PREFIX = re.compile(r"""[^"']*[^\w\s"']\s?|[^"']*[^\s"']\s|""")
_MAX_LENGTH, _MAX_PREFIXES = 200, 100


@dataclass(frozen=True)
class LogLine:
    """A line of a log: ``text`` is the line without its prefix, ``number`` the line number in the whole log, from 1."""

    number: int
    text: str


def has_heading(text: str, heading: str) -> bool:
    """Return whether any line of ``text`` starts with the regular expression ``heading``, possibly after a prefix."""
    return next(_prefixes(text, heading), None) is not None


def split_by_prefix(text: str, heading: str) -> tuple[Sequence[Sequence[LogLine]], Sequence[LogLine]]:
    """Return the lines of each process that printed a heading, and the remaining lines.

    ``text`` is the whole log. ``heading`` is a regular expression that matches the start of a tool's output. A line
    belongs to a process if it has the same prefix as the heading of the process; the prefix is removed. Processes are
    in the order in which their headings first appear. If no line has the heading, all lines belong to one process.

    Raises:
        Unreadable: the headings have more than 100 different prefixes.
    """
    patterns = list(dict.fromkeys(map(_pattern, _prefixes(text, heading)))) or [""]
    if len(patterns) > _MAX_PREFIXES:
        raise Unreadable(
            f"its lines have more than {_MAX_PREFIXES} different prefixes, such as [n1]: "
            "put the lines with each prefix into a separate file"
        )
    # The longest pattern is tried first, because a shorter one may match its start.
    by_length = sorted(patterns, key=len, reverse=True)
    prefix = re.compile("|".join(f"({pattern})" for pattern in by_length))
    processes: dict[str, list[LogLine]] = {pattern: [] for pattern in patterns}
    rest: list[LogLine] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if match := prefix.match(line):
            processes[by_length[(match.lastindex or 1) - 1]].append(LogLine(number, line[match.end() :]))
        else:
            rest.append(LogLine(number, line))
    return list(processes.values()), rest


def _prefixes(text: str, heading: str) -> Iterator[str]:
    """Yield the prefix of each heading with at most one space at its end; more spaces are the heading's indentation."""
    for match in re.finditer(heading, text):
        start = match.start()
        line_start = text.rfind("\n", max(0, start - _MAX_LENGTH), start) + 1
        if not line_start and start >= _MAX_LENGTH:
            continue
        indented = text[line_start:start]
        prefix = indented[: len(indented.rstrip()) + 1] if indented.strip() else ""
        if _PREFIX.fullmatch(prefix):
            yield prefix


def _pattern(prefix: str) -> str:
    """Return a regular expression for a prefix, in which each time matches any time of the same form.

    A space at the end is optional after a punctuation mark, because it may be the heading's indentation.
    """
    if re.search(r"[^\w\s]\s$", prefix):
        return _pattern(prefix[:-1]) + r"\s?"
    pattern, position = "", 0
    for match in _TIME.finditer(prefix):
        pattern += re.escape(prefix[position : match.start()]) + _TIMES[(match.lastindex or 1) - 1]
        position = match.end()
    return pattern + re.escape(prefix[position:])
