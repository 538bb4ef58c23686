"""Say in words whether a machine delivers what it should, the same in the terminal and in the HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import MAX_VALUE, ExpectedRange
from nameplate.expectations.judging import MAX_LOSS, ORDER, JudgedValue, Verdict, areas_of
from nameplate.probes import probe_of
from nameplate.probes.shared.areas import label_of_area, order_of_area, words_of_area
from nameplate.probes.shared.screen_line import DisplayUnit
from nameplate.records.plan_record import Value
from nameplate.records.result import Report
from nameplate.report.content.brief import brief, half_width
from nameplate.report.content.experiments import title_of
from nameplate.report.content.first_screen import first_screen
from nameplate.report.content.format import count, parameters, scale

# How a sample is made, which no reader needs here.
_UNSAID = ("unit",)


@dataclass(frozen=True)
class MachineJudgement:
    """The values of a machine with their verdicts, and what they were compared with.

    ``why_not`` says why the run says nothing about its machine, such as "it did not reach its end"; there are no values
    then. It is "" otherwise.
    """

    values: list[JudgedValue]
    expectation: Expectation
    why_not: str = ""


@dataclass(frozen=True)
class JudgedRow:
    """A judged value as text; ``half_width`` is that of its 95 % interval, and "–" is unknown."""

    area: str
    label: str
    verdict: Verdict
    measured: str
    half_width: str
    expected: str


def judged_rows(report: Report, values: Sequence[JudgedValue], has_all: bool) -> list[JudgedRow]:
    """Return a row for each area, of the value that decides on it, or with ``has_all`` for each value."""
    labels = labels_of(report)
    return [
        JudgedRow(label_of_area(value.area), label_of_value(value, labels), value.verdict, measured_text(value),
                  half_width(value.value, value.ci), range_text(value) or "–")
        for own in values_by_area(values) for value in (own if has_all else own[:1])
    ]  # fmt: skip


def values_by_area(values: Sequence[JudgedValue]) -> list[list[JudgedValue]]:
    """Return the values of each area, the deciding one first; areas are in the order of the first screen."""
    areas = areas_of(values)
    return [areas[area] for area in sorted(areas, key=order_of_area)]


def verdict_sentence(values: Sequence[JudgedValue]) -> str:
    """Return the verdict on the machine and what it rests on, such as ``BELOW: memory delivers less than expected.``"""
    deciding = [own[0] for own in values_by_area(values)]
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


def labels_of(report: Report) -> dict[tuple[str, str], str]:
    """Return the labels of the values by experiment and metric, those of the first screen where it has them."""
    shown = {(row.probe, parameters(row.params), row.metrics[0]): row.label for row in first_screen(report).rows}
    given = {experiment.id: experiment.params for experiment in report.run.plan.experiments}
    labels = {}
    for result in report.results:
        row = result.summary
        on_screen = shown.get((row.probe, parameters(row.params), row.metric))
        # The title of a probe, which is all that the screen says of a single experiment, repeats its area.
        is_title = on_screen == title_of(row.probe)
        own = _words(given.get(result.id, {}), row.metric)
        labels[result.id, row.metric] = own if is_title else on_screen or own
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


def label_of_value(value: JudgedValue, labels: Mapping[tuple[str, str], str]) -> str:
    """Return the label of a value, by ``labels_of`` its report."""
    known = labels.get((value.experiment, value.metric))
    return known or f"{value.metric} {value.experiment}"


def measured_text(value: JudgedValue) -> str:
    """Return a measured value with its unit, such as ``40.2 GB/s``; "–" without one."""
    shown = _unit(value)
    return brief([None if value.value is None else value.value * shown.per_base_unit], shown.name)


def range_text(value: JudgedValue) -> str:
    """Return the expected range of a value with its unit, such as ``38 to 44 GB/s``; "" without one."""
    return _range(value.expected, _unit(value)) if value.expected else ""


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
