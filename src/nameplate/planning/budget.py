"""Estimate the time of a plan, and shorten its slices so that all of its rounds end within the budget.

In each round an experiment takes its slice and, in addition, its set-up, warm-up and calibration.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from nameplate.errors import UsageError
from nameplate.probes import probe_of
from nameplate.records.plan_record import Experiment, Limits, Plan
from nameplate.units import percent_text

# Six is the minimum number of independent values whose range covers the median with a probability of 95 %.
MIN_ROUNDS = 6
# A slice or a series is not shortened below these limits.
MIN_SLICE_S = 0.05
MIN_INTERVALS = 10
# The default length of a sample. Calibration takes the time of several samples.
DEFAULT_SAMPLE_S = 0.01
CALIBRATION_SAMPLES = 3
DEFAULT_WARMUP_S = 0.02
DEFAULT_CALIBRATION_S = DEFAULT_WARMUP_S + CALIBRATION_SAMPLES * DEFAULT_SAMPLE_S
# Each round starts a core.
START_CORE_S = 0.1
# The start of the command and the description of the machine.
START_COMMAND_S = 1.0
# The rates at which experiments and samples are read and summarised at the end.
SUMMARISED_PER_S = 500
SAMPLES_SUMMARISED_PER_S = 20_000
# The note of a shortened plan, as this version and earlier versions write it.
_SHORTENED = re.compile(r"slices and series (?:are shortened to|have) ([\d.]+) ?% of")
# The part of a budget that is kept for experiments that take longer than estimated.
MARGIN_SHARE = 0.02
MAX_MARGIN_S = 2.0


def full_slice_s(experiment: Experiment, limits: Limits) -> float:
    """Return the time in seconds that an experiment samples in each round if the budget does not shorten it.

    If ``limits`` request a series, it is the length of the series. Otherwise it is the planned slice, or the time of
    the requested samples if that is longer: ``limits.samples`` (None counts as 1) times ``limits.sample_s`` (None
    counts as 0).
    """
    return limits.series_s or max(experiment.slice_s, _asked_s(limits))


def min_slice_s(experiment: Experiment, limits: Limits) -> float:
    """Return the minimum time in seconds to which a binding budget may shorten an experiment's slice or series.

    A slice keeps at least 50 ms and the time of the requested samples (see ``full_slice_s``). A series of the plan
    keeps at least ten intervals. A slice or series that is shorter than that is not shortened, nor is a series that
    ``limits`` request.
    """
    full_s = full_slice_s(experiment, limits)
    if limits.series_s:
        return full_s
    if experiment.interval_s:
        return min(full_s, MIN_INTERVALS * experiment.interval_s)
    return min(full_s, max(MIN_SLICE_S, limits.sample_s or 0.0, _asked_s(limits)))


def slice_between_s(experiment: Experiment, limits: Limits, share: float) -> float:
    """Return the slice in seconds at ``share`` (0 to 1) of the way from the minimum slice to the full slice.

    The slice of a series is rounded down to whole intervals, but not below its minimum.
    """
    min_s, full_s = min_slice_s(experiment, limits), full_slice_s(experiment, limits)
    between_s = min_s + share * (full_s - min_s)
    if experiment.interval_s is None:
        return between_s
    return max(min_s, math.floor(between_s / experiment.interval_s + 1e-9) * experiment.interval_s)


def turns_of(experiment: Experiment, turns: int) -> int:
    """Return how many times an experiment takes its slice in a round.

    ``turns`` is the number of nodes that measure one after another. For a single-machine probe the result is ``turns``.
    For a probe that uses the whole job the result is 1, since all ranks share one slice.
    """
    return 1 if probe_of(experiment.probe).takes_all_ranks else turns


def overhead_s(experiment: Experiment, limits: Limits) -> float:
    """Return the estimated time in seconds that an experiment takes in a round besides its slice, on one node.

    The time covers set-up, warm-up and calibration. The probe's estimate, which is for the default warm-up and sample
    length, is adjusted to the warm-up of ``limits`` and to the sample length of ``limits`` or ``experiment``. With
    longer samples, the last sample ends on average half a sample late.
    """
    sample_s = limits.sample_s or experiment.sample_s or DEFAULT_SAMPLE_S
    calibrated_s = limits.warmup_s + CALIBRATION_SAMPLES * min(sample_s, DEFAULT_SAMPLE_S)
    longer_s = max(0.0, sample_s - DEFAULT_SAMPLE_S) / 2
    estimated_s = probe_of(experiment.probe).total_overhead_s(experiment.params, experiment.overhead_s)
    return max(0.0, estimated_s - DEFAULT_CALIBRATION_S + calibrated_s + longer_s)


def closing_s(limits: Limits, n_experiments: int, n_samples: int = 0) -> float:
    """Return the estimated time in seconds that a command needs after its last round to summarise the run.

    It is the sum of 1 % of the budget (at most 1 s), in which libraries are loaded, 2 ms for each of ``n_experiments``
    measured experiments, and 50 µs for each of ``n_samples`` samples of all experiments. A busy machine needs longer.
    """
    load_s = margin_s(limits) / 2
    return load_s + n_experiments / SUMMARISED_PER_S + n_samples / SAMPLES_SUMMARISED_PER_S


def margin_s(limits: Limits) -> float:
    """Return the part of a budget in seconds that is reserved for experiments that take longer than estimated.

    It is 2 % of the budget, at most 2 s.
    """
    return min(MAX_MARGIN_S, MARGIN_SHARE * limits.budget_s)


def round_s(plan: Plan, turns: int = 1, with_dense: bool = False) -> float:
    """Return the estimated time of a round in seconds, with full slices and overhead.

    ``turns`` is the number of nodes that run a single-machine probe one after another. Dense experiments are measured
    only in some rounds, so they count only if ``with_dense`` is True. A series is measured in one round only, so each
    round counts an equal part of it.
    """
    limits = plan.limits
    rounds = limits.rounds or MIN_ROUNDS
    return sum(
        turns_of(e, turns) * (full_slice_s(e, limits) + overhead_s(e, limits)) / (rounds if e.interval_s else 1)
        for e in plan.experiments
        if with_dense or not e.dense
    )


def longest_s(plan: Plan, turns: int = 1) -> float:
    """Return the maximum time in seconds that a run may take.

    For fixed rounds without a binding budget, it is twice the estimate for all rounds with all dense experiments. In
    all other cases, it is the budget.

    ``turns`` is the number of nodes that run a single-machine probe one after another.
    """
    limits = plan.limits
    if limits.rounds and not limits.budget_binds:
        return 2 * limits.rounds * round_s(plan, turns, with_dense=True)
    return limits.budget_s


def with_turns(plan: Plan, turns: int, options: Mapping[str, str]) -> Plan:
    """Return the plan with its budget multiplied by ``turns``, the number of nodes that measure one after another.

    ``options`` are the user's limits by name. The plan is returned unchanged if ``options`` has ``budget`` or
    ``rounds``, or if every probe of the plan uses the whole job.
    """
    if options.keys() & {"budget", "rounds"} or all(probe_of(e.probe).takes_all_ranks for e in plan.experiments):
        return plan
    limits = msgspec.structs.replace(plan.limits, budget_s=plan.limits.budget_s * turns)
    return msgspec.structs.replace(plan, limits=limits)


def fit(plan: Plan, turns: int = 1, reserved_s: float = 0.0) -> Plan:
    """Return the plan with slices and series shortened so that all of its rounds end within a binding budget.

    All slices and series are shortened to the same share of the way from the minimum to the full length, and a note of
    the plan says so. The plan is returned unchanged if its budget does not bind (``Limits.budget_binds``) or is long
    enough. The estimate leaves out dense experiments, and assumes six rounds if the rounds are not fixed.

    ``turns`` is the number of nodes that run a single-machine probe one after another. ``reserved_s`` is the part of
    the budget in seconds for reference tools and the writing of test files.

    Raises:
        UsageError: not even the minimum slices fit; the message has the smallest sufficient budget.
    """
    limits = plan.limits
    if not limits.budget_binds:
        return plan
    certain = [experiment for experiment in plan.experiments if not experiment.dense]
    # The part of the summary's time that depends on the budget is left out.
    needed_s = reserved_s + min_plan_s(plan, turns) - margin_s(limits) / 2
    left_s = limits.budget_s - 1.5 * margin_s(limits) - needed_s
    if left_s < 0:
        smallest_s = math.ceil(min(needed_s / (1 - 1.5 * MARGIN_SHARE), needed_s + 1.5 * MAX_MARGIN_S))
        rounds = limits.rounds or MIN_ROUNDS
        raise UsageError(
            f"--budget {limits.budget_s:g}s: too short for {rounds} round{'s' if rounds > 1 else ''} of {plan.name}; "
            f"use {smallest_s}s or more"
        )
    full_s = _of_all_rounds(certain, limits, turns, lambda e: full_slice_s(e, limits))
    span_s = full_s - _of_all_rounds(certain, limits, turns, lambda e: min_slice_s(e, limits))
    if left_s >= span_s:
        return plan
    shortened = [
        msgspec.structs.replace(e, slice_s=slice_between_s(e, limits, left_s / span_s)) for e in plan.experiments
    ]
    share = (full_s - span_s + left_s) / full_s
    note = (
        f"slices and series are shortened to {percent_text(share)} of their full length, to fit {limits.budget_s:g} s"
    )
    return msgspec.structs.replace(plan, experiments=shortened, notes=[*plan.notes, note])


def shortened_percent(notes: Sequence[str]) -> str | None:
    """Return the length of shortened slices and series in percent of their full length, as text such as ``62.5``.

    ``notes`` are the notes of a plan, in which ``fit`` writes this percentage. The result is None if no note has a
    percentage, which means that nothing was shortened.
    """
    return next((match[1] for note in notes if (match := _SHORTENED.search(note))), None)


def min_plan_s(plan: Plan, turns: int = 1) -> float:
    """Return the estimated time in seconds of a whole run with minimum slices and without dense experiments.

    The time includes the start of the command and of a core in each round, the overhead of experiments, and the
    summary, but no reference tools. Six rounds are assumed if the rounds are not fixed. ``turns`` is the number of
    nodes that run a single-machine probe one after another.
    """
    certain = [experiment for experiment in plan.experiments if not experiment.dense]
    limits = plan.limits
    measured_s = _of_all_rounds(certain, limits, turns, lambda e: min_slice_s(e, limits) + overhead_s(e, limits))
    return (
        START_COMMAND_S
        + (limits.rounds or MIN_ROUNDS) * START_CORE_S
        + measured_s
        + closing_s(limits, len(plan.experiments))
    )


def _asked_s(limits: Limits) -> float:
    return (limits.samples or 1) * (limits.sample_s or 0.0)


def _of_all_rounds(
    experiments: Sequence[Experiment], limits: Limits, turns: int, seconds_of: Callable[[Experiment], float]
) -> float:
    rounds = limits.rounds or MIN_ROUNDS
    return sum((1 if e.interval_s else rounds) * turns_of(e, turns) * seconds_of(e) for e in experiments)
