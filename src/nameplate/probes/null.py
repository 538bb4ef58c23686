"""This probe measures the overhead of nameplate itself: the time of a sample beyond the requested duration."""

from __future__ import annotations

from nameplate.probes import ParameterSweep, Probe, Ratio, ResolvedExperiment, repetitions
from nameplate.probes.interface.recorded import Recorded
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample


def _beyond_duration(experiment: ResolvedExperiment, sample: Sample) -> float:
    return sample.elapsed_s - float(experiment.params["duration"]) * sample.repetitions


PROBE = Probe(
    name="null",
    title="Tool overhead",
    metrics=(Ratio("overhead", "s", "lower", _beyond_duration, repetitions),),
    recorded=Recorded(params=("duration",), numbers={"duration": 0.0}),
    rated=lambda _, __, ___: Rated(None, "an overhead is not specified"),
    full=(ParameterSweep({"duration": "0,100us"}, slice_s=0.2),),
)
