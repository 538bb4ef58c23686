"""Compare several runs side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result, Summary
from nameplate.report.content.experiments import common_params, headlines, is_derived, own_params
from nameplate.report.content.format import quantity
from nameplate.report.content.repeat_commands import repeat_command
from nameplate.report.content.result_rows import MAX_EXPERIMENTS

_Key: TypeAlias = tuple[str, str, tuple[tuple[str, Value], ...]]


@dataclass(frozen=True)
class SideBySideRow:
    """One experiment in every run; lists have one entry per run, in the order of the runs.

    ``label`` has the probe, the metric of a derived value, and all parameters; ``short`` leaves out the parameters
    common to all experiments of the probe. ``values`` are texts: the value with its unit, the outcome if there is no
    value, or "not measured". ``to_first`` is the ratio of each run to the first run, inverted if lower is better, so
    that more than 1 is better; it is None if the value of the run or of the first run is missing or 0.
    ``to_first_ci`` has the lowest and the highest such ratio of any two values in the 95 % intervals of the two runs,
    which is at least as wide as the 95 % interval of the ratio, or None if one of the intervals is unknown. ``command``
    repeats the experiment as in the first run that has it. ``is_folded`` says that the experiment belongs to a sweep of
    more than ``MAX_EXPERIMENTS`` shared experiments, which the page folds; it is False for a derived value.
    """

    label: str
    short: str
    values: list[str]
    to_first: list[float | None]
    to_first_ci: list[tuple[float, float] | None]
    command: str
    is_folded: bool


def side_by_side(reports: Sequence[Report]) -> list[SideBySideRow]:
    """Return a row for each experiment that at least two of the runs contain, in the order of their first appearance.

    An experiment is the same in two runs if its probe, first metric and parameters are equal. Its first metric is
    shown. A derived value counts as an experiment of its own. The list is empty for fewer than two runs.
    """
    by_run = [{_key(result): result for result in headlines(report.results)} for report in reports]
    shared = [
        key for key in dict.fromkeys(key for run in by_run for key in run) if sum(key in run for run in by_run) > 1
    ]
    derived = {key for run in by_run for key, result in run.items() if is_derived(result)}
    n_experiments = Counter(key[0] for key in shared if key not in derived)
    found = [next(run[key] for run in by_run if key in run) for key in shared]
    common = {name: common_params(list(own)) for name, own in groupby(found, key=lambda result: result.summary.probe)}
    return [
        SideBySideRow(
            label=_label(result, {}),
            short=_label(result, common[result.summary.probe]),
            values=[_value_in(run[key].summary if key in run else None) for run in by_run],
            to_first=[_to_first(by_run[0].get(key), run.get(key)) for run in by_run],
            to_first_ci=[_to_first_ci(by_run[0].get(key), run.get(key)) for run in by_run],
            command=repeat_command(result),
            is_folded=key not in derived and n_experiments[key[0]] > MAX_EXPERIMENTS,
        )
        for key, result in zip(shared, found, strict=True)
    ]


def _label(result: Result, common: Mapping[str, Value]) -> str:
    row = result.summary
    words = own_params(row.params, common)
    return " ".join([row.probe, *([row.metric] if is_derived(result) else []), *([words] if words else [])])


def _key(result: Result) -> _Key:
    """Return a key that is equal for the same experiment in several runs.

    Derived values are told apart by metric and part of the curve; an experiment that failed has a key of its own.
    """
    row = result.summary
    return row.probe, row.metric, tuple(sorted(row.params.items()))


def _to_first(first: Result | None, own: Result | None) -> float | None:
    if first is None or own is None or not first.summary.value or not own.summary.value:
        return None
    ratio = own.summary.value / first.summary.value
    return ratio if first.better == "higher" else 1 / ratio


def _to_first_ci(first: Result | None, own: Result | None) -> tuple[float, float] | None:
    if first is None or own is None or not first.summary.ci or not own.summary.ci:
        return None
    (first_low, first_high), (low, high) = first.summary.ci, own.summary.ci
    if min(first_low, low) <= 0:
        return None
    return (low / first_high, high / first_low) if first.better == "higher" else (first_low / high, first_high / low)


def _value_in(row: Summary | None) -> str:
    if row is None:
        return "not measured"
    return quantity(row.value, row.unit) if row.value is not None else row.outcome
