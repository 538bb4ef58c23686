"""How long a plan takes, and how its slices are shortened so that all of its rounds end within the budget.

In each round an experiment takes its slice and, besides, its set-up, warm-up and calibration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from nameplate.errors import UsageError
from nameplate.probes import probe_of
from nameplate.records.model import Experiment, Limits, Plan

# Six independent values are the fewest whose minimum and maximum cover the median with 95 %.
MIN_ROUNDS = 6
# A slice or a series is not shortened below these.
MIN_SLICE_S = 0.05
MIN_INTERVALS = 10
# Samples of this length are usual; calibration takes the time of so many of them.
USUAL_SAMPLE_S = 0.01
CALIBRATION_SAMPLES = 3
USUAL_WARMUP_S = 0.02
USUAL_CALIBRATION_S = USUAL_WARMUP_S + CALIBRATION_SAMPLES * USUAL_SAMPLE_S
# A round starts a core.
START_CORE_S = 0.1
# A command starts, describes the machine, and summarises so many experiments a second in the end.
START_COMMAND_S = 1.0
SUMMARISED_PER_S = 500
# A run may end this much after its budget: an estimate is not exact, and what is left should not be wasted.
MAX_OVERRUN_SHARE = 0.02
MAX_OVERRUN_S = 2.0


def full_slice_s(experiment: Experiment, limits: Limits) -> float:
    """Return the time of an experiment's samples in a round, in seconds: what is planned, or the samples asked for."""
    return limits.series_s or max(experiment.slice_s, _asked_s(limits))


def min_slice_s(experiment: Experiment, limits: Limits) -> float:
    """Return the time in seconds that a slice or a series keeps however short the budget is."""
    full_s = full_slice_s(experiment, limits)
    if limits.series_s:
        return full_s
    if experiment.interval_s:
        return min(full_s, MIN_INTERVALS * experiment.interval_s)
    return min(full_s, max(MIN_SLICE_S, limits.sample_s or 0.0, _asked_s(limits)))


def slice_between_s(experiment: Experiment, limits: Limits, share: float) -> float:
    """Return the slice at ``share`` of the way from the shortest to the full one; of a series, whole intervals."""
    least_s, full_s = min_slice_s(experiment, limits), full_slice_s(experiment, limits)
    between_s = least_s + share * (full_s - least_s)
    if experiment.interval_s is None:
        return between_s
    return max(least_s, math.floor(between_s / experiment.interval_s + 1e-9) * experiment.interval_s)


def turns_of(experiment: Experiment, turns: int) -> int:
    """Return how many times an experiment takes its slice in a round when nodes take turns: all ranks share a job's."""
    return 1 if probe_of(experiment.probe).takes_whole_job else turns


def beside_slice_s(experiment: Experiment, limits: Limits) -> float:
    """Return what an experiment takes besides its slice in a round, in seconds.

    Probes estimate it for the usual warm-up and samples; of longer samples, the last one ends half of one too late.
    """
    sample_s = limits.sample_s or experiment.sample_s or USUAL_SAMPLE_S
    calibrated_s = limits.warmup_s + CALIBRATION_SAMPLES * min(sample_s, USUAL_SAMPLE_S)
    longer_s = max(0.0, sample_s - USUAL_SAMPLE_S) / 2
    estimated_s = probe_of(experiment.probe).beside_slice_s(experiment.params)
    return max(0.0, estimated_s - USUAL_CALIBRATION_S + calibrated_s + longer_s)


def closing_s(plan: Plan) -> float:
    """Return the time in seconds that a command needs after its last round, to summarise what it measured."""
    return len(plan.experiments) / SUMMARISED_PER_S


def overrun_s(limits: Limits) -> float:
    """Return how many seconds after its budget the last experiment of a run may end."""
    return min(MAX_OVERRUN_S, MAX_OVERRUN_SHARE * limits.budget_s)


def round_s(plan: Plan, turns: int = 1, with_dense: bool = False) -> float:
    """Return how long a round takes in seconds; dense points are measured in some rounds only.

    ``turns`` is the number of nodes that take a single machine's probe one after the other.
    """
    limits = plan.limits
    rounds = limits.rounds or MIN_ROUNDS
    return sum(
        turns_of(e, turns) * (full_slice_s(e, limits) + beside_slice_s(e, limits)) / (rounds if e.interval_s else 1)
        for e in plan.experiments
        if with_dense or not e.dense
    )


def longest_s(plan: Plan, turns: int = 1) -> float:
    """Return how long a run may take in seconds; where its rounds are fixed and unlimited, twice the estimate."""
    limits = plan.limits
    if limits.rounds and not limits.budget_binds:
        return 2 * limits.rounds * round_s(plan, turns, with_dense=True)
    return limits.budget_s


def with_turns(plan: Plan, turns: int, options: Mapping[str, str]) -> Plan:
    """Multiply the budget by the number of nodes that take turns, unless the user gave a budget or rounds."""
    if options.keys() & {"budget", "rounds"} or all(probe_of(e.probe).takes_whole_job for e in plan.experiments):
        return plan
    limits = msgspec.structs.replace(plan.limits, budget_s=plan.limits.budget_s * turns)
    return msgspec.structs.replace(plan, limits=limits)


def fit(plan: Plan, turns: int = 1, reserved_s: float = 0.0) -> Plan:
    """Shorten the slices and series of a plan so that all of its rounds end within a budget that binds.

    ``reserved_s`` is what the budget must hold besides: the reference tools. Raises UsageError, with the smallest
    budget that works, where not even the shortest slices fit.
    """
    limits = plan.limits
    if not limits.budget_binds:
        return plan
    certain = [experiment for experiment in plan.experiments if not experiment.dense]
    left_s = limits.budget_s - reserved_s - least_s(plan, turns)
    if left_s < 0:
        smallest_s = math.ceil(limits.budget_s - left_s)
        rounds = limits.rounds or MIN_ROUNDS
        raise UsageError(
            f"--budget {limits.budget_s:g}s is too short for {rounds} round{'s' if rounds > 1 else ''} of {plan.name}: "
            f"give {smallest_s}s or more"
        )
    full_s = _of_all_rounds(certain, limits, turns, lambda e: full_slice_s(e, limits))
    span_s = full_s - _of_all_rounds(certain, limits, turns, lambda e: min_slice_s(e, limits))
    if left_s >= span_s:
        return plan
    shortened = [
        msgspec.structs.replace(e, slice_s=slice_between_s(e, limits, left_s / span_s)) for e in plan.experiments
    ]
    share = (full_s - span_s + left_s) / full_s
    words = f"slices and series have {share:.1%} of their full length, to fit {limits.budget_s:g} s"
    return msgspec.structs.replace(plan, experiments=shortened, notes=[*plan.notes, words])


def least_s(plan: Plan, turns: int = 1) -> float:
    """Return how long a plan takes in seconds with its shortest slices, without the reference tools."""
    certain = [experiment for experiment in plan.experiments if not experiment.dense]
    limits = plan.limits
    measured_s = _of_all_rounds(certain, limits, turns, lambda e: min_slice_s(e, limits) + beside_slice_s(e, limits))
    return START_COMMAND_S + (limits.rounds or MIN_ROUNDS) * START_CORE_S + measured_s + closing_s(plan)


def _asked_s(limits: Limits) -> float:
    return (limits.samples or 1) * (limits.sample_s or 0.0)


def _of_all_rounds(
    experiments: Sequence[Experiment], limits: Limits, turns: int, seconds_of: Callable[[Experiment], float]
) -> float:
    rounds = limits.rounds or MIN_ROUNDS
    return sum((1 if e.interval_s else rounds) * turns_of(e, turns) * seconds_of(e) for e in experiments)
