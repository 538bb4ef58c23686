"""Judge the typical values of metrics in two runs: medians by their rounds, percentiles by their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from nameplate.comparison.metric_rows import MetricPair
from nameplate.statistics.difference import judge_differences
from nameplate.statistics.pooled_percentile import MIN_ROUNDS
from nameplate.statistics.verdict import SAME_WITHIN, Judged

_NO_INTERVAL = f"no interval: it needs {MIN_ROUNDS} rounds and enough operations above the percentile"


def judge_typical(pairs: Sequence[MetricPair], same_within: float = SAME_WITHIN) -> list[Judged]:
    """Return the verdict on the typical values of each pair, in the same order.

    The ratio is that of the two values. Medians of rounds are judged by the values of the rounds
    (``statistics/two_samples.py``), and percentiles of all operations by their intervals, to which the variation
    between runs of an unchanged machine is added (``statistics/estimate_change.py``). A percentile without an interval
    is UNSURE. All pairs of a comparison must be passed together, since the false discovery rate is controlled within
    each area of metrics, for percentiles separately. ``same_within`` is a share (0.05 is 5 %): SAME means that an
    equivalence test with significance level 0.05 rules out a larger change.
    """
    from nameplate.statistics.two_samples import Rounds, judge  # noqa: PLC0415 (numpy takes a tenth of a second)

    by_rounds = iter(judge(
        [
            Rounds(pair.base.round_values, pair.new.round_values, pair.base.better, pair.family, pair.is_sequential,
                   (pair.base.rounding, pair.new.rounding))
            for pair in pairs if not pair.is_pooled
        ], same_within,
    ))  # fmt: skip
    pooled = [pair.pooled_values() if pair.is_pooled else None for pair in pairs]
    by_interval = iter(judge_differences([both.difference() for both in pooled if both], same_within))
    judged = []
    for pair, both in zip(pairs, pooled, strict=True):
        if both:
            judged.append(next(by_interval))
        elif pair.is_pooled:
            judged.append(Judged("UNSURE", math.nan, None, _NO_INTERVAL))
        else:
            judged.append(next(by_rounds))
    return [_with_ratio_of_values(judged_of_pair, pair) for judged_of_pair, pair in zip(judged, pairs, strict=True)]


def _with_ratio_of_values(judged: Judged, pair: MetricPair) -> Judged:
    """Return a verdict with the ratio of the values that are shown next to it.

    The test's estimate of the ratio (Hodges and Lehmann) is not exactly the ratio of the medians. The interval is
    extended to include the latter if necessary.
    """
    base, new = pair.base.summary.value, pair.new.summary.value
    if not base or not new:
        return judged
    ratio = new / base
    ci = (min(judged.ci[0], ratio), max(judged.ci[1], ratio)) if judged.ci else None
    return replace(judged, ratio=ratio, ci=ci)
