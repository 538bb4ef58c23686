"""Hide what identifies a machine or its user in a report, so that the report can be passed on.

Host names become "machine 1", "machine 2" in every text that nameplate writes and that may contain one, such as a
reason, a note or a table. IP and MAC addresses, UUIDs and the paths of home directories are replaced in all text,
including parameters that the user gave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from nameplate.probes.shared.job import nodes_of
from nameplate.records.fleet_record import Fleet, FleetHost, LeftOut
from nameplate.records.machine_record import Machine
from nameplate.records.node_record import Nodes
from nameplate.records.result import Report, Result, Table
from nameplate.records.study_record import Study, StudyCell, StudyTable

# IPv6 addresses are matched only in brackets, the form of an address with a port.
_ADDRESS = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|\[(?=[0-9A-Fa-f.]*:)[0-9A-Fa-f:.]*\])(?![\w.]*\d)(?::\d+)?"
)

_MAC = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![\w:-])")
_UUID = re.compile(r"(?<![\w-])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![\w-])")
_MAX_CACHED = 100
_WORD = re.compile(r"[\w.-]+")
_HOME = re.compile(r"(?<![\w.~-])(?:/(?:home|Users)/[^/\s'\":;,]+|/root)(?=$|[/\s'\":;,])")
_PATTERNS = ((_UUID, "(identifier)"), (_MAC, "(address)"), (_ADDRESS, "(address)"), (_HOME, "~"))


def without_names(reports: Sequence[Report]) -> list[Report]:
    """Return copies of the reports with aliases for host names, and with addresses and home directories hidden.

    Host names become ``machine 1``, ``machine 2`` and so on, numbered over all reports in the order of their first
    appearance. Host names are replaced in the machine records, the node names, tables, notes, remarks, reasons,
    commands of reference tools, and the sources of reference values. They are not replaced in other text, such as a
    parameter value. An IP or MAC address becomes ``(address)``, a UUID ``(identifier)``, and the path of a home
    directory ``~`` in all text, including parameter values. The copies are in the order of ``reports``, which are not
    changed.
    """
    aliases = _aliases(reports)
    return [msgspec.convert(_hidden(msgspec.to_builtins(_aliased(report, aliases))), Report) for report in reports]


def hider_of(reports: Sequence[Report]) -> Callable[[str], str]:
    """Return a function that hides host names, addresses, UUIDs and home directories in a text about ``reports``.

    The function takes and returns a string, and replaces names with the aliases of ``without_names(reports)``.
    """
    hide = _hiding(_aliases(reports))
    return lambda text: _hidden_text(hide(text))


def _aliases(reports: Sequence[Report]) -> dict[str, str]:
    aliases: dict[str, str] = {}
    for report in reports:
        hosts = [report.machine.hostname] if report.machine else []
        for host in [*hosts, *nodes_of(report.machine), *(report.nodes.names if report.nodes else [])]:
            aliases.setdefault(host, f"machine {len(aliases) + 1}")
    return aliases


def is_alias(host: str) -> bool:
    """Return whether a host name has the form of an alias from ``without_names``, such as ``machine 1``."""
    return re.fullmatch(r"machine \d+", host) is not None


def _aliased_machine(machine: Machine, aliases: Mapping[str, str]) -> Machine:
    job = machine.job and msgspec.structs.replace(machine.job, nodes=[aliases[node] for node in machine.job.nodes])
    return msgspec.structs.replace(machine, hostname=aliases[machine.hostname], boot_id="", job=job)


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

    references = [
        msgspec.structs.replace(reference, command=hide(reference.command), reason=hide(reference.reason))
        for reference in report.references
    ]
    study = report.study and Study([hide_in_study(table) for table in report.study.tables], report.study.charts)
    return msgspec.structs.replace(
        report,
        machine=report.machine and _aliased_machine(report.machine, aliases),
        results=[hide_in(result) for result in report.results],
        tables=[hide_in_table(table) for table in report.tables],
        notes=[hide(note) for note in report.notes],
        references=references,
        study=study,
        nodes=report.nodes and _aliased_nodes(report.nodes, aliases),
        fleet=report.fleet and _aliased_fleet(report.fleet, aliases),
    )


def _aliased_nodes(nodes: Nodes, aliases: Mapping[str, str]) -> Nodes:
    numbers = {group: number for number, group in enumerate(dict.fromkeys(nodes.groups), start=1)}
    groups = [f"group {numbers[group]}" for group in nodes.groups]
    return msgspec.structs.replace(nodes, names=[aliases[name] for name in nodes.names], groups=groups)


def _aliased_fleet(fleet: Fleet, aliases: Mapping[str, str]) -> Fleet:
    """Return a fleet without paths, which may contain host names."""
    hosts = [
        FleetHost(
            name=aliases[host.name], hostname=aliases[host.name], path="", started=host.started, slowed=host.slowed
        )
        for host in fleet.hosts
    ]
    left_out = [LeftOut(f"file {index}", item.reason) for index, item in enumerate(fleet.left_out, start=1)]
    return Fleet(hosts=hosts, left_out=left_out)


def _hiding(aliases: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces host names in a text, in a time that does not depend on the number of names."""
    # Names of one word are looked up in ``aliases``. Names of several words need a regular expression, in which longer
    # names come first, since one name may be a prefix of another.
    hidden_hosts = [host for host in aliases if host and not _WORD.fullmatch(host)]
    hosts = "|".join(map(re.escape, sorted(hidden_hosts, key=len, reverse=True)))
    named = re.compile(rf"(?<![\w.-])(?:{hosts})(?![\w-])|{_WORD.pattern}" if hosts else _WORD.pattern)
    longest = max(map(len, aliases), default=0)

    def alias_of(match: re.Match[str]) -> str:
        word = match[0]
        # A domain may follow the host name.
        ends = [
            len(word),
            *(position for position in range(min(len(word), longest + 1) - 1, 0, -1) if word[position] == "."),
        ]
        return next((aliases[word[:end]] + word[end:] for end in ends if word[:end] in aliases), word)

    return lambda text: named.sub(alias_of, text)


def _hidden_text(text: str) -> str:
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


# The cache pays off because names of fields and parameters recur in thousands of results.
_hidden_text_cached = lru_cache(maxsize=1 << 14)(_hidden_text)


def _hidden(value: Any) -> Any:
    if isinstance(value, str):
        return _hidden_text_cached(value) if len(value) <= _MAX_CACHED else _hidden_text(value)
    if isinstance(value, dict):
        return {_hidden(name): _hidden(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        # Lists of numbers, which may be long, have no text to hide.
        return value if value and isinstance(value[0], int | float) else [_hidden(item) for item in value]
    return value
