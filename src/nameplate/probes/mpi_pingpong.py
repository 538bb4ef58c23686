"""This probe exchanges messages between two ranks of an MPI job, with one or several pairs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from nameplate.probes import (
    ByProbe,
    ParameterChart,
    ParameterSweep,
    Probe,
    Ratio,
    ResolvedExperiment,
    elapsed,
    moved_bytes,
)
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import ScreenLine
from nameplate.probes.shared.job import placement_remark, rated_messages
from nameplate.probes.shared.message_cost import cost_results, cost_tables
from nameplate.probes.shared.pairs_at_once import pair_evidence, pair_tables, saturation_results
from nameplate.records.machine_record import Machine
from nameplate.records.result import Result, Table
from nameplate.records.run_record import Sample
from nameplate.statistics.stats import median

# Even steps, on which straight lines are fitted, more sizes below 2,000 bytes, and some off the steps.
_FINE = "1,16,64,128,256,512,768,1250,1460,1500,1750,3333,7777,20480,51111,65536"
_SIZES = f"0..100000+1000,{_FINE}"
# The sizes at which an interval around a jump in time is halved.
_BETWEEN = "64..100000+64"


def _time_under_way(_: ResolvedExperiment, sample: Sample) -> float:
    return sum(worker.elapsed_s for worker in sample.workers or [])


def _messages(_: ResolvedExperiment, sample: Sample) -> float:
    return float(sum(worker.work.ops for worker in sample.workers or []))


def _remarks(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    placement = placement_remark(int(experiment.params["pairs"]), int(experiment.facts["pairs_between_nodes"]))
    # Records of earlier versions lack this counter.
    trips = [sample.counters["line_round_trip_s"] for sample in samples if "line_round_trip_s" in sample.counters]
    typical_s = median(trips) if trips else 0.0
    of_line = [f"a cache line takes {typical_s * 1e9:.0f} ns between their CPUs and back"] if typical_s else []
    return [placement, *of_line]


def _refine(candidates: Sequence[int], medians: Mapping[int, float]) -> set[int]:
    from nameplate.statistics.piecewise_linear import halve_jumps  # noqa: PLC0415 (numpy takes a while to import)

    return halve_jumps(candidates, medians)


def _derive(by_probe: ByProbe, _: Machine) -> list[Result]:
    results = by_probe.get("mpi_pingpong", [])
    return [*cost_results(results), *saturation_results(results)]


def _tables(by_probe: ByProbe, machine: Machine) -> list[Table]:
    results = [result for result in by_probe["mpi_pingpong"] if result.summary.value is not None]
    return [*cost_tables(results, machine), *pair_tables(results, machine)]


PROBE = Probe(
    name="mpi_pingpong",
    title="MPI messages",
    metrics=(
        Ratio("latency", "s", "lower", _time_under_way, _messages),
        Ratio("bandwidth", "B/s", "higher", moved_bytes, elapsed,
              when=lambda experiment: int(experiment.params["size"]) > 0),
    ),
    recorded=Recorded(
        params=("size", "pairs", "pairing", "data"), numbers={"pairs": 1}, facts=("pairs_between_nodes",),
        worker_names="ranks",
        params_of_earlier_versions={"data": "echo"},
    ),
    defining=("size", "pairs"),
    rated=partial(rated_messages, "mpi_pingpong"),
    screen=(
        ScreenLine("MPI message of {size}", ("latency",)),
        ScreenLine("MPI message of {size}", ("bandwidth",)),
    ),
    full=(
        ParameterSweep({"size": _SIZES, "pairs": "1"}, slice_s=0.02),
        ParameterSweep({"size": "8,1000,10000,100000", "pairs": "{pairs}"}, slice_s=0.02),
    ),
    sweep=(
        ParameterSweep({"size": _SIZES, "pairs": "1"}, slice_s=0.02, curve="size", between=_BETWEEN),
        ParameterSweep({"size": "8,1000,10000,100000", "pairs": "{pairs}"}, slice_s=0.02),
    ),
    sweep_with=frozenset({"data", "pairing", "seed"}),
    refine=_refine,
    overhead_s=0.05,
    remarks=_remarks,
    evidence=pair_evidence,
    along=(
        ParameterChart("bandwidth", "pairs",
              "Bandwidth of all pairs together, by number of pairs. It should rise with the pairs until a shared "
              "resource is saturated: a network card, a switch, a memory. If one pair already reaches the maximum, "
              "all pairs use the same link."),
    ),
    network_use=lambda experiments, rounds: (
        f"{rounds * sum(experiment.slice_s for experiment in experiments):.0f} s of messages"
    ),
    derive=_derive,
    tables=_tables,
)  # fmt: skip
