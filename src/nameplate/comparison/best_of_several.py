"""Compare three or more runs: which of them have the best value of each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec

from nameplate.comparison.input_notes import run_name
from nameplate.comparison.metric_rows import Key, rounds_of, why_not_judged, work_difference
from nameplate.comparison.partners import metrics_by_key, partners
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.statistics.two_samples import judge


class Several(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in several runs.

    ``params`` are those of the run that names the most. ``values`` are the medians in the SI base unit ``unit``, one
    per run in the order of the runs, None for a run that does not have the metric or has no value of it. ``best`` has
    the indices of the runs with the best value and with values that are not significantly worse, in ascending order.
    ``reason`` says which runs that have the metric are not compared, and why; if fewer than two are left, ``best`` is
    empty.
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
    """A metric with its results by the index of their run, of which ``fullest`` has ``key`` and the most parameters."""

    key: Key
    fullest: Result
    results: dict[int, Result]


def compare_several(reports: Sequence[Report]) -> list[Several]:
    """Return a row for every metric that at least two of the runs have, in the order of their first appearance.

    Each run is compared with the best one, by the method of ``statistics/two_samples.py``; if one of them was measured
    until it had a verdict, by the tests that hold after every round. A metric of a run is the same as one of the runs
    before it by the rules for two runs (``partners``). Derived values are left out. The list is empty for fewer than
    two runs.
    """
    rows = [row for row in _rows([metrics_by_key(report.results) for report in reports]) if len(row.results) > 1]
    is_sequential = any(report.run.plan.limits.detect for report in reports)
    compared = [_compared(row.results) for row in rows]
    pairs = [
        (row, index, rounds_of(results[_best(results)], result, is_sequential=is_sequential))
        for row, results in enumerate(compared)
        for index, result in results.items()
        if index != _best(results)
    ]
    judged = judge([rounds for *_, rounds in pairs])
    behind = {(row, index) for (row, index, _), found in zip(pairs, judged, strict=True) if found.verdict == "SLOWER"}
    return [
        Several(
            probe=row.key[0],
            params=dict(row.key[2]),
            metric=row.key[1],
            unit=row.fullest.summary.unit,
            values=[row.results[run].summary.value if run in row.results else None for run in range(len(reports))],
            best=sorted(index for index in compared[number] if (number, index) not in behind),
            reason="; ".join(_reasons(row.results)),
        )
        for number, row in enumerate(rows)
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


def _compared(results: Mapping[int, Result]) -> dict[int, Result]:
    """Return the results that can be compared with each other, by the index of their run; none if only one can."""
    usable = {index: result for index, result in results.items() if not why_not_judged(run_name(index), result)}
    return usable if len(usable) > 1 and not _work_difference(usable) else {}


def _reasons(results: Mapping[int, Result]) -> list[str]:
    reasons = {index: why_not_judged(run_name(index), result) for index, result in results.items()}
    usable = {index: result for index, result in results.items() if not reasons[index]}
    return [reason for reason in (*reasons.values(), _work_difference(usable)) if reason]


def _work_difference(results: Mapping[int, Result]) -> str:
    named = [(run_name(index), result) for index, result in results.items()]
    return next(filter(None, (work_difference(*pair) for pair in combinations(named, 2))), "")


def _best(results: Mapping[int, Result]) -> int:
    def height(index: int) -> float:
        value = results[index].summary.value or 0.0
        return value if results[index].better == "higher" else -value

    return max(results, key=height)
