"""The value of a metric in a round: the session, summaries, digests and results have the same one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec
import pytest

from nameplate.probes import Probe, ResolvedExperiment, load_probes, probe_of
from nameplate.records.result import Result
from nameplate.results.digest import digest_of, digest_of_report
from nameplate.results.measurements import Measurement, RunFile
from nameplate.results.metric_rounds import main_values, values_in_round
from nameplate.results.rounds import good_rounds, rounds_by_experiment
from nameplate.results.run_file import read_run
from nameplate.results.summarise import measured_values, summarise
from recorded_runs import RUNS, recorded_file

# The experiments of one probe in a recorded run, enough to have each of its metrics.
MAX_EXPERIMENTS = 4
# Metrics whose counters earlier versions did not record.
LATER = ("unscaled_residual", "intel_residual")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[RunFile]:
    folder = tmp_path_factory.mktemp("recorded")
    return [read_run(recorded_file(path.stem, folder)) for path in RUNS]


def part_of(file: RunFile, measurements: Sequence[Measurement]) -> RunFile:
    """Return a run of the experiments of some measurements only."""
    ids = {measurement.outcome.id for measurement in measurements}
    experiments = [experiment for experiment in file.run.plan.experiments if experiment.id in ids]
    plan = msgspec.structs.replace(file.run.plan, experiments=experiments)
    run = msgspec.structs.replace(file.run, plan=plan)
    return msgspec.structs.replace(file, run=run, measurements=list(measurements))


def parts_with(probe: str, recorded: Sequence[RunFile]) -> Iterator[RunFile]:
    """Yield a part of each recorded run that measured the probe: some of its experiments, in two rounds."""
    for file in recorded:
        rounds = [good[:2] for good in map(good_rounds, rounds_by_experiment(file).values())
                  if good and good[0].outcome.probe == probe]  # fmt: skip
        spread = rounds[:: max(1, len(rounds) // MAX_EXPERIMENTS)]
        if spread:
            yield part_of(file, [measurement for measurements in spread for measurement in measurements])


def _always(_: ResolvedExperiment) -> bool:
    return True


def _never(_: ResolvedExperiment) -> bool:
    return False


def _nothing(_: object, __: object) -> list[Result]:
    return []


def subsets(probe: Probe) -> Iterator[Probe]:
    """Yield the probe with every combination of the metrics that its experiments have.

    The percentiles are there together or not at all, since their combinations would be too many.
    """
    names = ["pooled" if metric.is_pooled else metric.name for metric in probe.metrics]
    distinct = list(dict.fromkeys(names))
    for has in itertools.product([True, False], repeat=len(distinct)):
        has_metric = dict(zip(distinct, has, strict=True))
        metrics = tuple(
            replace(metric, when=_never if not has_metric[name] else metric.when if name in LATER else _always)
            for metric, name in zip(probe.metrics, names, strict=True)
        )
        yield replace(probe, metrics=metrics, tables=None, derive=_nothing)


def check(file: RunFile) -> None:
    """Assert that everything that computes values has the same ones."""
    report = summarise(file)
    results = [result for result in report.results if result.kind == "measured" and result.summary.value is not None]
    of_results = {(r.id, r.summary.metric): (r.summary.value, r.summary.ci) for r in results}
    assert {(m.experiment, m.key.metric): (m.value, m.ci) for m in measured_values(file)} == of_results
    assert digest_of(file).values == digest_of_report(report).values
    assert file.machine is not None
    for identity, measurements in rounds_by_experiment(file).items():
        rounds = good_rounds(measurements)
        probe = probe_of(rounds[0].outcome.probe)
        values = main_values(probe, [values_in_round(probe, measurement, file.machine) for measurement in rounds])
        printed = next((result for result in results if result.id == identity and not result.is_pooled), None)
        assert values == ([] if printed is None else printed.round_values), identity


@pytest.mark.parametrize("name", sorted(load_probes()))
def test_every_reader_has_the_same_value_with_any_metrics(
    name: str, recorded: list[RunFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = list(parts_with(name, recorded))
    assert parts, f"no recorded run measured {name}"
    for probe, file in itertools.product(subsets(load_probes()[name]), parts):
        monkeypatch.setitem(load_probes(), name, probe)
        check(file)


def test_the_precision_of_paced_requests_is_that_of_a_metric_that_they_have(recorded: list[RunFile]) -> None:
    """With ``rate`` the metric ``latency`` is left out, so a run must not rest on it."""
    file = next(parts_with("net_pingpong", recorded))
    paced = [
        msgspec.structs.replace(
            m, outcome=msgspec.structs.replace(m.outcome, params={**m.outcome.params, "rate": 1000})
        )
        for m in file.measurements
    ]
    assert file.machine is not None
    probe = probe_of("net_pingpong")
    first = next(r for r in summarise(part_of(file, paced)).results if r.id == paced[0].outcome.id)
    assert first.summary.metric != "latency"
    values = [values_in_round(probe, m, file.machine) for m in paced if m.outcome.id == first.id]
    assert main_values(probe, values) == first.round_values
