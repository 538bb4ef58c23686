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
# The number of classes that a message names.
_FEW = 3
_PATH = re.compile(r" - at `\$((?:\.\w+|\[\d+\])*)`$")
_PARTS = re.compile(r"\.(\w+)(?:\[(\d+)\])?")


class ClassRanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected ranges of a class of machines, learned from ``machines`` machines with ``runs`` runs in all.

    ``machine`` is the class. The ranges are ``provisional`` if they come from fewer than ``MIN_MACHINES`` (10)
    machines. ``without_range`` lists the measured metrics without a range, with reasons.
    """

    machine: MachineClass
    machines: Annotated[int, msgspec.Meta(ge=1)]
    runs: Annotated[int, msgspec.Meta(ge=1)]
    provisional: bool
    without_range: list[str] = []
    range: list[ExpectedRange] = []


class Site(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected ranges of a site, by class of machines (``classes``).

    ``schema`` is the version of the file format, and ``learned`` the date on which the ranges were learned.
    """

    schema: int
    learned: date
    classes: list[ClassRanges] = msgspec.field(name="class", default_factory=list)

    def ranges_of(self, machine: MachineClass) -> ClassRanges | None:
        """Return the ranges of a class of machines, or None if the site has none."""
        return next((machine_ranges for machine_ranges in self.classes if machine_ranges.machine == machine), None)


def make_site(classes: Sequence[ClassRanges], learned: date) -> Site:
    """Return a site with the given classes and date, in the file format of this version of nameplate."""
    return Site(schema=_SCHEMA, learned=learned, classes=list(classes))


def read_site(path: Path) -> Site:
    """Return the expected ranges of the site file ``path``.

    Raises:
        FileError: the file cannot be read, other users can write to it (``check_trusted``), or it is not a valid site
            file; the message has the line and the allowed values.
    """
    check_trusted(path)
    text = read_text(path, MAX_BYTES, "site file")
    tables = parse_toml(path, text)
    try:
        site = msgspec.convert(tables, Site)
    except msgspec.ValidationError as error:
        raise FileError(_message(path, text, str(error))) from None
    if site.schema != _SCHEMA:
        raise FileError(
            f"{path}: schema = {site.schema}, but this version of nameplate reads {_SCHEMA}; learn the file again"
        )
    _check_unique(path, site)
    return site


def site_expectation(site: Site, path: Path, machine: Machine) -> Expectation:
    """Return the expected ranges of a machine's class; ``path`` is the site file, for messages.

    Raises:
        NothingExpected: the site has no ranges for the class of ``machine``.
    """
    machine_class = class_of(machine)
    machine_ranges = site.ranges_of(machine_class)
    if machine_ranges is None:
        names = [ranges.machine.description for ranges in site.classes]
        more = " and others" if len(names) > _FEW else ""
        known = f"it has {'; '.join(names[:_FEW])}{more}" if names else "it has no class at all"
        raise NothingExpected(f"{path} has no class {machine_class.description}; {known}")
    few = machine_ranges.provisional or any(expected.machines < MIN_MACHINES for expected in machine_ranges.range)
    provisional = f"; provisional, with fewer than {MIN_MACHINES} machines" if few else ""
    machines = "1 machine" if machine_ranges.machines == 1 else f"{machine_ranges.machines} machines"
    runs = "1 run" if machine_ranges.runs == 1 else f"{machine_ranges.runs} runs"
    source = f"{path.name}, {machines} with {runs}, learned {site.learned.isoformat()}{provisional}"
    return Expectation(
        kind="site", machine=machine_ranges.machine.description, provisional=few, ranges=machine_ranges.range,
        origins=[source] * len(machine_ranges.range),
        peers=[f"the median of {machines} of this class"] * len(machine_ranges.range),
    )  # fmt: skip


def _check_unique(path: Path, site: Site) -> None:
    classes = Counter(machine_ranges.machine for machine_ranges in site.classes)
    for machine, times in classes.items():
        if times > 1:
            raise FileError(f"{path}: the class {machine.description} is listed {times} times; keep one")
    for machine_ranges in site.classes:
        for (experiment, metric), times in Counter(
            (one.experiment, one.metric) for one in machine_ranges.range
        ).items():
            if times > 1:
                raise FileError(
                    f"{path}: {experiment} {metric} of {machine_ranges.machine.description} is listed {times} times; "
                    "keep one"
                )


def site_text(site: Site) -> str:
    """Return a site as the text of a TOML file, which ``read_site`` reads."""
    lines = [
        "# What healthy machines of this site deliver, in SI base units, as nameplate check --learn found it.",
        "# Review it, change it where you know better, and keep it under version control.",
        f"schema = {site.schema}",
        f"learned = {site.learned.isoformat()}",
    ]
    for machine_ranges in site.classes:
        lines += ["", "[[class]]", *_pairs(machine_ranges, leave_out=("machine", "range")), "", "[class.machine]",
                  *_pairs(machine_ranges.machine)]  # fmt: skip
        for one in machine_ranges.range:
            lines += ["", "[[class.range]]", *_pairs(one)]
    return "\n".join(lines) + "\n"


def _pairs(table: msgspec.Struct, leave_out: Sequence[str] = ()) -> list[str]:
    """Return the lines of a table; a JSON string, number or list of strings is TOML as well."""
    return [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in msgspec.structs.asdict(table).items()
        if name not in leave_out and value not in ("", [])
    ]


def _message(path: Path, text: str, error: str) -> str:
    """Return the message of an error with its line, from msgspec's path such as ``$.class[0].range[2].low``."""
    location = _PATH.search(error)
    message = error[: location.start()] if location else error
    key = location[1].rpartition(".")[2] if location else ""
    named = re.sub(r"Object contains unknown field `([^`]+)`", r"unknown key '\1'", message)
    detail = f"{key}: {named}" if key and "[" not in key and named == message else named
    return f"{path}, line {_line_of(text, location[1] if location else '', message)}: {detail}"


def _line_of(text: str, location: str, message: str) -> int:
    """Return the line of the innermost part of a path that the text has, from 1."""
    lines = [line.strip() for line in text.splitlines()]
    at, table = 0, ""
    quoted = re.search(r"unknown field `([^`]+)`", message)
    for name, number in [*_PARTS.findall(location), *([(quoted[1], "")] if quoted else [])]:
        table = f"{table}.{name}" if table else name
        heads = [i for i, line in enumerate(lines) if i >= at and line in (f"[[{table}]]", f"[{table}]")]
        keys = [i for i, line in enumerate(lines) if i >= at and line.partition("=")[0].rstrip() == name]
        index = int(number or 0)
        numbers = heads[index : index + 1] or keys[:1]
        at = numbers[0] if numbers else at
    return at + 1
