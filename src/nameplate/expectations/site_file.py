"""Read and write the expected ranges of a site: a text file to review and to keep under version control."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import msgspec

from nameplate.errors import FileError, NothingExpected
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.machine_class import MachineClass, class_of
from nameplate.records.inputs import read_text
from nameplate.records.machine_record import Machine
from nameplate.records.toml_text import parse_toml
from nameplate.records.trusted_files import check_trusted

MAX_BYTES = 8 << 20
# Ranges from fewer machines are provisional.
MIN_MACHINES = 10
_SCHEMA = 1
# As many classes as a message names.
_FEW = 3
_PATH = re.compile(r" - at `\$((?:\.\w+|\[\d+\])*)`$")
_PARTS = re.compile(r"\.(\w+)(?:\[(\d+)\])?")


class ClassRanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected ranges of a class of machines, learned from ``machines`` machines with ``runs`` runs in all.

    They are ``provisional`` if there were fewer than ``MIN_MACHINES`` machines. ``without_range`` says for each metric
    that was measured and has no range why.
    """

    machine: MachineClass
    machines: Annotated[int, msgspec.Meta(ge=1)]
    runs: Annotated[int, msgspec.Meta(ge=1)]
    provisional: bool
    without_range: list[str] = []
    range: list[ExpectedRange] = []


class Site(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected ranges of a site; ``schema`` is the version of the format, and ``learned`` a date."""

    schema: int
    learned: date
    classes: list[ClassRanges] = msgspec.field(name="class", default_factory=list)

    def ranges_of(self, machine: MachineClass) -> ClassRanges | None:
        """Return the ranges of a class of machines, or None if the site has none."""
        return next((each for each in self.classes if each.machine == machine), None)


def make_site(classes: Sequence[ClassRanges], learned: date) -> Site:
    """Return a site with these classes, learned at this date, in the format of this version."""
    return Site(schema=_SCHEMA, learned=learned, classes=list(classes))


def read_site(path: Path) -> Site:
    """Return the expected ranges of a file.

    Raises:
        FileError: the file cannot be read, others can write it (``check_trusted``), or it is not such a file; then the
            message has the line, and what is allowed.
    """
    check_trusted(path)
    text = read_text(path, MAX_BYTES, "site file")
    tables = parse_toml(path, text)
    try:
        site = msgspec.convert(tables, Site)
    except msgspec.ValidationError as error:
        raise FileError(_words(path, text, str(error))) from None
    if site.schema != _SCHEMA:
        raise FileError(f"{path}: schema = {site.schema}, but this version of nameplate reads {_SCHEMA}")
    _check_unique(path, site)
    return site


def site_expectation(site: Site, path: Path, machine: Machine) -> Expectation:
    """Return what a site expects of a machine; ``path`` is its file, for messages.

    Raises:
        NothingExpected: the site has no class of this machine.
    """
    own = class_of(machine)
    found = site.ranges_of(own)
    if found is None:
        raise NothingExpected(f"{path} has no class {own.words}; {_known(site)}")
    few = found.provisional or any(each.machines < MIN_MACHINES for each in found.range)
    provisional = f"; provisional, with fewer than {MIN_MACHINES} machines" if few else ""
    machines = "1 machine" if found.machines == 1 else f"{found.machines} machines"
    runs = "1 run" if found.runs == 1 else f"{found.runs} runs"
    source = f"{path.name}, {machines} with {runs}, learned {site.learned.isoformat()}{provisional}"
    return Expectation(
        kind="site", machine=found.machine.words, provisional=few, ranges=found.range,
        origins=[source] * len(found.range),
    )  # fmt: skip


def _known(site: Site) -> str:
    if not site.classes:
        return "it has no class at all"
    words = [each.machine.words for each in site.classes]
    return f"it has {'; '.join(words[:_FEW])}{' and others' if len(words) > _FEW else ''}"


def _check_unique(path: Path, site: Site) -> None:
    classes = Counter(each.machine for each in site.classes)
    for machine, times in classes.items():
        if times > 1:
            raise FileError(f"{path}: the class {machine.words} is there {times} times; leave one")
    for each in site.classes:
        for (experiment, metric), times in Counter((one.experiment, one.metric) for one in each.range).items():
            if times > 1:
                raise FileError(
                    f"{path}: {experiment} {metric} of {each.machine.words} is there {times} times; leave one"
                )


def site_text(site: Site) -> str:
    """Return the text of a site file, which ``read_site`` reads."""
    lines = [
        "# What healthy machines of this site deliver, in SI base units, as nameplate check --learn found it.",
        "# Review it, change it where you know better, and keep it under version control.",
        f"schema = {site.schema}",
        f"learned = {site.learned.isoformat()}",
    ]
    for each in site.classes:
        lines += ["", "[[class]]", *_pairs(each, leave_out=("machine", "range")), "", "[class.machine]",
                  *_pairs(each.machine)]  # fmt: skip
        for one in each.range:
            lines += ["", "[[class.range]]", *_pairs(one)]
    return "\n".join(lines) + "\n"


def _pairs(table: msgspec.Struct, leave_out: Sequence[str] = ()) -> list[str]:
    """Return the lines of a table; a JSON string, number or list of strings is TOML as well."""
    return [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in msgspec.structs.asdict(table).items()
        if name not in leave_out and value not in ("", [])
    ]


def _words(path: Path, text: str, error: str) -> str:
    """Return the message of an error with its line, from msgspec's path such as ``$.class[0].range[2].low``."""
    place = _PATH.search(error)
    message = error[: place.start()] if place else error
    key = place[1].rpartition(".")[2] if place else ""
    named = re.sub(r"Object contains unknown field `([^`]+)`", r"unknown key '\1'", message)
    shown = f"{key}: {named}" if key and "[" not in key and named == message else named
    return f"{path}, line {_line_of(text, place[1] if place else '', message)}: {shown}"


def _line_of(text: str, place: str, message: str) -> int:
    """Return the line of the innermost part of a path that the text has, from 1."""
    lines = [line.strip() for line in text.splitlines()]
    at, table = 0, ""
    quoted = re.search(r"unknown field `([^`]+)`", message)
    for name, number in [*_PARTS.findall(place), *([(quoted[1], "")] if quoted else [])]:
        table = f"{table}.{name}" if table else name
        heads = [i for i, line in enumerate(lines) if i >= at and line in (f"[[{table}]]", f"[{table}]")]
        keys = [i for i, line in enumerate(lines) if i >= at and line.partition("=")[0].rstrip() == name]
        index = int(number or 0)
        found = heads[index : index + 1] or keys[:1]
        at = found[0] if found else at
    return at + 1
