"""Compare three or more runs: which of them have the best value of each metric."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nameplate.comparison.metric_rows import Key
from nameplate.comparison.run_comparison import metrics_by_key
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.statistics.two_samples import Rounds, judge


class Several(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in several runs.

    ``values`` are the medians in the SI base unit ``unit``, one per run in the order of the runs, None for a run that
    does not have the metric or has no value of it. ``best`` has the indices of the runs with the best value and with
    values that are not significantly worse, in ascending order. If fewer than two runs have a value with all rounds
    above 0, or the runs did not do the same work, it is empty and ``reason`` says so; otherwise ``reason`` is "".
    """

    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    values: list[float | None]
    best: list[int]
    reason: str


def compare_several(reports: Sequence[Report]) -> list[Several]:
    """Return a row for every metric that at least two of the runs have, in the order of their first appearance.

    Each run is compared with the best one, by the method of ``statistics/two_samples.py``; if one of them was measured
    until it had a verdict, by the tests that hold after every round. Metrics are the same if their probe, name and
    parameters are equal. Derived values are left out. The list is empty for fewer than two runs.
    """
    by_run = [metrics_by_key(report.results) for report in reports]
    keys = dict.fromkeys(key for run in by_run for key in run)
    names = [key for key in keys if sum(key in run for run in by_run) > 1]
    shared = [[run.get(key) for run in by_run] for key in names]
    others = [(row, place) for row, results in enumerate(shared) for place in _places_except_best(results)]
    pairs = [(shared[row][_best(shared[row])], shared[row][place]) for row, place in others]
    is_sequential = any(report.run.plan.limits.detect for report in reports)
    judged = judge([
        Rounds(best.round_values, other.round_values, best.better, is_sequential=is_sequential)
        for best, other in pairs
        if best and other
    ])  # fmt: skip
    behind = {which for which, found in zip(others, judged, strict=True) if found.verdict == "SLOWER"}
    return [_several(key, row, results, behind) for row, (key, results) in enumerate(zip(names, shared, strict=True))]


def _several(key: Key, row: int, results: Sequence[Result | None], behind: set[tuple[int, int]]) -> Several:
    measured = [result for result in results if result]
    candidates = [_best(results), *_places_except_best(results)] if _is_comparable(results) else []
    return Several(
        probe=key[0],
        params=dict(key[2]),
        metric=key[1],
        unit=measured[0].summary.unit,
        values=[result.summary.value if result else None for result in results],
        best=sorted(place for place in candidates if (row, place) not in behind),
        reason="" if _is_comparable(results) else "not the same work, or too few runs have a value",
    )


def _is_comparable(results: Sequence[Result | None]) -> bool:
    usable = [results[place] for place in _usable(results)]
    return len(usable) > 1 and len({result.source for result in usable if result}) == 1


def _usable(results: Sequence[Result | None]) -> list[int]:
    return [
        place
        for place, result in enumerate(results)
        if result and result.summary.value is not None and min(result.round_values) > 0
    ]


def _best(results: Sequence[Result | None]) -> int:
    def height(place: int) -> float:
        result = results[place]
        value = (result.summary.value if result else None) or 0.0
        return value if result and result.better == "higher" else -value

    return max(_usable(results), key=height)


def _places_except_best(results: Sequence[Result | None]) -> list[int]:
    return [place for place in _usable(results) if place != _best(results)] if _is_comparable(results) else []
