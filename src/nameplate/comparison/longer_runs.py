"""Say how long a run must be for a verdict that is still UNSURE."""

from __future__ import annotations

import math
from dataclasses import replace

from nameplate.comparison.metric_rows import MetricPair
from nameplate.statistics.verdict import Judged

# Longer times are not worth a number.
_MAX_S = 24 * 3600.0


def with_time(found: Judged, pair: MetricPair) -> Judged:
    """Return a verdict whose reason also has the budget of runs with as many rounds as it needs.

    The time is that of the run in which the metric has fewer rounds, in proportion to the rounds. The reason stays as
    it is if something else than the budget ended these rounds, if the time is not known or above a day, or if more
    rounds would not decide.
    """
    took_s, shorter = min(
        ((took_s, result.summary) for took_s, (_, result) in zip(pair.measured_s, pair.sides, strict=True)),
        key=lambda run: (run[1].rounds, -run[0]),
    )
    if not (found.rounds_needed and took_s and shorter.rounds and shorter.stop == "budget"):
        return found
    needs_s = took_s * found.rounds_needed / shorter.rounds
    return replace(found, reason=f"{found.reason} (--budget {_rough(needs_s)})") if needs_s <= _MAX_S else found


def _rough(seconds: float) -> str:
    """Return a time rounded up to 10 s, to whole minutes from 100 s, and to half hours from 100 min."""
    if seconds <= 100:
        return f"{math.ceil(seconds / 10) * 10}s"
    if seconds <= 6000:
        return f"{math.ceil(seconds / 60)}min"
    return f"{math.ceil(seconds / 1800) / 2:g}h"
