"""Choose the rounds that the results of an experiment are computed from.

A round that failed, such as one whose process was killed, costs only itself. A wrong result withdraws the values of all
rounds, since nothing says that those before it were right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from nameplate.records.plan_record import Variant
from nameplate.records.run_record import Ending, Outcome
from nameplate.results.measurements import Measurement, RunFile

_MAX_REASONS = 3
# Which of several outcomes of the same round counts: a wrong result, else a success, else the last one.
_PRECEDENCE: dict[Ending, int] = {"invalid": 2, "ok": 1, "failed": 0, "skipped": 0}
_WORST_FIRST = ("invalid", "failed", "skipped", "ok")


def rounds_by_experiment(file: RunFile) -> dict[str, list[Measurement]]:
    """Return one measurement per round of each experiment of the plan, by the experiment's id.

    A round that failed and was measured again by a resumed run has its later measurement. An interrupted measurement is
    returned only if its experiment has no other. The two variants of ``nameplate ab`` may have the same parameters, so
    the variant is one of them.
    """
    variants = {experiment.id: experiment.variant for experiment in file.run.plan.experiments if experiment.variant}
    whole: dict[str, dict[int, Measurement]] = {experiment.id: {} for experiment in file.run.plan.experiments}
    cut: dict[str, list[Measurement]] = {}
    for recorded in file.measurements:
        measurement = _of_variant(recorded, variants.get(recorded.outcome.id))
        outcome = measurement.outcome
        if outcome.interrupted and outcome.ending != "invalid":
            cut[outcome.id] = [measurement]
        elif outcome.id in whole and _counts_more(outcome, whole[outcome.id].get(outcome.round)):
            whole[outcome.id][outcome.round] = measurement
    return {identity: [*rounds.values()] or cut.get(identity, []) for identity, rounds in whole.items()}


def good_rounds(measurements: Sequence[Measurement], of_nodes: bool = False) -> list[Measurement]:
    """Return the rounds of an experiment that ended with "ok" and have samples.

    With ``of_nodes``, a round in which the job failed is returned too if nodes had ended before. The list is empty if
    any round is "invalid". If each node of a job ran the experiment on its own, the samples of a node that did not end
    with "ok" are left out, and those of a node with a wrong result in all rounds.
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
        _of_good_nodes(each, wrong)
        for each in measurements
        if each.outcome.ending == "ok" or (of_nodes and any(own.ending == "ok" for own in each.of_nodes.values()))
    ]
    return [measurement for measurement in good if measurement.samples]


def worst_outcome(measurements: Sequence[Measurement]) -> Outcome:
    """Return the first of the worst outcomes of an experiment, which has at least one measurement."""
    outcomes = [outcome for each in measurements for outcome in (each.outcome, *each.of_nodes.values())]
    return min(outcomes, key=lambda outcome: _WORST_FIRST.index(outcome.ending))


def has_failed_node(measurements: Sequence[Measurement]) -> bool:
    """Return whether a node failed in a round, or had a wrong result, although the values of others count."""
    return any(
        outcome.ending in ("failed", "invalid")
        for measurement in measurements
        for outcome in measurement.of_nodes.values()
    )


def missing_rounds(measurements: Sequence[Measurement]) -> str:
    """Return how many rounds of an experiment are missing from its results and why; "" if none is.

    For example, "1 of 30 rounds failed: nameplate-core was killed by SIGKILL".
    """
    reasons = Counter(
        (each.outcome.ending, each.outcome.reason) for each in measurements if each.outcome.ending != "ok"
    )
    texts = [
        f"{number} of {len(measurements)} rounds {ending}: {reason}"
        for (ending, reason), number in reasons.most_common(_MAX_REASONS)
    ]
    others = reasons.total() - sum(number for _, number in reasons.most_common(_MAX_REASONS))
    return "; ".join([*texts, *([f"and {others} more for other reasons"] if others else [])])


def _counts_more(outcome: Outcome, earlier: Measurement | None) -> bool:
    return earlier is None or _PRECEDENCE[outcome.ending] >= _PRECEDENCE[earlier.outcome.ending]


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
