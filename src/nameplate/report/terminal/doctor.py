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
    """Print to standard output how fit a machine is to measure on: its grade, the findings, and the optional parts.

    ``grade`` is the worst grade of ``findings``, from A (fit) to F; the first line names the findings that have it.
    Findings are printed worst first, each with its cost for the measurements and its remedy. ``parts`` are optional
    parts of nameplate and the system; the name of a part that is present is green.
    """
    console = make_console()
    causes = [finding.aspect for finding in findings if finding.grade == grade]
    because = f", because of: {', '.join(causes)}" if grade != "A" else ""
    console.print(Text(f"{grade}: {_MEANING[grade]}{because}", style=f"bold {_STYLES[grade]}"))
    console.print()
    ordered = sorted(findings, key=lambda finding: rank(finding.grade), reverse=True)
    for line in [*lay_out_entries([_of_finding(finding) for finding in ordered], console.width), Text()]:
        console.print(line)
    entries = [Described(part.name, (part.state, part.advice), "green" if part.is_there else "dim") for part in parts]
    for line in lay_out_entries(entries, console.width):
        console.print(line)


def print_comparability(conditions: Sequence[Condition], run: str) -> None:
    """Print to standard output whether this machine is comparable with the machine of a run, and each condition.

    The machines are comparable if every one of ``conditions`` is met. ``run`` is the path of the run file.
    """
    console = make_console()
    unmet = [condition.subject for condition in conditions if not condition.is_met]
    sentence = f"not comparable with {run}, because of: {', '.join(unmet)}" if unmet else f"comparable with {run}"
    console.print()
    console.print(Text(sentence, style=f"bold {'red' if unmet else 'green'}"))
    console.print()
    entries = [
        Described(condition.subject, (condition.state,), "green" if condition.is_met else "red")
        for condition in conditions
    ]
    for line in lay_out_entries(entries, console.width):
        console.print(line)


def _of_finding(finding: Finding) -> Described:
    cost = f"cost: {finding.cost}" if finding.cost else ""
    remedy = f"remedy: {finding.advice}" if finding.advice else ""
    return Described(f"{finding.grade}  {finding.aspect}", (finding.state, cost, remedy), _STYLES[finding.grade])
