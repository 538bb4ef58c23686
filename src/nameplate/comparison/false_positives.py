"""Measure how often the comparison of typical values calls a machine faster or slower than itself.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from scipy.stats import binomtest

from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.statistics.two_samples import Rounds, judge
from nameplate.statistics.verdict import Judged

# The number of rounds in each of the two stretches that are compared, the default of a run.
WINDOW = 6


class FalsePositiveCount(msgspec.Struct, frozen=True, kw_only=True):
    """The number of wrong verdicts when parts of one run are compared with each other, for one metric.

    ``pairs`` is the number of compared pairs of stretches of rounds. Each pair has one verdict: ``wrong`` of them are
    FASTER or SLOWER, ``same`` are SAME, and ``unsure`` are UNSURE.
    """

    probe: str
    params: dict[str, Value]
    metric: str
    pairs: int
    wrong: int
    same: int
    unsure: int


def count_false_positives(report: Report, window: int = WINDOW) -> list[FalsePositiveCount]:
    """Return for each metric the number of wrong verdicts when adjacent stretches of a run's rounds are compared.

    ``window`` is the number of rounds in a stretch; with fewer than 5, all verdicts are UNSURE. Each stretch is
    compared with the next one as if they were two runs; a stretch takes part in two pairs. All metrics of a pair are
    judged together, so that all have the same number of pairs: ``rounds // window - 1`` for the metric with the fewest
    rounds. Metrics with fewer than ``2 * window`` rounds, without a value, or with the value of a round at or below 0
    are left out, and so are derived values and percentiles of the operations of all rounds. The result is in the order
    of the report, and may be empty.
    """
    results = [
        result
        for result in report.results
        if len(result.round_values) >= 2 * window
        and not result.is_pooled
        and result.summary.value
        and min(result.round_values) > 0
    ]
    judgements: list[list[Judged]] = [[] for _ in results]
    min_rounds = min((len(result.round_values) for result in results), default=0)
    for start in range(0, min_rounds - 2 * window + 1, window):
        judged = judge([_pair(result, start, window) for result in results])
        for judgements_of_result, judged_of_result in zip(judgements, judged, strict=True):
            judgements_of_result.append(judged_of_result)
    return [
        _count(result, judgements_of_result) for result, judgements_of_result in zip(results, judgements, strict=True)
    ]


def upper_bound(wrong: int, pairs: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper confidence bound of the rate ``wrong / pairs``, as a share from 0 to 1.

    ``wrong``, from 0 to ``pairs``, is the number of wrong verdicts among ``pairs`` (at least 1) independent pairs.
    ``confidence`` is the probability (0 to 1) that the true rate is at most the bound. If all pairs are wrong, the
    bound is 1. Source: Clopper and Pearson, "The Use of Confidence or Fiducial Limits", Biometrika 26, 1934.

    Raises:
        ValueError: an argument is outside its range.
    """
    return float(binomtest(wrong, pairs, alternative="less").proportion_ci(confidence, "exact").high)


def _pair(result: Result, start: int, window: int) -> Rounds:
    values = result.round_values
    area = result.summary.probe.partition("_")[0]  # as compare does, false discoveries are controlled within each area
    base, new = values[start : start + window], values[start + window : start + 2 * window]
    return Rounds(base, new, result.better, area, rounding=(result.rounding, result.rounding))


def _count(result: Result, judgements: Sequence[Judged]) -> FalsePositiveCount:
    verdicts = [judgement.verdict for judgement in judgements]
    row = result.summary
    return FalsePositiveCount(
        probe=row.probe, params=row.params, metric=row.metric, pairs=len(judgements),
        wrong=verdicts.count("FASTER") + verdicts.count("SLOWER"), same=verdicts.count("SAME"),
        unsure=verdicts.count("UNSURE"),
    )  # fmt: skip
