"""Judge the values of a run by their expected ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from nameplate.expectations.expected_range import ExpectedRange
from nameplate.probes import probe_of
from nameplate.records.plan_record import Value
from nameplate.records.run_record import JudgeableValue
from nameplate.results.judgeable import JudgeableRun, known_value

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


def judge(run: JudgeableRun, ranges: Sequence[ExpectedRange]) -> list[JudgedValue]:
    """Return every value of a run by which its machine is judged, with its verdict.

    ``ranges`` has the expected ranges of the machine of ``run``. The verdicts follow from the 95 %
    interval of a value and its expected range. BELOW means that the whole interval is on the worse side of the range,
    ABOVE that it is on the better side. UNSURE means that part of the interval is beyond the worse end of the range or
    more than ``MAX_LOSS`` (20 %) worse than the typical value, or that there is no interval. AS EXPECTED is the rest.
    NOT MEASURED means that the run planned the experiment but has no value in the unit of the range. A range of an
    experiment that the run did not plan is ignored. UNKNOWN is the verdict on the main values in areas without another
    verdict. The result is in the order of ``ranges``; the UNKNOWN values follow.
    """
    values = {(value.experiment, value.key.metric): value for value in run.values}
    planned = {experiment.id: experiment.probe for experiment in run.run.plan.experiments}
    judged = []
    for expected in ranges:
        value = values.get((expected.experiment, expected.metric))
        if value is not None and value.key.unit == expected.unit:
            judged.append(_judged(value, expected))
        elif expected.experiment in planned:
            judged.append(_missing(expected, planned[expected.experiment]))
    areas = {value.area for value in judged}
    unknown = [value for value in run.values if value.is_main and probe_of(value.key.probe).area not in areas]
    return [*judged, *(_judged(value, None) for value in unknown)]


def areas_of(values: Sequence[JudgedValue]) -> dict[str, list[JudgedValue]]:
    """Return the values by area; the first value of each area has the most severe verdict (``ORDER``)."""
    areas: dict[str, list[JudgedValue]] = {}
    for value in values:
        areas.setdefault(value.area, []).append(value)
    return {
        area: sorted(values_of_area, key=lambda value: ORDER.index(value.verdict))
        for area, values_of_area in areas.items()
    }


def _judged(value: JudgeableValue, expected: ExpectedRange | None) -> JudgedValue:
    key = value.key
    known = known_value(value, expected.kind == "capability") if expected else None
    return JudgedValue(
        area=probe_of(key.probe).area,
        experiment=value.experiment,
        probe=key.probe,
        params=key.params,
        metric=key.metric,
        unit=key.unit,
        better=key.better,
        value=known[0] if known else value.value,
        ci=known[1] if known else None,
        expected=expected,
        verdict=_verdict(known[1] if known else None, expected, key.better) if expected else "UNKNOWN",
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
