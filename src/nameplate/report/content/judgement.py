"""Describe whether a machine delivers the expected values, in the same sentences for the terminal and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import MAX_VALUE
from nameplate.expectations.judging import ORDER, JudgedValue, Verdict, areas_of
from nameplate.probes import probe_of
from nameplate.probes.interface.screen_line import DisplayUnit
from nameplate.probes.shared.areas import label_of_area, order_of_area, text_of_area
from nameplate.records.result import Report
from nameplate.report.content.brief import brief, half_width
from nameplate.report.content.experiments import work_text
from nameplate.report.content.first_screen import first_screen
from nameplate.report.content.format import list_text, parameters, scale

# A range with a larger factor between its ends says little about the machine.
_WIDE = 3


@dataclass(frozen=True)
class MachineJudgement:
    """The judged values of a machine with their verdicts, and the expectation with which they were compared.

    If the machine cannot be judged from the run, ``why_not`` is the reason, such as "it is incomplete", and ``values``
    is empty. Otherwise ``why_not`` is "".
    """

    values: list[JudgedValue]
    expectation: Expectation
    why_not: str = ""


@dataclass(frozen=True)
class JudgedRow:
    """A judged value as text.

    ``area`` and ``label`` name the value as on the first screen. ``measured`` and ``expected`` have units, such as
    "40.2 GB/s" and "38 to 44 GB/s". ``half_width`` is half of the 95 % interval in percent of the value, such as
    "0.9%". An unknown text is "–".
    """

    area: str
    label: str
    verdict: Verdict
    measured: str
    half_width: str
    expected: str


def judged_rows(report: Report, values: Sequence[JudgedValue], has_all: bool) -> list[JudgedRow]:
    """Return a row for each area or, with ``has_all``, for each of ``values``.

    The row of an area has the value that decides the verdict on the area. ``report`` is the run of the values, from
    which the labels are taken. Areas are in the order of the first screen, and the values of an area in the order of
    their verdicts, the most severe one first. An area without values has no row.
    """
    labels = labels_of(report)
    return [
        JudgedRow(label_of_area(value.area), label_of_value(value, labels), value.verdict, measured_text(value),
                  half_width(value.value, value.ci), range_text(value) or "–")
        for values_of_area in values_by_area(values) for value in (values_of_area if has_all else values_of_area[:1])
    ]  # fmt: skip


def values_by_area(values: Sequence[JudgedValue]) -> list[list[JudgedValue]]:
    """Return a list of values for each area, in the order of the areas on the first screen.

    The first value of each list is the one that decides the verdict on the area.
    """
    areas = areas_of(values)
    return [areas[area] for area in sorted(areas, key=order_of_area)]


def verdict_sentence(judgement: MachineJudgement) -> str:
    """Return the verdict on the machine and a sentence on the areas with each verdict.

    An example is ``BELOW: memory delivers less than expected.`` The verdict on the machine is the first one of
    ``judging.ORDER`` that an area has; ABOVE becomes AS EXPECTED. It is UNKNOWN if there are no judged values.
    """
    deciding = [values_of_area[0] for values_of_area in values_by_area(judgement.values)]
    of = {verdict: [value for value in deciding if value.verdict == verdict] for verdict in ORDER}
    expected = [*of["AS EXPECTED"], *of["ABOVE"]]
    first = next((verdict for verdict in ORDER if of[verdict]), "UNKNOWN")
    if first == "ABOVE":
        first = "AS EXPECTED"
    or_more = " or more" if of["ABOVE"] else ""
    why_unsure = _why_unsure(of["UNSURE"], judgement.expectation)
    sentences = {
        "BELOW": f"{_areas(of['BELOW'])} {_verb(of['BELOW'], 'delivers', 'deliver')} less than expected.",
        "NOT MEASURED": f"{_areas(of['NOT MEASURED'])} could not be measured.",
        "UNSURE": f"{_areas(of['UNSURE'])} {_verb(of['UNSURE'], 'is', 'are')} undecided: {why_unsure}.",
        "AS EXPECTED": f"{_areas(expected)} {_verb(expected, 'delivers', 'deliver')} what was expected{or_more}.",
        "UNKNOWN": f"{_areas(of['UNKNOWN'])} {_verb(of['UNKNOWN'], 'has', 'have')} no expected range.",
    }
    values_of_area = {**of, "AS EXPECTED": expected, "ABOVE": []}
    said = [sentences[verdict] for verdict in ORDER if values_of_area[verdict]] or [
        "nothing was measured that can be judged."
    ]
    return f"{first}: {' '.join([said[0], *(text[:1].upper() + text[1:] for text in said[1:])])}"


def _why_unsure(values: Sequence[JudgedValue], expectation: Expectation) -> str:
    """Return why values are UNSURE: much worse than those of other machines, a wide range, or too wide intervals."""
    peers = {(expected.experiment, expected.metric): text
             for expected, text in zip(expectation.ranges, expectation.peers, strict=False)}  # fmt: skip
    reasons = []
    for value in values:
        expected, ci = value.expected, value.ci
        if expected is None or ci is None or value.value is None:
            continue
        is_worse = (value.value < expected.typical) == (value.better == "higher")
        if is_worse and expected.low <= ci[0] and ci[1] <= expected.high:
            text = peers.get((value.experiment, value.metric), "is typical")
            reasons.append(
                f"{value.metric} {abs(value.value / expected.typical - 1) * 100:.0f} % worse than {text}, "
                "but within what the slowest of them deliver"
            )
        if expected.high > _WIDE * expected.low:
            reasons.append(
                f"the range of {value.metric} is wider than a factor of {_WIDE}: give the instance type with --type, "
                "or learn from machines like this one"
            )
    return "; ".join(reasons) or "a longer run gives narrower intervals"


def _areas(values: Sequence[JudgedValue]) -> str:
    return list_text([text_of_area(value.area) for value in values])


def _verb(values: Sequence[JudgedValue], singular: str, plural: str) -> str:
    return singular if len(values) == 1 else plural


def labels_of(report: Report) -> dict[tuple[str, str], str]:
    """Return the label of each value of a report, by the id of its experiment and the name of its metric.

    A value on the first screen has the label of its line there. The label of any other value consists of the parameters
    of its experiment in the plan, such as ``read, 2 threads``, preceded by the metric if no parameter is text.
    """
    label_of_row = {(row.probe, parameters(row.params), row.metrics[0]): row.label for row in first_screen(report).rows}
    given = {experiment.id: experiment.params for experiment in report.run.plan.experiments}
    labels = {}
    for result in report.results:
        row = result.summary
        on_screen = label_of_row.get((row.probe, parameters(row.params), row.metric))
        labels[result.id, row.metric] = on_screen or work_text(given.get(result.id, {}), row.metric)
    return labels


def label_of_value(value: JudgedValue, labels: Mapping[tuple[str, str], str]) -> str:
    """Return the label of a value from ``labels``, the result of ``labels_of`` for its report.

    A value without a label there is named by its metric and its experiment.
    """
    known = labels.get((value.experiment, value.metric))
    return known or f"{value.metric} {value.experiment}"


def measured_text(value: JudgedValue) -> str:
    """Return the measured value with its unit, such as ``40.2 GB/s``, or "–" if there is none."""
    unit = _unit(value)
    return brief([None if value.value is None else value.value * unit.per_base_unit], unit.name)


def compared_text(value: JudgedValue) -> str:
    """Return the measured value and, if it is known, the expected range: ``40.2 GB/s, expected 38 to 44 GB/s``."""
    return measured_text(value) + (f", expected {range_text(value)}" if value.expected else "")


def range_text(value: JudgedValue) -> str:
    """Return the expected range of a value with its unit, or "" if no range is known.

    An example is ``38 to 44 GB/s``; a range without an upper bound is ``at least 38 GB/s``.
    """
    if value.expected is None:
        return ""
    unit = _unit(value)
    low, high = value.expected.low * unit.per_base_unit, value.expected.high * unit.per_base_unit
    if value.expected.high == MAX_VALUE:
        return f"at least {brief([low], unit.name)}"
    factor, prefixed = scale(high, unit.name)
    return f"{brief([low / factor], '')} to {brief([high / factor], '')} {prefixed}"


def _unit(value: JudgedValue) -> DisplayUnit:
    """Return the unit in which the first screen shows the metric, or its SI base unit if it is not shown there."""
    lines = probe_of(value.probe).screen
    units = [line.unit for line in lines if line.metrics[0] == value.metric and line.unit]
    return units[0] if units else DisplayUnit(value.unit)
