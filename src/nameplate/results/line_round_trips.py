"""Summarise the round trip of a cache line between the CPUs of an experiment, which shows how distant they are."""

from __future__ import annotations

from collections.abc import Iterable

from nameplate.records.result import Result
from nameplate.results.measurements import Measurement

# The name of a fact of the outcome, or of a counter with the same value in all samples of a round.
LINE_ROUND_TRIP = "line_round_trip_s"
_MIN, _MAX = "line_round_trip_min_s", "line_round_trip_max_s"
# From this number of rounds on, the extreme round is ignored.
_ENOUGH_ROUNDS = 4


def round_trip_s(measurement: Measurement) -> float:
    """Return the round trip of a cache line between the CPUs of an experiment in one round in seconds, 0 if unknown."""
    counted = measurement.samples[0].counters.get(LINE_ROUND_TRIP, 0.0) if measurement.samples else 0.0
    return measurement.outcome.facts.get(LINE_ROUND_TRIP, counted)


def line_evidence(times_s: Iterable[float]) -> dict[str, float]:
    """Return the shortest and the longest round trip of a cache line over several rounds, as evidence of a result.

    ``times_s`` has the round trip of each round in seconds; 0 means that the round has none and is ignored. With four
    or more times above 0, the second shortest and the second longest are returned, since one round may have been
    disturbed. The keys are "line_round_trip_min_s" and "line_round_trip_max_s"; the result is {} if no round has a
    round trip.
    """
    known = sorted(time_s for time_s in times_s if time_s > 0)
    if not known:
        return {}
    at = 1 if len(known) >= _ENOUGH_ROUNDS else 0
    return {_MIN: known[at], _MAX: known[-1 - at]}


def line_round_trips(result: Result) -> tuple[float, float] | None:
    """Return the shortest and the longest round trip of a cache line in seconds from the evidence of a result.

    ``line_evidence`` wrote the evidence. The return value is None if the evidence has no round trips.
    """
    times = result.evidence.get(_MIN), result.evidence.get(_MAX)
    return (times[0], times[1]) if times[0] and times[1] else None
