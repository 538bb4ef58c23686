"""Print whether a machine delivers the values expected of such a machine."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.text import Text

from nameplate.expectations.judging import ORDER, Verdict
from nameplate.probes.shared.areas import text_of_area
from nameplate.records.result import Report
from nameplate.report.content.judgement import (
    MachineJudgement,
    compared_text,
    judged_rows,
    label_of_value,
    labels_of,
    values_by_area,
    verdict_sentence,
)
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console

VERDICT_STYLES: dict[Verdict, str] = {
    "BELOW": "bold red", "NOT MEASURED": "bold red", "UNSURE": "yellow", "AS EXPECTED": "green", "ABOVE": "green",
    "UNKNOWN": "dim",
}  # fmt: skip
# In characters. Slurm shows no more of the reason for draining a node; other tools limit messages similarly.
LONGEST_LINE = 100
_UNSAFE = re.compile(r"[^A-Za-z0-9 .:,%/()+-]")
_HEADINGS = ("verdict", "measured", "±95%", "expected")


@dataclass(frozen=True)
class Checked:
    """A run and the judgement on its machine; ``run`` is the path of the run file, for messages."""

    report: Report
    judgement: MachineJudgement
    run: str


def print_checked(checked: Checked, has_all: bool) -> None:
    """Print the verdict on a machine to standard output: a sentence, a table and where its values come from.

    The table has a line for each area, with the value that decides the verdict on the area, or with ``has_all`` a line
    for each judged value; it is left out if there are no judged values. Below the table are the machine, the sources of
    the expected ranges, and the command that shows all values of the run.
    """
    console = make_console()
    for line in check_lines(checked, console.width, has_all):
        console.print(line)


def check_lines(checked: Checked, width: int, has_all: bool) -> list[Text]:
    """Return the lines that ``print_checked`` prints, of at most ``width`` characters unless one word is longer."""
    values, expectation = checked.judgement.values, checked.judgement.expectation
    first = wrapped(verdict_sentence(checked.judgement), width, "")
    for line in first:
        line.stylize("bold")
    lines = []
    for row in judged_rows(checked.report, values, has_all):
        verdict = Text(row.verdict, style=VERDICT_STYLES[row.verdict])
        cells = (verdict, *map(Text, (row.measured, row.half_width, row.expected)))
        lines.append(Line(f"{row.area:<5}{row.label}", cells))
    end = [
        f"machine: {expectation.machine}",
        *(f"expected: {source}" for source in expectation.sources),
        f"values: nameplate show {checked.run}",
    ]
    table = [Text(), *lay_out(_HEADINGS, lines, width)] if lines else []
    dim = [line for sentence in end for line in wrapped(sentence, width, "  ")]
    for line in dim:
        line.stylize("dim")
    return [*first, *table, Text(), *dim]


def short_line(checked: Checked) -> str:
    """Return the verdict and the value that decides it, as one line of at most 100 ASCII characters.

    The line starts with ``nameplate: VERDICT:``. If the verdict is AS EXPECTED or ABOVE, the areas follow; otherwise
    the value that decides on the first area with this verdict, its expected range, and the other areas with it. The
    characters are letters, digits, spaces and ``.:,%/()+-``, which a shell does not interpret within quotes. A longer
    line is cut off at the end.
    """
    deciding = [values_of_area[0] for values_of_area in values_by_area(checked.judgement.values)]
    verdict = min((value.verdict for value in deciding), key=ORDER.index, default="UNKNOWN")
    values = [value for value in deciding if value.verdict == verdict]
    areas = [text_of_area(value.area) for value in values]
    sentence = ", ".join(areas)
    if values and verdict not in ("AS EXPECTED", "ABOVE"):
        label = label_of_value(values[0], labels_of(checked.report))
        further = f", and {', '.join(areas[1:])}" if areas[1:] else ""
        sentence = f"{areas[0]} {label} {compared_text(values[0])}{further}"
    text = _UNSAFE.sub(" ", f"nameplate: {verdict}: {sentence}".replace("µ", "u").replace("–", "-"))
    return text[:LONGEST_LINE].rstrip(" ,:")
