"""Choose the rounds that the results of an experiment are computed from.

A round that failed, for example because its process was killed, is left out. A wrong result invalidates all rounds of
the experiment, since earlier results may be wrong, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from nameplate.records.plan_record import Variant
from nameplate.records.run_record import Ending, Outcome
from nameplate.results.measurements import Measurement, RunFile

_MAX_REASONS = 3
# The outcome with the highest number counts if a round has several; of equal ones, the last.
_PRECEDENCE: dict[Ending, int] = {"invalid": 2, "ok": 1, "failed": 0, "skipped": 0}
_WORST_FIRST = ("invalid", "failed", "skipped", "ok")


def rounds_by_experiment(file: RunFile) -> dict[str, list[Measurement]]:
    """Return the measurements of each experiment of the plan by the experiment's id, at most one per round.

    If a round was measured several times, as after ``--resume``, a wrong result counts, else the last success, else the
    last measurement. An interrupted measurement is returned only if its experiment has no other measurement. The list
    of an experiment that was not measured is empty. In a run of ``nameplate ab``, each outcome gets the parameter
    "variant", since the two variants may have the same parameters.
    """
    variants = {experiment.id: experiment.variant for experiment in file.run.plan.experiments if experiment.variant}
    measurements: dict[str, dict[int, Measurement]] = {experiment.id: {} for experiment in file.run.plan.experiments}
    cut: dict[str, list[Measurement]] = {}
    for recorded in file.measurements:
        measurement = _of_variant(recorded, variants.get(recorded.outcome.id))
        outcome = measurement.outcome
        if outcome.interrupted and outcome.ending != "invalid":
            cut[outcome.id] = [measurement]
        elif outcome.id in measurements:
            earlier = measurements[outcome.id].get(outcome.round)
            if earlier is None or _PRECEDENCE[outcome.ending] >= _PRECEDENCE[earlier.outcome.ending]:
                measurements[outcome.id][outcome.round] = measurement
    return {identity: [*rounds.values()] or cut.get(identity, []) for identity, rounds in measurements.items()}


def good_rounds(measurements: Sequence[Measurement], of_nodes: bool = False) -> list[Measurement]:
    """Return the rounds of an experiment that ended with "ok" and have samples; [] if any round ended with "invalid".

    ``measurements`` are the rounds of one experiment; their order is kept. If each node of a job ran the experiment
    independently, the samples of a node that did not end with "ok" are left out of the round, and the samples of a node
    with a wrong result are left out of all rounds. With ``of_nodes``, a round in which the whole job failed is also
    returned if any of its nodes ended with "ok".
    """
    if any(measurement.outcome.ending == "invalid" for measurement in measurements):
        return []
    wrong = {
        node
        for measurement in measurements
        for node, outcome in measurement.of_nodes.items()
        if outcome.ending == "invalid"
    }
    good = [
        _of_good_nodes(candidate, wrong)
        for candidate in measurements
        if candidate.outcome.ending == "ok"
        or (of_nodes and any(outcome_of_node.ending == "ok" for outcome_of_node in candidate.of_nodes.values()))
    ]
    return [measurement for measurement in good if measurement.samples]


def worst_outcome(measurements: Sequence[Measurement]) -> Outcome:
    """Return the worst outcome of an experiment's rounds and nodes: invalid, else failed, else skipped, else ok.

    Of several equally bad outcomes, the first is returned. ``measurements`` must not be empty.
    """
    outcomes = [
        outcome for measurement in measurements for outcome in (measurement.outcome, *measurement.of_nodes.values())
    ]
    return min(outcomes, key=lambda outcome: _WORST_FIRST.index(outcome.ending))


def has_failed_node(measurements: Sequence[Measurement]) -> bool:
    """Return whether any node of a job failed or had a wrong result in any of these rounds.

    It is False if the experiment was not run by each node of a job independently.
    """
    return any(
        outcome.ending in ("failed", "invalid")
        for measurement in measurements
        for outcome in measurement.of_nodes.values()
    )


def missing_rounds(measurements: Sequence[Measurement]) -> str:
    """Return a message on the rounds of an experiment that did not end with "ok", with the reasons; "" if all did.

    For example, "1 of 30 rounds failed: nameplate-core was killed by SIGKILL". The three most frequent reasons are
    given.
    """
    reasons = Counter(
        (measurement.outcome.ending, measurement.outcome.reason)
        for measurement in measurements
        if measurement.outcome.ending != "ok"
    )
    texts = [
        f"{number} of {len(measurements)} rounds {ending}: {reason}"
        for (ending, reason), number in reasons.most_common(_MAX_REASONS)
    ]
    n_rest = reasons.total() - sum(number for _, number in reasons.most_common(_MAX_REASONS))
    return "; ".join([*texts, *([f"and {n_rest} more for other reasons"] if n_rest else [])])


def _of_good_nodes(measurement: Measurement, wrong: set[int]) -> Measurement:
    left_out = wrong | {node for node, outcome in measurement.of_nodes.items() if outcome.ending != "ok"}
    if not left_out:
        return measurement
    samples = [sample for sample in measurement.samples if sample.node not in left_out]
    return msgspec.structs.replace(measurement, samples=samples)


def _of_variant(measurement: Measurement, variant: Variant | None) -> Measurement:
    if variant is None:
        return measurement
    params = {**measurement.outcome.params, "variant": variant}
    return msgspec.structs.replace(measurement, outcome=msgspec.structs.replace(measurement.outcome, params=params))
