"""Lengthen the samples of a plan to whole periods of a CPU quota."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nameplate.probes import probe_of
from nameplate.records.machine_record import QUOTA_PERIOD_S, Machine, binding_quota_cpus
from nameplate.records.plan_record import Experiment

# A sample of two and a half periods has two or three stops. With whole periods, a stop could always fall between two
# samples.
SAMPLE_S = 2.5 * QUOTA_PERIOD_S
# A slice ends with the sample that reaches it: one sample in a round, since more would leave time for fewer rounds.
SLICE_S = 2 * QUOTA_PERIOD_S
# Shorter slices are points of a curve, of which there are many.
_MIN_LENGTHENED_S = 0.02
_AREAS = ("cpu", "memory")


def over_whole_periods(experiments: Sequence[Experiment], machine: Machine) -> list[Experiment]:
    """Return the experiments with samples that show a CPU quota of the machine.

    A quota stops the workers once in a period, usually of 100 ms. Shorter samples end before that, or the stop falls
    between two of them, and the machine seems to have no quota. If there is a quota below the number of CPUs, the
    samples of CPU and memory probes become at least 250 ms, and their slices at least 200 ms; slices of less than 20 ms
    and all other probes are returned unchanged. Call it before series are made of the experiments.
    """
    if binding_quota_cpus(machine) is None:
        return list(experiments)
    return [
        _lengthened(experiment)
        if probe_of(experiment.probe).area in _AREAS and experiment.slice_s >= _MIN_LENGTHENED_S
        else experiment
        for experiment in experiments
    ]


def _lengthened(experiment: Experiment) -> Experiment:
    sample_s = max(experiment.sample_s or 0.0, SAMPLE_S)
    return msgspec.structs.replace(experiment, slice_s=max(experiment.slice_s, SLICE_S), sample_s=sample_s)
