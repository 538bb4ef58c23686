"""Compare three or more runs: which of them have the best value of each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec

from nameplate.comparison.input_notes import run_name
from nameplate.comparison.metric_rows import Key, MetricPair, why_not_judged, work_difference
from nameplate.comparison.partners import metrics_by_key, partners
from nameplate.comparison.run_to_run import least_repeatable, resource_of
from nameplate.comparison.typical_values import judge_typical
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result


class MultiRunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in several runs, with the runs that have the best value.

    ``params`` is from the run that recorded the most parameters. ``values`` has the typical value of each run, in the
    order of the runs and in the SI base unit ``unit``; None for a run without the metric or without a value. ``best``
    has the indices (from 0) of the run with the best value and of all runs whose values are not significantly worse, in
    ascending order. ``reason`` says which runs have the metric but are not compared, and why. ``best`` is empty if
    fewer than two runs can be compared.
    """

    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    values: list[float | None]
    best: list[int]
    reason: str


@dataclass
class _Row:
    """A metric with its results by the index of their run.

    ``fullest`` is the result with the most parameters, and ``key`` is its key.
    """

    key: Key
    fullest: Result
    results: dict[int, Result]


def compare_several(reports: Sequence[Report]) -> list[MultiRunComparison]:
    """Return a row for every metric that at least two of ``reports`` have, in the order of first appearance.

    Each run is compared with the run that has the best value by its typical value (``judge_typical``); if any run was
    measured until it had a verdict (``Limits.detect``), by tests that hold after every round. Metrics of different runs
    match by the same rules as for two runs (``partners``). Derived values are left out. The list is empty for fewer
    than two runs.
    """
    rows = [row for row in _rows([metrics_by_key(report.results) for report in reports]) if len(row.results) > 1]
    is_sequential = any(report.run.plan.limits.detect for report in reports)
    compared = [_compared(row.results) for row in rows]
    pairs: dict[tuple[int, int], MetricPair] = {}
    for number, (row, (results, _)) in enumerate(zip(rows, compared, strict=True)):
        best = _best(results) if results else 0
        for index in results.keys() - {best}:
            pairs[number, index] = MetricPair(
                row.key, results[best], results[index], (run_name(best), run_name(index)), is_sequential=is_sequential,
                resource=least_repeatable(resource_of(results[run], reports[run].machine) for run in (best, index)),
            )  # fmt: skip
    judged = dict(zip(pairs, judge_typical(list(pairs.values())), strict=True))
    behind = {pair for pair, judgement in judged.items() if judgement.verdict == "SLOWER"}
    return [
        MultiRunComparison(
            probe=row.key[0],
            params=dict(row.key[2]),
            metric=row.key[1],
            unit=row.fullest.summary.unit,
            values=[row.results[run].summary.value if run in row.results else None for run in range(len(reports))],
            best=sorted(index for index in results if (number, index) not in behind),
            reason=reason,
        )
        for number, (row, (results, reason)) in enumerate(zip(rows, compared, strict=True))
    ]


def _rows(runs: Sequence[Mapping[Key, Result]]) -> list[_Row]:
    rows: list[_Row] = []
    for index, results in enumerate(runs):
        by_key = {row.key: row for row in rows}
        pairs = partners({row.key: row.fullest for row in rows}, results)
        for key, other in pairs.items():
            row = by_key[key]
            row.results[index] = results[other]
            if len(other[2]) > len(key[2]):
                row.key, row.fullest = other, results[other]
        known = set(pairs.values())
        rows += [_Row(key, result, {index: result}) for key, result in results.items() if key not in known]
    return rows


def _compared(results: Mapping[int, Result]) -> tuple[dict[int, Result], str]:
    """Return the results that can be compared with each other, by run index, and why others cannot be compared.

    The dictionary is empty if fewer than two results can be compared.
    """
    reasons = {index: why_not_judged(run_name(index), result) for index, result in results.items()}
    usable = {index: result for index, result in results.items() if not reasons[index]}
    difference = _work_difference(usable)
    comparable = usable if len(usable) > 1 and not difference else {}
    return comparable, "; ".join(reason for reason in (*reasons.values(), difference) if reason)


def _work_difference(results: Mapping[int, Result]) -> str:
    named = [(run_name(index), result) for index, result in results.items()]
    return next(filter(None, (work_difference(*pair) for pair in combinations(named, 2))), "")


def _best(results: Mapping[int, Result]) -> int:
    def height(index: int) -> float:
        value = results[index].summary.value or 0.0
        return value if results[index].better == "higher" else -value

    return max(results, key=height)
