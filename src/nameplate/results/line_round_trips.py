"""Find how far the CPUs of an experiment were from each other: the round trip of a cache line in each round."""

from __future__ import annotations

from collections.abc import Iterable

from nameplate.records.result import Result
from nameplate.results.measurements import Measurement

# A fact of the outcome, or a counter of its samples, which all have the same value in a round.
LINE_ROUND_TRIP = "line_round_trip_s"
_MIN, _MAX = "line_round_trip_min_s", "line_round_trip_max_s"
# From this number of rounds on, a single one does not decide: a capability also needs two.
_ENOUGH_ROUNDS = 4


def round_trip_s(measurement: Measurement) -> float:
    """Return the seconds of a cache line's round trip between the CPUs of an experiment in a round, 0 if not known."""
    counted = measurement.samples[0].counters.get(LINE_ROUND_TRIP, 0.0) if measurement.samples else 0.0
    return measurement.outcome.facts.get(LINE_ROUND_TRIP, counted)


def line_evidence(times_s: Iterable[float]) -> dict[str, float]:
    """Return the shortest and the longest of the round trips in seconds, as evidence of a result.

    Of four or more they are the second shortest and the second longest, since one round may have been disturbed. Times
    of 0 are those of rounds without a second CPU. Without other times the evidence is empty.
    """
    known = sorted(time_s for time_s in times_s if time_s > 0)
    if not known:
        return {}
    at = 1 if len(known) >= _ENOUGH_ROUNDS else 0
    return {_MIN: known[at], _MAX: known[-1 - at]}


def line_round_trips(result: Result) -> tuple[float, float] | None:
    """Return the shortest and the longest round trip of a result's rounds in seconds, None if it has none."""
    times = result.evidence.get(_MIN), result.evidence.get(_MAX)
    return (times[0], times[1]) if times[0] and times[1] else None
