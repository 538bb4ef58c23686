"""Print which machines of a fleet deliver less than expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from nameplate.expectations.judging import ORDER, JudgedValue
from nameplate.fleet.host_judgement import HostJudgement
from nameplate.hostlist import compress
from nameplate.records.fleet_record import LeftOut
from nameplate.report.content.brief import half_width
from nameplate.report.content.format import count
from nameplate.report.content.judgement import measured_text, range_text
from nameplate.report.content.screen_row import label_and_unit
from nameplate.report.terminal.check import VERDICT_STYLES
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.nodes import lines_by_reason

_MAX_ROWS = 15
_HEADINGS = ("verdict", "measured", "±95%", "expected")
# The verdicts that an administrator must act on.
_SEVERE = ("BELOW", "NOT MEASURED")


def print_fleet_check(judgements: Sequence[HostJudgement], left_out: Sequence[LeftOut], has_all: bool) -> None:
    """Print the verdict on a fleet: a sentence, the number of machines with each verdict, and a table.

    The table has a line for each area of a machine that is BELOW or NOT MEASURED, with the value that decides it; with
    ``has_all`` it has all values of all machines, otherwise at most 15 lines. Machines that cannot be judged, and files
    that do not count, follow with their reasons.
    """
    console = make_console()
    for part in wrapped(fleet_sentence(judgements), console.width, ""):
        part.stylize("bold")
        console.print(part)
    longest = max(cell_len(judgement.machine) for judgement in judgements)
    rows = [_row(machine.ljust(longest), value) for machine, value in _values(judgements, has_all)]
    visible = rows if has_all else rows[:_MAX_ROWS]
    if visible:
        console.print()
        for line in lay_out(_HEADINGS, visible, console.width, "machine"):
            console.print(line)
        if len(visible) < len(rows):
            console.print(
                Text(f"  and {count(len(rows) - len(visible), 'further row')}; --all shows them", style="dim")
            )
    not_judged = [(judgement.machine, judgement.why_not) for judgement in judgements if judgement.verdict is None]
    for heading, items in (("not judged", not_judged), ("left out", [(item.name, item.reason) for item in left_out])):
        for text in lines_by_reason(heading, items):
            for part in wrapped(f"! {text}", console.width, "  "):
                part.stylize("yellow")
                console.print(part)


def fleet_sentence(judgements: Sequence[HostJudgement]) -> str:
    """Return the most severe verdict on a fleet with the machines that have it, and the number with each other verdict.

    An example is ``BELOW: web7 (1 of 24 machines). AS EXPECTED: 23.``
    """
    by_verdict = {
        verdict: [judgement.machine for judgement in judgements if judgement.verdict == verdict] for verdict in ORDER
    }
    present = [verdict for verdict in ORDER if by_verdict[verdict]]
    if not present:
        return f"NOT JUDGED: none of {count(len(judgements), 'machine')} can be judged."
    first, *rest = present
    number = f"{len(by_verdict[first])} of {count(len(judgements), 'machine')}"
    sentences = [f"{first}: {compress(by_verdict[first])} ({number})." if first in _SEVERE else f"{first}: {number}."]
    sentences += [f"{verdict}: {len(by_verdict[verdict])}." for verdict in rest]
    n_not_judged = sum(judgement.verdict is None for judgement in judgements)
    return " ".join([*sentences, *([f"Not judged: {n_not_judged}."] if n_not_judged else [])])


def _values(judgements: Iterable[HostJudgement], has_all: bool) -> Iterator[tuple[str, JudgedValue]]:
    for judgement in judgements:
        areas: set[str] = set()
        for value in judgement.values:
            if has_all or (value.verdict in _SEVERE and value.area not in areas):
                yield judgement.machine, value
            areas.add(value.area)


def _row(machine: str, value: JudgedValue) -> Line:
    label, _ = label_and_unit(value.probe, value.metric, value.params)
    cells = (
        Text(value.verdict, style=VERDICT_STYLES[value.verdict]),
        *map(Text, (measured_text(value), half_width(value.value, value.ci), range_text(value) or "–")),
    )
    return Line(f"{machine}  {label or f'{value.experiment} {value.metric}'}", cells)
