from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import msgspec
import pytest

import run_samples as rs
from nameplate.records.run_record import Sample, Work
from nameplate.records.series_events import OverTime
from nameplate.report.content.event_text import lines, sentence, verdict
from nameplate.results.series_summary import summarise_series
from nameplate.results.summarise import summarise

QUIET = {"involuntary_switches": 1.0, "burst_s": 9e-6, "steal_s": 0.0}


def series(
    rate: Callable[[int], float], disturbed: Callable[[int], Mapping[str, float]], count: int = 600
) -> list[Sample]:
    """Return a series with one sample per second."""
    noise = random.Random(1)
    return [
        Sample(
            id="x", index=i, start_s=0.05 + i, elapsed_s=1.0, repetitions=1,
            work=Work(0, int(rate(i) * 1e9 * (1 + noise.gauss(0, 0.008))), 0),
            counters={"cpu_user_s": 1.0, "cpu_system_s": 0.0, "burst_s": 9e-6},
            disturbed={**QUIET, "between_calls_s": 5e-4, **disturbed(i)},
        )
        for i in range(count)
    ]  # fmt: skip


def view(samples: list[Sample]) -> OverTime:
    seen = summarise_series([sample.work.flops / sample.elapsed_s for sample in samples], samples, "higher", 1.0, 5e10)
    assert seen is not None
    return seen


def test_the_dips_of_the_study_are_reported_with_the_steal_that_causes_them() -> None:
    samples = series(
        lambda i: 44 if i % 60 == 13 else 50, lambda i: {"steal_s": 0.38 if i % 60 == 13 else 0.002 * (i % 3)}
    )
    (event,) = view(samples).events
    assert (
        sentence(event)
        == "every 60 s for 1 s it falls by 12 % (10 times from 13 s), with steal (38 % of a CPU; otherwise 0 %)"
    )
    assert event.still == ["clock", "involuntary switches"]


def test_unexplained_dips_are_reported_as_such() -> None:
    (event,) = view(series(lambda i: 44 if i % 60 == 13 else 50, lambda i: {"steal_s": 0.02 * (i % 7 == 0)})).events
    assert sentence(event).endswith("and no link with steal, clock, involuntary switches and CPU time is shown")


def test_a_condition_that_changes_the_other_way_is_not_a_cause() -> None:
    samples = series(
        lambda i: 44 if i % 60 == 13 else 50,
        lambda i: {"involuntary_switches": 2.0 if i % 60 == 13 else 60.0 + i % 3, "steal_s": 0.02 * (i % 7 == 0)},
    )
    (event,) = view(samples).events
    assert event.moved == []
    assert sentence(event).endswith("and no link with steal, clock and CPU time is shown")


def test_exhausted_credits_are_a_burst_and_a_level_with_a_slower_clock() -> None:
    noise = random.Random(2)
    seen = view(
        series(
            lambda i: 50 if i < 350 else 40,
            lambda i: {
                "burst_s": (9e-6 if i < 350 else 11.25e-6) * (1 + noise.gauss(0, 1e-3)),
                "temperature_celsius": 60.0,
            },
        )
    )
    assert seen.burst == pytest.approx(50e9, rel=0.01)
    assert seen.burst_s == pytest.approx(350, abs=2)
    assert [round(level.value / 1e9) for level in seen.levels] == [50, 40]
    (event,) = seen.events
    assert sentence(event) == "from 350 s to 600 s it falls by 20 %, with a slower clock (-20.0 %)"
    assert seen.overhead_share == pytest.approx(5e-4)


def test_a_single_dip_is_reported_with_throttling_of_the_control_group() -> None:
    samples = series(lambda i: 29.5 if i == 200 else 50, lambda i: {"cgroup_throttled": 10.0 * (i == 200)})
    (event,) = view(samples).events
    assert sentence(event) == "at 200 s for 1 s it falls by 42 %, with cgroup throttling (10 per second; otherwise 0)"


def test_a_rise_of_latency_is_a_dip() -> None:
    samples = series(lambda i: 50, lambda _: {})
    values = [1e-6 * (1.3 if i % 30 == 5 else 1) * (1 + 0.001 * (i % 7)) for i in range(600)]
    seen = summarise_series(values, samples, "lower", 1.0, 1e-6)
    assert seen is not None
    (event,) = seen.events
    assert sentence(event).startswith("every 30 s for 1 s it rises by 30 % (20 times from 5 s)")
    assert seen.levels[0].value == pytest.approx(1e-6, rel=0.01)


def test_very_many_samples_are_averaged_in_steps() -> None:
    samples = series(lambda i: 50 if i < 1500 else 40, lambda _: {}, 4000)
    seen = view(samples)
    assert seen.interval_s == pytest.approx(1)
    assert [round(level.start_s) for level in seen.levels] == [0, pytest.approx(1500, abs=9)]


def test_the_summary_is_in_the_terminal_and_in_the_rows() -> None:
    samples = series(lambda i: 50, lambda _: {})
    file = rs.run_of_one("cpu_flops", {"isa": "avx512", "threads": 1}, rs.FACTS, samples)
    plan = msgspec.structs.replace(file.run.plan, limits=rs.plan("x", series_s=600.0, interval_s=1.0).limits)
    file = msgspec.structs.replace(file, run=msgspec.structs.replace(file.run, plan=plan))
    first, *rest = summarise(file).results
    seen = first.summary.over_time
    assert seen is not None
    assert all(result.summary.over_time is None for result in rest)
    assert seen.p1 == first.summary.p99
    said = lines(first.summary, seen)
    assert said[0].startswith("burst 5")
    assert seen.verdict == "steady"
    assert said[1].startswith("steady: a lasting change of 1")
    assert said[1].endswith(" % would have been found")
    assert said[2:] == ["nameplate itself used 0.05 % of the time"]


def test_a_series_of_a_busy_machine_is_too_noisy() -> None:
    random_ = random.Random(3)
    rates = [6 * 10 ** (-2 * random_.random() ** 2) for _ in range(120)]
    seen = view(series(rates.__getitem__, lambda _: {}, 120))
    assert seen.verdict == "too noisy"
    said = verdict(seen)
    assert said.startswith("too noisy to tell: intervals differ by ±")
    assert said.endswith("dips of any size in one interval of ten and a single dip of any size")


def test_a_dip_of_1_s_in_intervals_of_half_a_second_is_reported_with_1_s() -> None:
    samples = [
        msgspec.structs.replace(sample, start_s=i / 2, elapsed_s=0.5, work=Work(0, int(25e9 * (1 - dip)), 0))
        for i, (sample, dip) in enumerate(
            zip(series(lambda _: 50, lambda _: {}, 120), ([0.0] * 13 + [0.2, 0.5, 0.3] + [0.0] * 4) * 6, strict=True)
        )
    ]
    rates = [sample.work.flops / sample.elapsed_s * (1 + 0.001 * (i % 7)) for i, sample in enumerate(samples)]
    seen = summarise_series(rates, samples, "higher", 0.5, 5e10)
    assert seen is not None
    (event,) = seen.events
    assert sentence(event).startswith("every 10 s for 1 s it falls by 50 % (6 times from ")


def test_a_drift_is_reported_with_the_falling_clock() -> None:
    samples = series(lambda i: 50 - i / 30, lambda i: {"burst_s": 9e-6 / (1 - i / 1500)})
    (event,) = view(samples).events
    assert sentence(event).startswith("from ")
    assert " it drifts down by 39 %, with a slower clock (" in sentence(event) or " by 40 %, with a slower" in sentence(
        event
    )


def test_a_series_of_an_earlier_version_has_no_verdict() -> None:
    seen = view(series(lambda i: 50, lambda _: {}))
    fields = msgspec.to_builtins(seen)
    del fields["verdict"], fields["sensitivity"]
    assert verdict(msgspec.convert(fields, OverTime)) == "no change of level and no dips were found"


def test_too_few_samples_give_no_verdict() -> None:
    samples = series(lambda i: 50, lambda _: {}, 19)
    assert summarise_series([1.0] * 19, samples, "higher", 1.0, 1.0) is None
