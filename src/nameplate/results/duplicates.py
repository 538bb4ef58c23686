"""Find the experiments of a plan that are one: their parameters differ as written, and resolve to the same values.

Under a CPU quota of one core, for example, the default number of threads is 1, and ``threads=1`` is the same work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from nameplate.records.plan_record import Experiment, Value, Variant
from nameplate.records.run_record import Outcome
from nameplate.results.measurements import Measurement

# The reason in ``Stop`` of an experiment that is the same as another one of the plan.
DUPLICATE = "duplicate"

# The probe, the interval of a series or None, one of two variants, and the parameters in alphabetical order.
ResolvedKey: TypeAlias = tuple[str, float | None, Variant, tuple[tuple[str, Value], ...]]


def resolved_key(experiment: Experiment, outcome: Outcome) -> ResolvedKey:
    """Return what two experiments have in common if they are the same work.

    ``outcome`` is that of the experiment in any round; its ``ending`` must be "ok", so that it has all parameters.
    """
    return experiment.probe, experiment.interval_s, experiment.variant, tuple(sorted(outcome.params.items()))


def duplicates(experiments: Sequence[Experiment], by_id: Mapping[str, Sequence[Measurement]]) -> dict[str, str]:
    """Return the experiments that are the same as an earlier one of the plan: id → id of the first one.

    ``by_id`` has the measurements of each experiment, possibly none. Only rounds that ended with "ok" are considered.
    The result is empty if there are no duplicates.
    """
    first: dict[ResolvedKey, str] = {}
    same: dict[str, str] = {}
    for experiment in experiments:
        outcome = next((m.outcome for m in by_id[experiment.id] if m.outcome.ending == "ok"), None)
        if outcome is None:
            continue
        kept = first.setdefault(resolved_key(experiment, outcome), experiment.id)
        if kept != experiment.id:
            same[experiment.id] = kept
    return same
