"""This probe measures the overhead of nameplate itself: what a sample shows beyond the time in which nothing was
done.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Metric, ParameterSweep, Probe, Ratio, ResolvedExperiment, repetitions
from nameplate.probes.shared.recorded import Recorded
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample


def _beyond_duration(experiment: ResolvedExperiment, sample: Sample) -> float:
    return sample.elapsed_s - float(experiment.params["duration"]) * sample.repetitions


def _rated(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> Rated:
    return Rated(None, "an overhead is not specified")


PROBE = Probe(
    name="null",
    title="Tool overhead",
    metrics=(Ratio("overhead", "s", "lower", _beyond_duration, repetitions),),
    recorded=Recorded(params=("duration",)),
    rated=_rated,
    full=(ParameterSweep({"duration": "0,100us"}, slice_s=0.2),),
)
