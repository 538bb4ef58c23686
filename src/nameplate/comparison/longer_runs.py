"""Estimate how long a run must be to decide a verdict that is still UNSURE."""

from __future__ import annotations

import math
from dataclasses import replace

from nameplate.comparison.metric_rows import MetricPair
from nameplate.records.result import Result
from nameplate.statistics.verdict import MAX_ROUNDS, Judged

# A budget above this time is not suggested.
_MAX_S = 24 * 3600.0


def with_time(judged: Judged, pair: MetricPair, *, of_capability: bool = False) -> Judged:
    """Return a verdict with the necessary budget added to its reason, such as ``(--budget 10min)``.

    ``judged`` is the verdict on ``pair``; its ``rounds_needed`` is converted to a time in proportion to the duration
    and the rounds of the run in which the metric has fewer rounds. With ``of_capability``, only the rounds after a
    limit set in count as rounds, but the time before is needed again. ``judged`` is returned unchanged if more rounds
    would not decide, if it needs more than ``MAX_ROUNDS``, if these rounds did not end because of the budget, or if the
    time is unknown or above a day.
    """
    took_s, before, shorter = min(
        (
            (took_s, _rounds_before_limit(result) if of_capability else 0, result.summary)
            for took_s, (_, result) in zip(pair.measured_s, pair.sides, strict=True)
        ),
        key=lambda run: (run[2].rounds - run[1], -run[0]),
    )
    if not (0 < judged.rounds_needed <= MAX_ROUNDS and took_s and shorter.rounds and shorter.stop == "budget"):
        return judged
    needs_s = took_s * (before + judged.rounds_needed) / shorter.rounds
    since = " once the limit has set in" if before else ""
    return (
        replace(judged, reason=f"{judged.reason}{since} (--budget {budget_text(needs_s)})")
        if needs_s <= _MAX_S
        else judged
    )


def _rounds_before_limit(result: Result) -> int:
    return result.summary.rounds - result.capable_rounds if result.limit in ("heat", "burst") else 0


def budget_text(seconds: float) -> str:
    """Return a time in seconds as a budget: rounded up to 10 s, from 100 s to minutes, from 100 min to half hours."""
    if seconds <= 100:
        return f"{math.ceil(seconds / 10) * 10}s"
    if seconds <= 6000:
        return f"{math.ceil(seconds / 60)}min"
    return f"{math.ceil(seconds / 1800) / 2:g}h"
