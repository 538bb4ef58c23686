"""Replace whatever identifies a machine or its user, since reports are passed on: hosts become "machine 1", "machine
2".

Host names are replaced in every text that may contain one, such as a reason, a note or a table. Addresses (IP, MAC),
UUIDs and the paths of home directories are replaced everywhere, including in parameters that the user gave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from nameplate.probes.shared.job import nodes_of
from nameplate.records.machine_record import Machine
from nameplate.records.result import Report, Result, Table
from nameplate.records.study_record import Study, StudyCell, StudyTable

# An IPv6 address is matched in the bracketed form that a peer with a port is written in.
_ADDRESS = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|\[(?=[0-9A-Fa-f.]*:)[0-9A-Fa-f:.]*\])(?![\w.]*\d)(?::\d+)?"
)

_MAC = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![\w:-])")
_UUID = re.compile(r"(?<![\w-])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![\w-])")
_MAX_KEPT = 100
_WORD = re.compile(r"[\w.-]+")
_HOME = re.compile(r"(?<![\w.~-])(?:/(?:home|Users)/[^/\s'\":;,]+|/root)(?=$|[/\s'\":;,])")
_PATTERNS = ((_UUID, "(identifier)"), (_MAC, "(address)"), (_ADDRESS, "(address)"), (_HOME, "~"))


def without_names(reports: Sequence[Report]) -> list[Report]:
    """Return copies of the reports with aliases for host names, and with addresses and home directories hidden.

    The hosts of all reports are numbered together in the order of their first appearance, and become ``machine 1``,
    ``machine 2``. They are replaced in the machine records, the node names, tables, notes, remarks, reasons and the
    sources of reference values; a host name in another text, such as a parameter value, stays. Everywhere, including in
    parameter values, an IP or MAC address becomes ``(address)``, a UUID ``(identifier)``, and the path of a home
    directory ``~``. The copies are in the order of ``reports``, which stay as they are.
    """
    aliases = _aliases(reports)
    return [_without_patterns(_aliased(report, aliases)) for report in reports]


def hider_of(reports: Sequence[Report]) -> Callable[[str], str]:
    """Return a function that hides in a text about these reports what ``without_names`` hides in them."""
    hide = _hiding(_aliases(reports))
    return lambda text: _hidden_text(hide(text))


def _aliases(reports: Sequence[Report]) -> dict[str, str]:
    aliases: dict[str, str] = {}
    for report in reports:
        own = [report.machine.hostname] if report.machine else []
        for host in [*own, *nodes_of(report.machine), *(report.nodes.names if report.nodes else [])]:
            aliases.setdefault(host, f"machine {len(aliases) + 1}")
    return aliases


def is_alias(host: str) -> bool:
    """Return whether a host name is an alias from ``without_names``, such as ``machine 1``, which says nothing."""
    return re.fullmatch(r"machine \d+", host) is not None


def _aliased_machine(machine: Machine, aliases: Mapping[str, str]) -> Machine:
    job = machine.job and msgspec.structs.replace(machine.job, nodes=[aliases[node] for node in machine.job.nodes])
    return msgspec.structs.replace(machine, hostname=aliases[machine.hostname], job=job)


def _aliased(report: Report, aliases: Mapping[str, str]) -> Report:
    hide = _hiding(aliases)

    def hide_in(result: Result) -> Result:
        return msgspec.structs.replace(
            result,
            summary=msgspec.structs.replace(result.summary, reason=hide(result.summary.reason)),
            rated=msgspec.structs.replace(result.rated, source=hide(result.rated.source)),
            remarks=[hide(remark) for remark in result.remarks],
        )

    def hide_in_table(table: Table) -> Table:
        rows = [[hide(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows]
        notes = [hide(note) for note in table.notes]
        return msgspec.structs.replace(table, title=hide(table.title), rows=rows, notes=notes)

    def hide_in_cell(cell: StudyCell) -> StudyCell:
        here = hide(cell.here) if isinstance(cell.here, str) else cell.here
        return msgspec.structs.replace(cell, here=here, remarks=[hide(remark) for remark in cell.remarks])

    def hide_in_study(table: StudyTable) -> StudyTable:
        cells = [[hide_in_cell(cell) for cell in row] for row in table.cells]
        return msgspec.structs.replace(table, cells=cells, notes=[hide(note) for note in table.notes])

    study = report.study and Study([hide_in_study(table) for table in report.study.tables], report.study.charts)
    return msgspec.structs.replace(
        report,
        machine=report.machine and _aliased_machine(report.machine, aliases),
        results=[hide_in(result) for result in report.results],
        tables=[hide_in_table(table) for table in report.tables],
        notes=[hide(note) for note in report.notes],
        study=study,
        nodes=report.nodes and msgspec.structs.replace(report.nodes, names=[aliases[n] for n in report.nodes.names]),
    )


def _hiding(aliases: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces host names in a text, in a time that does not depend on their number."""
    # Single words are looked up. Names of several words need an expression, longest first: one name may be a prefix of
    # another.
    others = [host for host in aliases if host and not _WORD.fullmatch(host)]
    hosts = "|".join(map(re.escape, sorted(others, key=len, reverse=True)))
    named = re.compile(rf"(?<![\w.-])(?:{hosts})(?![\w-])|{_WORD.pattern}" if hosts else _WORD.pattern)
    longest = max(map(len, aliases), default=0)

    def alias_of(match: re.Match[str]) -> str:
        word = match[0]
        # A host name may be followed by its domain.
        ends = [len(word), *(place for place in range(min(len(word), longest + 1) - 1, 0, -1) if word[place] == ".")]
        return next((aliases[word[:end]] + word[end:] for end in ends if word[:end] in aliases), word)

    return lambda text: named.sub(alias_of, text)


def _without_patterns(report: Report) -> Report:
    return msgspec.convert(_hidden(msgspec.to_builtins(report)), Report)


def _hidden_text(text: str) -> str:
    for pattern, words in _PATTERNS:
        text = pattern.sub(words, text)
    return text


# Names of fields and parameters recur in thousands of results.
_hidden_words = lru_cache(maxsize=1 << 14)(_hidden_text)


def _hidden(value: Any) -> Any:
    if isinstance(value, str):
        return _hidden_words(value) if len(value) <= _MAX_KEPT else _hidden_text(value)
    if isinstance(value, dict):
        return {_hidden(name): _hidden(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        # Lists of numbers are long and hold nothing to hide.
        return value if value and isinstance(value[0], int | float) else [_hidden(own) for own in value]
    return value
