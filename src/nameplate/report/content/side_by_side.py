"""Compare several runs side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.report.content.experiments import common_params, differing_params, headlines, is_derived
from nameplate.report.content.format import quantity
from nameplate.report.content.repeat_commands import repeat_command
from nameplate.report.content.result_rows import MAX_EXPERIMENTS

_Key: TypeAlias = tuple[str, str, tuple[tuple[str, Value], ...]]


@dataclass(frozen=True)
class SideBySideRow:
    """One experiment in every run; lists have one entry per run, in the order of the runs.

    ``label`` has the probe, all parameters and, for a derived value, the metric; ``short`` is the same without the
    parameters common to all experiments of the probe. ``values`` are texts: the value with its unit, the outcome if
    there is no value, or "not measured" if the run does not have the experiment. ``to_first`` is value of the run ÷
    value of the first run, inverted if lower values are better, so that a ratio above 1 is better. It is None if either
    value is missing or 0. ``to_first_ci`` has the lowest and the highest ratio of two values in the 95 % intervals of
    the two runs, which is at least as wide as the 95 % interval of the ratio. It is None if either interval is unknown
    or has a bound at or below 0. ``command`` is the shell command that repeats the experiment, from the first run that
    has it. ``is_folded`` says that the runs share more than ``MAX_EXPERIMENTS`` experiments of the probe, so that the
    page folds the row; it is False for a derived value.
    """

    label: str
    short: str
    values: list[str]
    to_first: list[float | None]
    to_first_ci: list[tuple[float, float] | None]
    command: str
    is_folded: bool


def side_by_side(reports: Sequence[Report]) -> list[SideBySideRow]:
    """Return a row for each experiment that at least two of the runs have, in the order of first appearance.

    Experiments of two runs are the same if their probe, first metric and parameters are equal. A row shows the first
    metric of the experiment. Every derived value has a row, too. The list is empty for fewer than two reports, or if
    the runs have no experiment in common.
    """
    by_run = [{_key(result): result for result in headlines(report.results)} for report in reports]
    shared = [
        key for key in dict.fromkeys(key for run in by_run for key in run) if sum(key in run for run in by_run) > 1
    ]
    derived = {key for run in by_run for key, result in run.items() if is_derived(result)}
    n_experiments = Counter(key[0] for key in shared if key not in derived)
    results = [next(run[key] for run in by_run if key in run) for key in shared]
    common = {
        name: common_params(list(group)) for name, group in groupby(results, key=lambda result: result.summary.probe)
    }
    return [
        SideBySideRow(
            label=_label(result, {}),
            short=_label(result, common[result.summary.probe]),
            values=[_value_text(run.get(key)) for run in by_run],
            to_first=[_to_first(by_run[0].get(key), run.get(key)) for run in by_run],
            to_first_ci=[_to_first_ci(by_run[0].get(key), run.get(key)) for run in by_run],
            command=repeat_command(result),
            is_folded=key not in derived and n_experiments[key[0]] > MAX_EXPERIMENTS,
        )
        for key, result in zip(shared, results, strict=True)
    ]


def _label(result: Result, common: Mapping[str, Value]) -> str:
    row = result.summary
    text = differing_params(row.params, common)
    return " ".join([row.probe, *([row.metric] if is_derived(result) else []), *([text] if text else [])])


def _key(result: Result) -> _Key:
    """Return a key that is equal for the same experiment in several runs.

    The keys of derived values differ in their metric and their part of the curve.
    """
    row = result.summary
    return row.probe, row.metric, tuple(sorted(row.params.items()))


def _to_first(first: Result | None, result: Result | None) -> float | None:
    if first is None or result is None or not first.summary.value or not result.summary.value:
        return None
    ratio = result.summary.value / first.summary.value
    return ratio if first.better == "higher" else 1 / ratio


def _to_first_ci(first: Result | None, result: Result | None) -> tuple[float, float] | None:
    if first is None or result is None or not first.summary.ci or not result.summary.ci:
        return None
    (first_low, first_high), (low, high) = first.summary.ci, result.summary.ci
    if min(first_low, low) <= 0:
        return None
    return (low / first_high, high / first_low) if first.better == "higher" else (first_low / high, first_high / low)


def _value_text(result: Result | None) -> str:
    if result is None:
        return "not measured"
    row = result.summary
    return quantity(row.value, row.unit) if row.value is not None else row.outcome
