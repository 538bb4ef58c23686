"""Lengthen the samples of a plan so that they show a CPU quota."""

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
# Shorter slices are points of a curve. A curve has too many points to lengthen all of them.
_MIN_LENGTHENED_S = 0.02
_AREAS = ("cpu", "memory")


def over_full_periods(experiments: Sequence[Experiment], machine: Machine) -> list[Experiment]:
    """Return the experiments, with samples of CPU and memory probes that are long enough to show a CPU quota.

    A quota stops the workers once in a period, usually of 100 ms. Shorter samples end before that, or the stop falls
    between two of them, and the machine seems to have no quota. If the machine has a quota below its number of CPUs,
    samples of CPU and memory probes become at least 250 ms long, and their slices at least 200 ms. Slices of less than
    20 ms and the experiments of all other probes stay unchanged. Call this function before series are made of the
    experiments.
    """
    if binding_quota_cpus(machine) is None:
        return list(experiments)
    return [
        msgspec.structs.replace(
            experiment,
            slice_s=max(experiment.slice_s, SLICE_S),
            sample_s=max(experiment.sample_s or 0.0, SAMPLE_S),
        )
        if probe_of(experiment.probe).area in _AREAS and experiment.slice_s >= _MIN_LENGTHENED_S
        else experiment
        for experiment in experiments
    ]
