"""Print whether a machine delivers what it should."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.text import Text

from nameplate.expectations.judging import ORDER, Verdict
from nameplate.probes.shared.areas import words_of_area
from nameplate.records.result import Report
from nameplate.report.content.judgement import (
    JudgedRow,
    MachineJudgement,
    judged_rows,
    label_of_value,
    labels_of,
    measured_text,
    range_text,
    values_by_area,
    verdict_sentence,
)
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console

_STYLES: dict[Verdict, str] = {
    "BELOW": "bold red", "NOT MEASURED": "bold red", "UNSURE": "yellow", "AS EXPECTED": "green", "ABOVE": "green",
    "UNKNOWN": "dim",
}  # fmt: skip
# As much as Slurm shows of the reason of a drained node, and other tools of a message.
LONGEST_LINE = 100
_UNSAFE = re.compile(r"[^A-Za-z0-9 .:,%/()+-]")
_HEADINGS = ("verdict", "measured", "±95%", "expected")


@dataclass(frozen=True)
class Checked:
    """A run, whose path is ``run``, and the judgement on its machine."""

    report: Report
    judgement: MachineJudgement
    run: str


def print_checked(checked: Checked, has_all: bool) -> None:
    """Print a sentence that says it, then a line for each area, or with ``has_all`` for each value."""
    console = make_console()
    for line in check_lines(checked, console.width, has_all):
        console.print(line)


def check_lines(checked: Checked, width: int, has_all: bool) -> list[Text]:
    """Return what ``print_checked`` prints, in lines of at most ``width`` characters."""
    values, expectation = checked.judgement.values, checked.judgement.expectation
    first = wrapped(verdict_sentence(values), width, "")
    for line in first:
        line.stylize("bold")
    lines = [Line(f"{row.area:<5}{row.label}", _cells(row)) for row in judged_rows(checked.report, values, has_all)]
    end = [
        f"machine: {expectation.machine}",
        *(f"expected: {source}" for source in expectation.sources),
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
    deciding = [own[0] for own in values_by_area(checked.judgement.values)]
    verdict = min((value.verdict for value in deciding), key=ORDER.index, default="UNKNOWN")
    own = [value for value in deciding if value.verdict == verdict]
    if verdict in ("AS EXPECTED", "ABOVE"):
        words = ", ".join(words_of_area(value.area) for value in own)
    else:
        labels = labels_of(checked.report)
        words = "".join(
            f"{words_of_area(value.area)} {label_of_value(value, labels)} {measured_text(value)}"
            + (f", expected {range_text(value)}" if value.expected else "")
            for value in own[:1]
        )
        words += f", and {', '.join(words_of_area(value.area) for value in own[1:])}" if own[1:] else ""
    text = _UNSAFE.sub(" ", f"nameplate: {verdict}: {words}".replace("µ", "u").replace("–", "-"))
    return text[:LONGEST_LINE].rstrip(" ,:")


def _cells(row: JudgedRow) -> tuple[Text, ...]:
    return (
        Text(row.verdict, style=_STYLES[row.verdict]),
        Text(row.measured),
        Text(row.half_width),
        Text(row.expected),
    )
