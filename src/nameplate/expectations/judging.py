"""Judge the values of a run by their expected ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judged_results import is_judged, judged_results, known_value
from nameplate.probes import probe_of
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result

Verdict: TypeAlias = Literal["BELOW", "NOT MEASURED", "UNSURE", "AS EXPECTED", "ABOVE", "UNKNOWN"]
# The verdict of an area is the first of these that one of its values has.
ORDER: tuple[Verdict, ...] = ("BELOW", "NOT MEASURED", "UNSURE", "AS EXPECTED", "ABOVE", "UNKNOWN")
# A wide range does not confirm a value that is worse than the typical one by more than this share.
MAX_LOSS = 0.2


class JudgedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value of a run, its expected range and its verdict; values are in the SI base unit ``unit``.

    ``area`` is the area of the probe, such as "memory", and ``experiment`` the id of the experiment in the run.
    ``value`` is the capability or the typical value, as ``expected.kind`` says, with its 95 % interval ``ci``. With too
    few rounds or samples for an interval, ``ci`` is None and ``value`` the typical value. If ``expected`` is None, no
    range is known: the verdict is UNKNOWN, ``value`` the typical value and ``ci`` None. ``value`` and ``better`` are
    None if the run did not measure the value.
    """

    area: str
    experiment: str
    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    better: Literal["higher", "lower"] | None
    value: float | None
    ci: tuple[float, float] | None
    expected: ExpectedRange | None
    verdict: Verdict


def judge(report: Report, ranges: Sequence[ExpectedRange]) -> list[JudgedValue]:
    """Return every value of a run by which its machine is judged, with its verdict.

    ``report`` is the run, and ``ranges`` has the expected ranges of its machine. The verdicts follow from the 95 %
    interval of a value and its expected range. BELOW means that the whole interval is on the worse side of the range,
    ABOVE that it is on the better side. UNSURE means that part of the interval is beyond the worse end of the range or
    more than ``MAX_LOSS`` (20 %) worse than the typical value, or that there is no interval. AS EXPECTED is the rest.
    NOT MEASURED means that the run planned the experiment but has no value in the unit of the range. A range of an
    experiment that the run did not plan is ignored. UNKNOWN is the verdict on the values of ``judged_results`` in areas
    without any other verdict. The result is in the order of ``ranges``; the UNKNOWN values follow.
    """
    results = {(result.id, result.summary.metric): result for result in report.results if is_judged(result)}
    planned = {experiment.id: experiment.probe for experiment in report.run.plan.experiments}
    judged = []
    for expected in ranges:
        result = results.get((expected.experiment, expected.metric))
        if result is not None and result.summary.unit == expected.unit and result.summary.value is not None:
            judged.append(_judged(result, expected))
        elif expected.experiment in planned:
            judged.append(_missing(expected, planned[expected.experiment]))
    known = {value.area for value in judged}
    unknown = [result for result in judged_results(report) if probe_of(result.summary.probe).area not in known]
    return [*judged, *(_judged(result, None) for result in unknown)]


def areas_of(values: Sequence[JudgedValue]) -> dict[str, list[JudgedValue]]:
    """Return the values by area; the first value of each area has the most severe verdict (``ORDER``)."""
    areas: dict[str, list[JudgedValue]] = {}
    for value in values:
        areas.setdefault(value.area, []).append(value)
    return {
        area: sorted(values_of_area, key=lambda value: ORDER.index(value.verdict))
        for area, values_of_area in areas.items()
    }


def _judged(result: Result, expected: ExpectedRange | None) -> JudgedValue:
    row = result.summary
    known = known_value(result, expected.kind) if expected else None
    return JudgedValue(
        area=probe_of(row.probe).area,
        experiment=result.id,
        probe=row.probe,
        params=row.params,
        metric=row.metric,
        unit=row.unit,
        better=result.better,
        value=known[0] if known else row.value,
        ci=known[1] if known else None,
        expected=expected,
        verdict=_verdict(known[1] if known else None, expected, result.better) if expected else "UNKNOWN",
    )


def _missing(expected: ExpectedRange, probe: str) -> JudgedValue:
    params: Mapping[str, Value] = dict(word.split("=", 1) for word in expected.experiment.split() if "=" in word)
    return JudgedValue(
        area=probe_of(probe).area, experiment=expected.experiment, probe=probe, params=dict(params),
        metric=expected.metric, unit=expected.unit, better=None, value=None, ci=None, expected=expected,
        verdict="NOT MEASURED",
    )  # fmt: skip


def _verdict(ci: tuple[float, float] | None, expected: ExpectedRange, better: str) -> Verdict:
    if ci is None:
        return "UNSURE"
    sign = 1 if better == "higher" else -1
    worst, best = sorted(sign * bound for bound in ci)
    lower, upper = sorted(sign * bound for bound in (expected.low, expected.high))
    if best < lower:
        return "BELOW"
    if worst > upper:
        return "ABOVE"
    tolerated = sign * expected.typical * (1 - MAX_LOSS) ** sign
    return "AS EXPECTED" if worst >= max(lower, tolerated) else "UNSURE"
