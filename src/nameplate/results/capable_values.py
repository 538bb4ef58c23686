"""Choose the values from which the capability of a metric is estimated: of samples, or of whole periods of a limit.

Limits that are set on a machine belong to what it is capable of, but single samples do not show them: between two stops
by a quota the samples are as fast as without it, and so they are between the dips of a processor that is too hot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nameplate.records.machine_record import QUOTA_PERIOD_S
from nameplate.records.run_record import Sample
from nameplate.statistics.spent_burst import rounds_before_limit

# If fewer rounds were throttled, it was an event and not a limit.
_MIN_THROTTLED_SHARE = 0.5


@dataclass(frozen=True)
class Round:
    """The samples of a metric in a round, the value of each, and how to compute that of several together."""

    samples: Sequence[Sample]
    values: Sequence[float]
    sustained: Callable[[Sequence[Sample]], float]

    def has(self, disturbance: str) -> bool:
        """Return whether a sample has an event of this kind, a key of ``Sample.disturbed``."""
        return any(sample.disturbed.get(disturbance, 0) > 0 for sample in self.samples)

    @property
    def whole(self) -> list[float]:
        """Return the value of all samples together, as a list."""
        return [self.sustained(self.samples)]

    @property
    def periods(self) -> list[float]:
        """Return the values of whole periods of a CPU quota; what is left after the last one is left out."""
        values, period, elapsed_s = [], [], 0.0
        for sample in self.samples:
            period.append(sample)
            elapsed_s += sample.elapsed_s
            if elapsed_s >= QUOTA_PERIOD_S:
                values.append(self.sustained(period))
                period, elapsed_s = [], 0.0
        return values


@dataclass(frozen=True)
class CapableValues:
    """The values of each round that count; with ``are_whole_periods``, each is that of a whole period of a limit.

    ``before_limit`` is the number of first rounds that do not count, because a limit set in only after them, and
    ``reason`` says in words which limit it was; it is "" if there was none.
    """

    rounds: list[list[float]]
    are_whole_periods: bool = False
    before_limit: int = 0
    reason: str = ""


def capable_values(rounds: Sequence[Round], higher_is_better: bool) -> CapableValues:
    """Return what the capability is estimated from; ``rounds`` are those with a value, at least one.

    - Where a CPU quota stopped a sample, it is whole periods of the quota.
    - Where the processor was too hot in half of the rounds or more, it is whole rounds from the first such one: what it
      did while it was cool does not last.
    - Where a limit set in after some rounds (``rounds_before_limit``), it is the whole rounds after these.
    - Otherwise it is all samples.
    """
    if any(each.has("cgroup_throttled") for each in rounds):
        return CapableValues([each.periods for each in rounds], are_whole_periods=True)
    hot = [place for place, each in enumerate(rounds) if each.has("thermal_throttled")]
    if len(hot) >= _MIN_THROTTLED_SHARE * len(rounds):
        return _whole_rounds(rounds, hot[0], "the processor was too hot")
    whole = [value for each in rounds for value in each.whole]
    spent = rounds_before_limit(whole, higher_is_better) if min(whole) > 0 else 0
    if spent:
        return _whole_rounds(rounds, spent, "a steady limit set in, as if a burst had been spent")
    return CapableValues([list(each.values) for each in rounds])


def _whole_rounds(rounds: Sequence[Round], first: int, reason: str) -> CapableValues:
    return CapableValues([each.whole for each in rounds[first:]], are_whole_periods=True, before_limit=first,
                         reason=reason)  # fmt: skip
