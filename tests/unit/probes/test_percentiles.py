"""Percentiles are those of the operations of all rounds together."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from nameplate.probes import Percentile, probe_of
from nameplate.records.run_record import Histogram, Sample
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.statistics.stats import histogram_percentile_s, merged
from recorded_runs import recorded_file
from run_samples import sample

P90 = Percentile("latency_p90", "s", "lower", 0.9)


def timed(time_ns: int, count: int, slow: int = 0) -> Sample:
    """Return a sample with operations of one time, and others of twice this time."""
    return msgspec.structs.replace(sample("x"), histogram=Histogram([time_ns, 2 * time_ns], [count, slow]))


def test_a_round_with_few_operations_does_not_hide_the_percentile_of_all() -> None:
    rounds = [[timed(100, 3000)], [timed(100, 44)], [timed(100, 3000), timed(100, 1000)]]
    typical = P90.typical_value(rounds, [])
    assert typical is not None
    assert typical.value == pytest.approx(100e-9)


def test_each_operation_counts_alike_whatever_the_number_in_its_round() -> None:
    """The median of the rounds is 200 ns; nine of ten operations took 100 ns."""
    rounds = [[timed(100, 1000)], [timed(200, 40)], [timed(200, 40)]]
    values = [P90.round_value(None, samples) for samples in rounds]  # type: ignore[arg-type]
    assert values == [pytest.approx(100e-9), pytest.approx(200e-9), pytest.approx(200e-9)]
    typical = P90.typical_value(rounds, [])
    assert typical is not None
    assert typical.value == pytest.approx(100e-9)


def test_a_percentile_needs_ten_operations_above_it() -> None:
    assert P90.typical_value([[timed(100, 60)], [timed(100, 40)]], []) is not None
    assert P90.typical_value([[timed(100, 60)], [timed(100, 39)]], []) is None
    maximum = Percentile("latency_max", "s", "lower", 1.0)
    typical = maximum.typical_value([[timed(100, 1)], [timed(100, 1, slow=1)]], [])
    assert typical is not None
    assert typical.value == pytest.approx(200e-9)
    assert typical.ci is None


def test_percentiles_of_a_run_are_those_of_the_distribution_and_have_no_capability(tmp_path: Path) -> None:
    file = read_run(recorded_file("quick", tmp_path))
    report = summarise(file)
    n_percentiles = 0
    for result in report.results:
        metric = next((m for m in probe_of(result.summary.probe).metrics if m.name == result.summary.metric), None)
        if not isinstance(metric, Percentile):
            assert not result.is_pooled
            continue
        samples = [s for m in file.measurements if m.outcome.id == result.id for s in m.samples]
        histograms = [s.histogram for s in samples if isinstance(s.histogram, Histogram)]
        assert result.is_pooled
        assert result.summary.value == pytest.approx(histogram_percentile_s(merged(histograms), metric.share))
        assert result.summary.value == result.summary.sustained
        assert result.summary.capability is None
        n_percentiles += 1
    assert n_percentiles > 10
