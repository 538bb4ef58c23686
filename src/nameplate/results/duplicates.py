"""Find experiments of a plan that do the same work: their parameters differ, but resolve to the same values.

Under a CPU quota of one core, for example, the default number of threads is 1, and ``threads=1`` is the same work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from nameplate.records.plan_record import Experiment, Value, Variant
from nameplate.records.run_record import Outcome
from nameplate.results.measurements import Measurement

# The reason in ``Stop.reasons`` for an experiment that does the same work as an earlier one of the plan.
DUPLICATE = "duplicate"

# The probe, the interval of a series or None, the variant of a paired comparison, and the parameters ordered by name.
ResolvedKey: TypeAlias = tuple[str, float | None, Variant, tuple[tuple[str, Value], ...]]


def resolved_key(experiment: Experiment, outcome: Outcome) -> ResolvedKey:
    """Return a key that is equal for two experiments if they do the same work on this machine.

    ``outcome`` is the outcome of ``experiment`` in any round. Its ``ending`` must be "ok", so that it has all
    parameters with their resolved values.
    """
    return experiment.probe, experiment.interval_s, experiment.variant, tuple(sorted(outcome.params.items()))


def duplicates(experiments: Sequence[Experiment], by_id: Mapping[str, Sequence[Measurement]]) -> dict[str, str]:
    """Return the experiments that do the same work as an earlier experiment of the plan, each with the earliest one.

    ``experiments`` are in the order of the plan. ``by_id`` has the list of measurements, which may be empty, of each of
    them by id. An experiment that never ended with "ok" is neither a duplicate nor has duplicates. The result maps id →
    id and is empty if there are no duplicates.
    """
    first: dict[ResolvedKey, str] = {}
    same: dict[str, str] = {}
    for experiment in experiments:
        outcome = next((m.outcome for m in by_id[experiment.id] if m.outcome.ending == "ok"), None)
        if outcome is None:
            continue
        original = first.setdefault(resolved_key(experiment, outcome), experiment.id)
        if original != experiment.id:
            same[experiment.id] = original
    return same
