"""Separate the processes whose lines a launcher or a job system wrote into one log, with a prefix before each line.

A prefix is what precedes the heading of a tool's output in its line, such as ``[1,0]<stdout>:``, ``0: `` or a time. The
lines that begin with the same prefix are of the same process; only a time may differ from line to line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nameplate.errors import Unreadable

# The times that mpirun, ts, journald, container engines, CI systems and libraries write. None of them has an optional
# part that could be a number of the tool.
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
    """A line of a log without its prefix. ``number`` is its number in the whole log, from 1."""

    number: int
    text: str


def has_heading(text: str, heading: str) -> bool:
    """Return whether a line begins with the regular expression ``heading``, also after a prefix."""
    return next(_prefixes(text, heading), None) is not None


def split_by_prefix(text: str, heading: str) -> tuple[Sequence[Sequence[LogLine]], Sequence[LogLine]]:
    """Return the lines of each process that printed a heading, without their prefix, and the lines of no such process.

    ``heading`` is a regular expression for the beginning of a line. Processes are in the order of their headings. If no
    line has the heading, all lines are those of one process.

    Raises:
        Unreadable: the lines with the heading have more than 100 prefixes.
    """
    patterns = list(dict.fromkeys(map(_pattern, _prefixes(text, heading)))) or [""]
    if len(patterns) > _MAX_PREFIXES:
        raise Unreadable(
            f"its headings have more than {_MAX_PREFIXES} prefixes: put the lines with each prefix into a file of "
            "their own"
        )
    # The longest one is tried first, because it may begin with a shorter one.
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
    """Yield what precedes each heading in its line, with at most one space at the end; the rest is indentation."""
    for match in re.finditer(heading, text):
        begin = match.start()
        line_begin = text.rfind("\n", max(0, begin - _MAX_LENGTH), begin) + 1
        if not line_begin and begin >= _MAX_LENGTH:
            continue
        indented = text[line_begin:begin]
        prefix = indented[: len(indented.rstrip()) + 1] if indented.strip() else ""
        if _PREFIX.fullmatch(prefix):
            yield prefix


def _pattern(prefix: str) -> str:
    """Return a regular expression for a prefix in which each time may be another one of the same form.

    A space at the end is optional after a punctuation mark: it may be the heading's indentation.
    """
    if re.search(r"[^\w\s]\s$", prefix):
        return _pattern(prefix[:-1]) + r"\s?"
    pattern, position = "", 0
    for match in _TIME.finditer(prefix):
        pattern += re.escape(prefix[position : match.start()]) + _TIMES[(match.lastindex or 1) - 1]
        position = match.end()
    return pattern + re.escape(prefix[position:])
