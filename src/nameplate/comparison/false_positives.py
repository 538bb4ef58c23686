"""Measure how often a machine compared with itself would be called faster or slower, by its typical values.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from scipy.stats import binomtest

from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.statistics.two_samples import Rounds, judge
from nameplate.statistics.verdict import Judged

# The number of rounds in each of the two stretches that are compared, the default of a run.
WINDOW = 6


class FalsePositiveCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often one metric of a run was called faster or slower than itself.

    ``pairs`` is the number of compared pairs of stretches, each of which has one verdict: ``wrong`` of them are FASTER
    or SLOWER, ``same`` are SAME and ``unsure`` UNSURE.
    """

    probe: str
    params: dict[str, Value]
    metric: str
    pairs: int
    wrong: int
    same: int
    unsure: int


def count_false_positives(report: Report, window: int = WINDOW) -> list[FalsePositiveCount]:
    """Return for each metric the verdicts on pairs of adjacent stretches of a run's rounds.

    ``window`` is the number of rounds in a stretch, at least 5 for any verdict but UNSURE. Each stretch is compared
    with the next one like two whole runs, so that pairs overlap. All metrics of a pair are judged together, as in a
    comparison, so all have the same number of pairs: ``rounds // window - 1`` of the metric with the fewest rounds.
    Metrics with fewer than ``2 * window`` rounds, without a value, or with a round at or below 0 are left out, as are
    derived values; the list may be empty. Metrics are in the order of the report.
    """
    results = [
        result
        for result in report.results
        if len(result.round_values) >= 2 * window and result.summary.value and min(result.round_values) > 0
    ]
    judgements: list[list[Judged]] = [[] for _ in results]
    for begin in _stretches(results, window):
        judged = judge([_pair(result, begin, window) for result in results])
        for own, found in zip(judgements, judged, strict=True):
            own.append(found)
    return [_count(result, own) for result, own in zip(results, judgements, strict=True)]


def upper_bound(wrong: int, pairs: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper bound of the rate ``wrong / pairs``, as a share from 0 to 1.

    ``pairs`` is at least 1 and ``wrong`` is from 0 to ``pairs``; the pairs are assumed to be independent. With
    ``wrong`` equal to ``pairs`` the bound is 1. ``confidence`` is a share (0 to 1). Source: Clopper and Pearson, "The
    Use of Confidence or Fiducial Limits", Biometrika 26, 1934.

    Raises:
        ValueError: one of the three is outside its range.
    """
    return float(binomtest(wrong, pairs, alternative="less").proportion_ci(confidence, "exact").high)


def _stretches(results: Sequence[Result], window: int) -> Iterator[int]:
    min_rounds = min((len(result.round_values) for result in results), default=0)
    yield from range(0, min_rounds - 2 * window + 1, window)


def _pair(result: Result, begin: int, window: int) -> Rounds:
    values = result.round_values
    area = result.summary.probe.partition("_")[0]  # as compare does, false discoveries are controlled within each area
    base, new = values[begin : begin + window], values[begin + window : begin + 2 * window]
    return Rounds(base, new, result.better, area, rounding=(result.rounding, result.rounding))


def _count(result: Result, judgements: Sequence[Judged]) -> FalsePositiveCount:
    verdicts = [found.verdict for found in judgements]
    row = result.summary
    return FalsePositiveCount(
        probe=row.probe, params=row.params, metric=row.metric, pairs=len(judgements),
        wrong=verdicts.count("FASTER") + verdicts.count("SLOWER"), same=verdicts.count("SAME"),
        unsure=verdicts.count("UNSURE"),
    )  # fmt: skip
