"""Judge the values of a run by their expected ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judged_results import interval_of, judged_results, value_of
from nameplate.probes import probe_of
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result

Verdict: TypeAlias = Literal["BELOW", "UNSURE", "AS EXPECTED", "ABOVE", "UNKNOWN"]
# The verdict of an area is the first of these that one of its values has.
ORDER: tuple[Verdict, ...] = ("BELOW", "UNSURE", "AS EXPECTED", "ABOVE", "UNKNOWN")


class JudgedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value of a run beside its expected range, in SI base units.

    ``value`` is the capability of the machine, or the typical value if that is unknown, and ``ci`` its 95 % interval.
    ``expected`` is None if nothing is known, and then the verdict is UNKNOWN.
    """

    area: str
    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    better: Literal["higher", "lower"]
    value: float
    ci: tuple[float, float] | None
    expected: ExpectedRange | None
    verdict: Verdict


def judge(report: Report, ranges: Sequence[ExpectedRange]) -> list[JudgedValue]:
    """Return every value by which the machine of a run is judged, with its verdict, in the order of the run.

    BELOW means that the whole interval is on the worse side of the range, ABOVE that it is on the better side. UNSURE
    means that the interval reaches beyond the worse end of the range, or that there were too few rounds for an
    interval. UNKNOWN means that ``ranges`` has no such metric.
    """
    by_metric = {(each.experiment, each.metric): each for each in ranges}
    return [_judged(result, by_metric) for result in judged_results(report)]


def verdict_of_area(values: Sequence[JudgedValue]) -> JudgedValue:
    """Return the value that decides on an area, of which ``values`` has all, at least one."""
    return min(values, key=lambda value: ORDER.index(value.verdict))


def _judged(result: Result, ranges: Mapping[tuple[str, str], ExpectedRange]) -> JudgedValue:
    row = result.summary
    expected = ranges.get((result.id, row.metric))
    if expected is not None and expected.unit != row.unit:
        expected = None
    return JudgedValue(
        area=probe_of(row.probe).area,
        probe=row.probe,
        params=row.params,
        metric=row.metric,
        unit=row.unit,
        better=result.better,
        value=value_of(result),
        ci=interval_of(result),
        expected=expected,
        verdict=_verdict(interval_of(result), expected, result.better) if expected else "UNKNOWN",
    )


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
    return "AS EXPECTED" if worst >= lower else "UNSURE"
