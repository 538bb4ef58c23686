"""Print whether a machine delivers what it should."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import MAX_VALUE, ExpectedRange
from nameplate.expectations.judging import MAX_LOSS, ORDER, JudgedValue, Verdict, areas_of
from nameplate.probes import probe_of
from nameplate.probes.shared.screen_line import DisplayUnit
from nameplate.records.plan_record import Value
from nameplate.records.result import Report
from nameplate.report.areas import label_of_area, order_of_area, words_of_area
from nameplate.report.brief import brief, half_width
from nameplate.report.first_screen import first_screen
from nameplate.report.format import count, parameters, scale
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console

_STYLES: dict[Verdict, str] = {
    "BELOW": "bold red", "NOT MEASURED": "bold red", "UNSURE": "yellow", "AS EXPECTED": "green", "ABOVE": "green",
    "UNKNOWN": "dim",
}  # fmt: skip
# As much as Slurm shows of the reason of a drained node, and other tools of a message.
LONGEST_LINE = 100
_UNSAFE = re.compile(r"[^A-Za-z0-9 .:,%/()+-]")
# How a sample is made, which no reader needs here.
_UNSAID = ("unit",)
_HEADINGS = ("verdict", "measured", "±95%", "expected")


@dataclass(frozen=True)
class Checked:
    """The values of a run with their verdicts, and what they were compared with.

    ``run`` is the path of the run.
    """

    report: Report
    values: list[JudgedValue]
    expectation: Expectation
    run: str


def print_checked(checked: Checked, has_all: bool) -> None:
    """Print a sentence that says it, then a line for each area, or with ``has_all`` for each value."""
    console = make_console()
    for line in check_lines(checked, console.width, has_all):
        console.print(line)


def check_lines(checked: Checked, width: int, has_all: bool) -> list[Text]:
    """Return what ``print_checked`` prints, in lines of at most ``width`` characters."""
    areas = _by_area(checked.values)
    deciding = [own[0] for own in areas]
    first = wrapped(_sentence(deciding), width, "")
    for line in first:
        line.stylize("bold")
    shown = [value for own in areas for value in own] if has_all else deciding
    labels = _labels(checked.report)
    lines = [Line(f"{label_of_area(value.area):<5}{_label(value, labels)}", _cells(value)) for value in shown]
    end = [
        f"machine: {checked.expectation.machine}",
        *(f"expected: {source}" for source in checked.expectation.sources),
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
    deciding = [own[0] for own in _by_area(checked.values)]
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


def _short(value: JudgedValue, labels: Mapping[tuple[str, str], str]) -> str:
    unit = _unit(value)
    measured = _measured(value, unit)
    expected = f", expected {_range(value.expected, unit)}" if value.expected else ""
    return f"{words_of_area(value.area)} {_label(value, labels)} {measured}{expected}"


def _by_area(values: Sequence[JudgedValue]) -> list[list[JudgedValue]]:
    areas = areas_of(values)
    return [areas[area] for area in sorted(areas, key=order_of_area)]


def _sentence(deciding: Sequence[JudgedValue]) -> str:
    of = {verdict: [value for value in deciding if value.verdict == verdict] for verdict in ORDER}
    expected = [*of["AS EXPECTED"], *of["ABOVE"]]
    first = next((verdict for verdict in ORDER if of[verdict]), "UNKNOWN")
    if first == "ABOVE":
        first = "AS EXPECTED"
    sentences = {
        "BELOW": f"{_listed(of['BELOW'])} {_verb(of['BELOW'], 'deliver')} less than expected.",
        "NOT MEASURED": f"{_listed(of['NOT MEASURED'])} could not be measured.",
        "UNSURE": f"{_listed(of['UNSURE'])} {_be(of['UNSURE'])} undecided: {_why_unsure(of['UNSURE'])}.",
        "AS EXPECTED": f"{_listed(expected)} {_verb(expected, 'deliver')} what was expected{_or_more(of['ABOVE'])}.",
        "UNKNOWN": f"{_listed(of['UNKNOWN'])} {_have(of['UNKNOWN'])} no expected range.",
    }
    own = {**of, "AS EXPECTED": expected, "ABOVE": []}
    said = [sentences[verdict] for verdict in ORDER if own[verdict]] or ["nothing was measured that can be judged."]
    return f"{first}: {' '.join([said[0], *(text[:1].upper() + text[1:] for text in said[1:])])}"


def _why_unsure(values: Sequence[JudgedValue]) -> str:
    """Return what would decide: narrower intervals, unless the values are much worse than what is typical."""
    if any(value.expected and value.ci and not _reaches_out(value.ci, value.expected) for value in values):
        return f"within the expected range, but perhaps {MAX_LOSS:.0%} worse than is typical".replace("%", " %")
    return "a longer run gives narrower intervals"


def _reaches_out(ci: tuple[float, float], expected: ExpectedRange) -> bool:
    return ci[0] < expected.low or ci[1] > expected.high


def _verb(values: Sequence[JudgedValue], word: str) -> str:
    return f"{word}s" if len(values) == 1 else word


def _or_more(above: Sequence[JudgedValue]) -> str:
    return " or more" if above else ""


def _be(values: Sequence[JudgedValue]) -> str:
    return "is" if len(values) == 1 else "are"


def _have(values: Sequence[JudgedValue]) -> str:
    return "has" if len(values) == 1 else "have"


def _listed(values: Sequence[JudgedValue]) -> str:
    words = [words_of_area(value.area) for value in values]
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)


def _labels(report: Report) -> dict[tuple[str, str], str]:
    """Return the labels of the values by experiment and metric, those of the first screen where it has them."""
    shown = {(row.probe, parameters(row.params), row.metrics[0]): row.label for row in first_screen(report).rows}
    given = {experiment.id: experiment.params for experiment in report.run.plan.experiments}
    labels = {}
    for result in report.results:
        row = result.summary
        on_screen = shown.get((row.probe, parameters(row.params), row.metric))
        labels[result.id, row.metric] = on_screen or _words(given.get(result.id, {}), row.metric)
    return labels


def _words(params: Mapping[str, Value], metric: str) -> str:
    """Return the given parameters of an experiment in a few words, such as ``read, 2 threads``."""
    words = [
        count(value, "thread") if name == "threads" and isinstance(value, int) else
        str(value) if isinstance(value, str) else parameters({name: value}).removeprefix("size=")
        for name, value in params.items() if name not in _UNSAID
    ]  # fmt: skip
    has_text = any(isinstance(value, str) for name, value in params.items() if name not in _UNSAID)
    return ", ".join(words if has_text else [metric, *words])


def _label(value: JudgedValue, labels: Mapping[tuple[str, str], str]) -> str:
    known = labels.get((value.experiment, value.metric))
    return known or f"{value.metric} {value.experiment}"


def _cells(value: JudgedValue) -> tuple[Text, ...]:
    unit = _unit(value)
    return (
        Text(value.verdict, style=_STYLES[value.verdict]),
        Text(_measured(value, unit)),
        Text(half_width(value.value, value.ci)),
        Text(_range(value.expected, unit) if value.expected else "–"),
    )


def _measured(value: JudgedValue, shown: DisplayUnit) -> str:
    return brief([None if value.value is None else value.value * shown.per_base_unit], shown.name)


def _unit(value: JudgedValue) -> DisplayUnit:
    """Return the unit that the first screen has for a metric."""
    lines = probe_of(value.probe).screen
    units = [line.unit for line in lines if line.metrics[0] == value.metric and line.unit]
    return units[0] if units else DisplayUnit(value.unit)


def _range(expected: ExpectedRange, shown: DisplayUnit) -> str:
    if expected.high == MAX_VALUE:
        return f"at least {brief([expected.low * shown.per_base_unit], shown.name)}"
    low, high = expected.low * shown.per_base_unit, expected.high * shown.per_base_unit
    factor, unit = scale(high, shown.name)
    return f"{brief([low / factor], '')} to {brief([high / factor], '')} {unit}"
