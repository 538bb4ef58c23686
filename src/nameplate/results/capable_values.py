"""Choose the values from which the capability of a metric is estimated: of samples, or of whole periods of a limit.

A limit set on a machine, such as a CPU quota, reduces its capability, but single samples do not show the limit. Between
two stops by a quota, samples are as fast as without a quota. The same holds for a processor that is too hot, between
two dips of its clock.
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
    """The samples of a metric in one round.

    ``values`` has the metric's value of each of ``samples``, in the same order. ``sustained`` returns the value of
    several samples together: their work over their time.
    """

    samples: Sequence[Sample]
    values: Sequence[float]
    sustained: Callable[[Sequence[Sample]], float]

    def has(self, disturbance: str) -> bool:
        """Return whether any sample was disturbed in this way; ``disturbance`` is a key of ``Sample.disturbed``."""
        return any(sample.disturbed.get(disturbance, 0) > 0 for sample in self.samples)

    @property
    def full_periods(self) -> list[float]:
        """Return a list with a single value, computed from all samples of the round together."""
        return [self.sustained(self.samples)]

    @property
    def periods(self) -> list[float]:
        """Return one value for each whole period of a CPU quota (``QUOTA_PERIOD_S``), from the samples of the period.

        The samples after the last whole period are left out; the list is empty if the round is shorter than a period.
        """
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
    """The values from which a capability is estimated, by round, and the limit by which they were chosen.

    ``rounds`` has one list of values for each round that counts. Without a limit, ``limit`` is "" and each value is
    computed from one sample; with a limit, it is computed from a whole quota period ("quota") or a whole round ("heat",
    "burst"). ``before_limit`` is the number of rounds at the start that do not count, because the limit set in after
    them.
    """

    rounds: list[list[float]]
    limit: LimitKind = ""
    before_limit: int = 0


def capable_values(rounds: Sequence[Round], higher_is_better: bool, *, has_credits: bool) -> CapableValues:
    """Return the values from which the capability of a metric is estimated.

    ``rounds`` are the rounds in which the metric has a value, at least one, in the order of time. ``higher_is_better``
    says which values are better. ``has_credits`` says that providers grant burst credits for the resource: a disk or a
    network.

    - "quota": if a CPU quota stopped any sample, there is one value for each whole period of the quota.
    - "heat": if the processor was too hot in half of the rounds or more, there is one value for each round from the
      first hot round on, because the rate of a cool processor does not last. This does not apply with ``has_credits``.
    - "burst": if a steady limit set in after some rounds (``rounds_before_limit``), there is one value for each later
      round. Without ``has_credits`` this applies only if the host has taken CPU time since then, because a program on
      the other hardware thread of a core slows it down as steadily.
    - "": otherwise, and if fewer than six rounds would be left after heat or a burst, there is one value for each
      sample.
    """
    if any(values_of_round.has("cgroup_throttled") for values_of_round in rounds):
        return CapableValues([values_of_round.periods for values_of_round in rounds], "quota")
    hot = [index for index, values_of_round in enumerate(rounds) if values_of_round.has("thermal_throttled")]
    if not has_credits and len(hot) >= _MIN_THROTTLED_SHARE * len(rounds) and len(rounds) - hot[0] >= MIN_PERIODS:
        return CapableValues([values_of_round.full_periods for values_of_round in rounds[hot[0] :]], "heat", hot[0])
    spent = 0
    if len(rounds) > MIN_PERIODS:
        values = [value for values_of_round in rounds for value in values_of_round.full_periods]
        spent = rounds_before_limit(values, higher_is_better) if min(values) > 0 else 0
    if spent and (has_credits or _is_stolen_after(rounds, spent)):
        return CapableValues([values_of_round.full_periods for values_of_round in rounds[spent:]], "burst", spent)
    return CapableValues([list(values_of_round.values) for values_of_round in rounds])


def _is_stolen_after(rounds: Sequence[Round], n_rounds: int) -> bool:
    before, after = (
        sum(values_of_round.has("steal_s") for values_of_round in part) / len(part)
        for part in (rounds[:n_rounds], rounds[n_rounds:])
    )
    return before < _MIN_STOLEN_SHARE <= after
