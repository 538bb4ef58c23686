"""Say how long a run must be for a verdict that is still UNSURE."""

from __future__ import annotations

import math
from dataclasses import replace

from nameplate.comparison.metric_rows import MetricPair
from nameplate.records.result import Result
from nameplate.statistics.verdict import MAX_ROUNDS, Judged

# Longer times are not worth a number.
_MAX_S = 24 * 3600.0


def with_time(found: Judged, pair: MetricPair, *, of_capability: bool = False) -> Judged:
    """Return a verdict whose reason also has the budget of runs with as many rounds as it needs.

    The time is that of the run in which the metric has fewer rounds that count, in proportion to the rounds. For a
    capability (``of_capability``) those before a limit set in do not count, but take their time again. The reason stays
    as it is if something else than the budget ended these rounds, if the time is not known or above a day, or if more
    rounds, or a thousand, would not decide.
    """
    took_s, before, shorter = min(
        (
            (took_s, _rounds_before_limit(result) if of_capability else 0, result.summary)
            for took_s, (_, result) in zip(pair.measured_s, pair.sides, strict=True)
        ),
        key=lambda run: (run[2].rounds - run[1], -run[0]),
    )
    if not (0 < found.rounds_needed <= MAX_ROUNDS and took_s and shorter.rounds and shorter.stop == "budget"):
        return found
    needs_s = took_s * (before + found.rounds_needed) / shorter.rounds
    since = " once the limit has set in" if before else ""
    return replace(found, reason=f"{found.reason}{since} (--budget {_rough(needs_s)})") if needs_s <= _MAX_S else found


def _rounds_before_limit(result: Result) -> int:
    return result.summary.rounds - result.capable_rounds if result.limit in ("heat", "burst") else 0


def _rough(seconds: float) -> str:
    """Return a time rounded up to 10 s, to whole minutes from 100 s, and to half hours from 100 min."""
    if seconds <= 100:
        return f"{math.ceil(seconds / 10) * 10}s"
    if seconds <= 6000:
        return f"{math.ceil(seconds / 60)}min"
    return f"{math.ceil(seconds / 1800) / 2:g}h"
