"""Print whether a machine delivers what it should."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from rich.text import Text

from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judging import ORDER, JudgedValue, Verdict, verdict_of_area
from nameplate.expectations.site_file import MIN_MACHINES, ClassRanges
from nameplate.probes import probe_of
from nameplate.probes.shared.screen_line import DisplayUnit
from nameplate.records.result import Report
from nameplate.report.areas import label_of_area, order_of_area, words_of_area
from nameplate.report.brief import brief, half_width
from nameplate.report.first_screen import first_screen
from nameplate.report.format import count, parameters, scale
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console

_STYLES: dict[Verdict, str] = {
    "BELOW": "bold red", "UNSURE": "yellow", "AS EXPECTED": "green", "ABOVE": "green", "UNKNOWN": "dim",
}  # fmt: skip
# As much as Slurm shows of the reason of a drained node, and other tools of a message.
LONGEST_LINE = 100
_UNSAFE = re.compile(r"[^A-Za-z0-9 .:,%/()+-]")
_HEADINGS = ("verdict", "measured", "±95%", "expected")


@dataclass(frozen=True)
class Checked:
    """The values of a run with their verdicts, and what they were compared with.

    ``expected_from`` is the name of the site file and ``learned`` its date; ``found`` has the ranges of the machine's
    class. ``run`` is the path of the run.
    """

    report: Report
    values: list[JudgedValue]
    expected_from: str
    found: ClassRanges
    run: str
    learned: date


def print_checked(checked: Checked, has_all: bool) -> None:
    """Print a sentence that says it, then a line for each area, or with ``has_all`` for each value."""
    console = make_console()
    for line in check_lines(checked, console.width, has_all):
        console.print(line)


def check_lines(checked: Checked, width: int, has_all: bool) -> list[Text]:
    """Return what ``print_checked`` prints, in lines of at most ``width`` characters."""
    areas = _by_area(checked.values)
    deciding = [verdict_of_area(own) for own in areas]
    first = wrapped(_sentence(deciding), width, "")
    for line in first:
        line.stylize("bold")
    shown = [value for own in areas for value in own] if has_all else deciding
    labels = _labels(checked.report)
    lines = [Line(f"{label_of_area(value.area):<5}{_label(value, labels)}", _cells(value)) for value in shown]
    end = [
        f"machine: {checked.found.machine.words}",
        f"expected: {_source(checked)}",
        f"values: nameplate show {checked.run}",
    ]
    table = [Text(), *lay_out(_HEADINGS, lines, width)] if lines else []
    dim = [line for words in end for line in wrapped(words, width, "  ")]
    for line in dim:
        line.stylize("dim")
    return [*first, *table, Text(), *dim]


def short_line(checked: Checked) -> str:
    """Return the verdict and the value that decides it in at most ``LONGEST_LINE`` ASCII characters.

    The characters are letters, digits, spaces and ``.:,%/()+-``, which need no quoting within quotes.
    """
    deciding = [verdict_of_area(own) for own in _by_area(checked.values)]
    verdict = min((value.verdict for value in deciding), key=ORDER.index, default="UNKNOWN")
    labels = _labels(checked.report)
    own = [value for value in deciding if value.verdict == verdict]
    if verdict in ("AS EXPECTED", "ABOVE"):
        words = ", ".join(words_of_area(value.area) for value in own)
    else:
        words = "".join(_short(value, labels) for value in own[:1])
        words += f", and {', '.join(words_of_area(value.area) for value in own[1:])}" if own[1:] else ""
    text = _UNSAFE.sub(" ", f"nameplate: {verdict}: {words}".replace("µ", "u").replace("–", "-"))
    return text[:LONGEST_LINE].rstrip(" ,:")


def _short(value: JudgedValue, labels: dict[tuple[str, str, str], str]) -> str:
    unit = _unit(value)
    measured = brief([value.value * unit.per_base_unit], unit.name)
    expected = f", expected {_range(value.expected, unit)}" if value.expected else ""
    return f"{words_of_area(value.area)} {_label(value, labels)} {measured}{expected}"


def _by_area(values: Sequence[JudgedValue]) -> list[list[JudgedValue]]:
    ordered = sorted(values, key=lambda value: order_of_area(value.area))
    return [list(own) for _, own in groupby(ordered, key=lambda value: value.area)]


def _sentence(deciding: Sequence[JudgedValue]) -> str:
    below = [value for value in deciding if value.verdict == "BELOW"]
    if below:
        return f"BELOW: {_listed(below)} {'delivers' if len(below) == 1 else 'deliver'} less than expected."
    judged = [value for value in deciding if value.verdict != "UNKNOWN"]
    if not judged:
        return "UNKNOWN: nothing that was measured has an expected range."
    sure = [value for value in judged if value.verdict != "UNSURE"]
    rest = [value for value in deciding if value not in sure]
    if not sure:
        return f"UNSURE: {_listed(rest)} {_be(rest)} not decided; a longer run gives narrower intervals."
    undecided = f" {_listed(rest)} {_be(rest)} not decided." if rest else ""
    better = " OR BETTER" if any(value.verdict == "ABOVE" for value in sure) else ""
    return f"AS EXPECTED{better}: {_listed(sure)}.{undecided[:2].upper()}{undecided[2:]}"


def _be(values: Sequence[JudgedValue]) -> str:
    return "is" if len(values) == 1 else "are"


def _listed(values: Sequence[JudgedValue]) -> str:
    words = [words_of_area(value.area) for value in values]
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else words[0]


def _labels(report: Report) -> dict[tuple[str, str, str], str]:
    return {(row.probe, parameters(row.params), row.metrics[0]): row.label for row in first_screen(report).rows}


def _label(value: JudgedValue, labels: dict[tuple[str, str, str], str]) -> str:
    own = parameters(value.params)
    return labels.get((value.probe, own, value.metric)) or f"{value.probe} {value.metric} {own}".strip()


def _cells(value: JudgedValue) -> tuple[Text, ...]:
    unit = _unit(value)
    return (
        Text(value.verdict, style=_STYLES[value.verdict]),
        Text(brief([value.value * unit.per_base_unit], unit.name)),
        Text(half_width(value.value, value.ci)),
        Text(_range(value.expected, unit) if value.expected else "–"),
    )


def _unit(value: JudgedValue) -> DisplayUnit:
    """Return the unit that the first screen has for a metric."""
    lines = probe_of(value.probe).screen
    units = [line.unit for line in lines if line.metrics[0] == value.metric and line.unit]
    return units[0] if units else DisplayUnit(value.unit)


def _range(expected: ExpectedRange, shown: DisplayUnit) -> str:
    low, high = expected.low * shown.per_base_unit, expected.high * shown.per_base_unit
    factor, unit = scale(high, shown.name)
    return f"{brief([low / factor], '')} to {brief([high / factor], '')} {unit}"


def _source(checked: Checked) -> str:
    own = checked.found
    provisional = f"; provisional, with fewer than {MIN_MACHINES} machines" if own.provisional else ""
    return (
        f"{checked.expected_from}, {count(own.machines, 'machine')} with {count(own.runs, 'run')}, learned "
        f"{checked.learned.isoformat()}{provisional}"
    )
