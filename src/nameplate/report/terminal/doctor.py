"""Print whether a machine is fit to measure on, and which optional parts are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from nameplate.report.content.comparability import Condition
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.entries import Described, lay_out_entries
from nameplate.results.fitness import Finding, Grade, Part, rank

_STYLES: dict[Grade, str] = {"A": "green", "B": "", "C": "yellow", "?": "yellow", "D": "red", "F": "bold red"}
_MEANING: dict[Grade, str] = {
    "A": "this machine is fit to measure on",
    "B": "values may vary by one or two percent from run to run",
    "C": "values may vary by several percent from run to run",
    "?": "how much values vary is not known",
    "D": "values may vary by ten percent or more from run to run",
    "F": "values mean little in this state",
}


def print_fitness(grade: Grade, findings: Sequence[Finding], parts: Iterable[Part]) -> None:
    """Print the grade with what lowers it, then each finding with its cost and remedy, the worst first, and the parts.

    ``grade`` is that of the worst of ``findings``. The name of a part that is present is green.
    """
    console = make_console()
    console.print(Text(_verdict(grade, findings), style=f"bold {_STYLES[grade]}"))
    console.print()
    ordered = sorted(findings, key=lambda finding: rank(finding.grade), reverse=True)
    for line in [*lay_out_entries([_of_finding(finding) for finding in ordered], console.width), Text()]:
        console.print(line)
    for line in lay_out_entries([_of_part(part) for part in parts], console.width):
        console.print(line)


def print_comparability(conditions: Sequence[Condition], run: str) -> None:
    """Print whether this machine is comparable with the machine of a run, whose path is ``run``, and each condition."""
    console = make_console()
    unmet = [condition.what for condition in conditions if not condition.is_met]
    words = f"not comparable with {run}, because of: {', '.join(unmet)}" if unmet else f"comparable with {run}"
    console.print()
    console.print(Text(words, style=f"bold {'red' if unmet else 'green'}"))
    console.print()
    entries = [Described(each.what, (each.state,), "green" if each.is_met else "red") for each in conditions]
    for line in lay_out_entries(entries, console.width):
        console.print(line)


def _verdict(grade: Grade, findings: Sequence[Finding]) -> str:
    causes = [finding.what for finding in findings if finding.grade == grade]
    because = f", because of: {', '.join(causes)}" if grade != "A" else ""
    return f"{grade}: {_MEANING[grade]}{because}"


def _of_finding(finding: Finding) -> Described:
    cost = f"cost: {finding.cost}" if finding.cost else ""
    remedy = f"remedy: {finding.advice}" if finding.advice else ""
    return Described(f"{finding.grade}  {finding.what}", (finding.state, cost, remedy), _STYLES[finding.grade])


def _of_part(part: Part) -> Described:
    return Described(part.what, (part.state, part.advice), "green" if part.is_there else "dim")
