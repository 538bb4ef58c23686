"""Choose the values from which the capability of a metric is estimated: of samples, or of whole periods of a limit.

Limits that are set on a machine belong to what it is capable of, but single samples do not show them: between two stops
by a quota the samples are as fast as without it, and so they are between the dips of a processor that is too hot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nameplate.records.machine_record import QUOTA_PERIOD_S
from nameplate.records.result import LimitKind
from nameplate.records.run_record import Sample
from nameplate.statistics.capability import MIN_PERIODS
from nameplate.statistics.spent_burst import rounds_before_limit

# If fewer rounds were throttled, it was an event and not a limit.
_MIN_THROTTLED_SHARE = 0.5
# While a CPU's credits are spent, its host takes time away in at least this share of the rounds, and before in less.
_MIN_STOLEN_SHARE = 0.75


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
    """The values of each round that count, and the limit that was set on the machine, "" if none was.

    With a limit, each value is that of a whole period or round. ``before_limit`` is the number of first rounds that do
    not count, because the limit set in only after them.
    """

    rounds: list[list[float]]
    limit: LimitKind = ""
    before_limit: int = 0


def capable_values(rounds: Sequence[Round], higher_is_better: bool, *, has_credits: bool) -> CapableValues:
    """Return what the capability is estimated from; ``rounds`` are those with a value, at least one.

    - "quota": where a CPU quota stopped a sample, it is whole periods of the quota.
    - "heat": where the processor was too hot in half of the rounds or more, it is whole rounds from the first such one:
      what it did while it was cool does not last. That is so for what a processor computes, not for disks and networks.
    - "burst": where a steady limit set in after some rounds (``rounds_before_limit``), it is the whole rounds after
      these. That is so only for what a provider grants bursts of (``has_credits``: disks and networks), or if the host
      takes CPU time since then: a program on the other hardware thread of a core slows it down as steadily.
    - Otherwise it is all samples, as it is if fewer than six whole rounds are left after heat or a burst.
    """
    if any(each.has("cgroup_throttled") for each in rounds):
        return CapableValues([each.periods for each in rounds], "quota")
    hot = [place for place, each in enumerate(rounds) if each.has("thermal_throttled")]
    if not has_credits and len(hot) >= _MIN_THROTTLED_SHARE * len(rounds) and len(rounds) - hot[0] >= MIN_PERIODS:
        return CapableValues([each.whole for each in rounds[hot[0] :]], "heat", hot[0])
    spent = _rounds_of_burst(rounds, higher_is_better) if len(rounds) > MIN_PERIODS else 0
    if spent and (has_credits or _is_stolen_after(rounds, spent)):
        return CapableValues([each.whole for each in rounds[spent:]], "burst", spent)
    return CapableValues([list(each.values) for each in rounds])


def _rounds_of_burst(rounds: Sequence[Round], higher_is_better: bool) -> int:
    whole = [value for each in rounds for value in each.whole]
    return rounds_before_limit(whole, higher_is_better) if min(whole) > 0 else 0


def _is_stolen_after(rounds: Sequence[Round], n_rounds: int) -> bool:
    before, after = (
        sum(each.has("steal_s") for each in part) / len(part) for part in (rounds[:n_rounds], rounds[n_rounds:])
    )
    return before < _MIN_STOLEN_SHARE <= after
