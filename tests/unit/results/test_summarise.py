"""From records to metric values."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines import machine_with
from nameplate.records.result import Report, Result
from nameplate.records.run_record import Ending, Sample, Stop
from nameplate.results.digest import digest_of
from nameplate.results.line_round_trips import LINE_ROUND_TRIP, line_round_trips
from nameplate.results.measurements import Measurement, RunFile
from nameplate.results.summarise import measured_values, summarise
from run_samples import FACTS, header, outcome, plan, run, sample


def report_of(measurements: Sequence[Measurement], rated: dict[str, float] | None = None) -> Report:
    which = run(plan("a"))
    if rated:
        which = type(which)(**{**{f: getattr(which, f) for f in which.__struct_fields__}, "rated": rated})
    stop = Stop(reasons={"a": "rounds"}, elapsed_s=1.0, interrupted=False)
    return summarise(RunFile("x.jsonl", which, [header()], list(measurements), stop, 0, 0))


def rounds(*flops: int) -> list[Measurement]:
    return [
        Measurement(outcome("a", round_number=i), [sample("a", 0, f), sample("a", 1, f)]) for i, f in enumerate(flops)
    ]


def file_of(measured: list[Measurement]) -> RunFile:
    stop = Stop(reasons={"a": "rounds"}, elapsed_s=1.0, interrupted=False)
    return RunFile("x.jsonl", run(plan("a")), [header()], measured, stop, 0, 0)


def without_ports(measured: Measurement) -> Measurement:
    """Return the round with a trial of its ports that was disturbed, so that they cannot be counted."""
    facts = {**FACTS, "port_block_s": FACTS["port_block_s"] * 1.6}
    return Measurement(msgspec.structs.replace(measured.outcome, facts=facts), measured.samples)


def rate_of(report: Report) -> Result:
    return next(result for result in report.results if result.summary.metric == "rate")


def test_the_main_value_is_the_median_of_the_rounds_with_its_interval() -> None:
    row = rate_of(report_of(rounds(*(1_000_000 * f for f in (400, 410, 420, 430, 440, 450))))).summary
    assert row.value == pytest.approx(42.5e9)
    assert row.ci == pytest.approx((40e9, 45e9))
    assert (row.rounds, row.samples) == (6, 12)
    assert row.mean == pytest.approx(42.5e9)
    assert row.best == pytest.approx(45e9)
    assert row.sustained == pytest.approx(42.5e9)
    assert row.p95 == pytest.approx(40e9)
    assert row.stop == "rounds"


def test_the_length_of_samples_is_that_of_the_rounds() -> None:
    """A round whose samples are much shorter has many more of them."""
    typical = [Measurement(outcome("a", round_number=number), [sample("a", 0)]) for number in range(2)]
    short = [msgspec.structs.replace(sample("a", index), elapsed_s=1e-4) for index in range(9)]
    actual = rate_of(report_of([*typical, Measurement(outcome("a", round_number=2), short)]))
    assert actual.sample_s == typical[0].samples[0].elapsed_s
    assert actual.sample_work == typical[0].samples[0].work.flops


def test_a_run_took_the_time_of_its_command_or_of_all_its_experiments() -> None:
    """A command that resumed a run says only how long it took itself."""
    measured = rounds(1_000_000, 1_000_000)
    assert report_of(measured).measured_s == 1.0
    long = [
        msgspec.structs.replace(item, outcome=msgspec.structs.replace(item.outcome, total_s=4.0)) for item in measured
    ]
    assert report_of(long).measured_s == 8.0


def test_the_distance_of_the_cpus_is_evidence() -> None:
    """A round on one CPU has 0, and one of an earlier version has nothing."""

    def evidence(*times_ns: float | None) -> dict[str, float]:
        measured = rounds(*[480_000_000] * len(times_ns))
        known = [{} if time_ns is None else {LINE_ROUND_TRIP: time_ns * 1e-9} for time_ns in times_ns]
        return rate_of(report_of([
            Measurement(msgspec.structs.replace(item.outcome, facts={**FACTS, **facts}), item.samples)
            for item, facts in zip(measured, known, strict=True)
        ])).evidence  # fmt: skip

    assert line_round_trips(result_with(evidence(53, None, 0, 320))) == pytest.approx((53e-9, 320e-9))
    assert line_round_trips(result_with(evidence(50, 53, 54, 600))) == pytest.approx((53e-9, 54e-9))
    assert line_round_trips(result_with(evidence(None, 0))) is None


def result_with(evidence: dict[str, float]) -> Result:
    return msgspec.structs.replace(rate_of(report_of(rounds(480_000_000))), evidence=evidence)


def test_one_bad_round_changes_sustained_but_not_the_median() -> None:
    row = rate_of(report_of(rounds(*[480_000_000] * 6, 10_000_000))).summary
    assert row.value == pytest.approx(48e9)
    assert row.sustained is not None
    assert row.sustained < 42e9


@given(st.lists(st.lists(st.integers(1_000_000, 900_000_000), min_size=1, max_size=8), min_size=1, max_size=8))
def test_best_is_never_worse_than_any_other_statistic_of_the_same_samples(flops: list[list[int]]) -> None:
    measured = [
        Measurement(
            outcome("a", round_number=number),
            [sample("a", i, f, round_number=number) for i, f in enumerate(flops_of_round)],
        )
        for number, flops_of_round in enumerate(flops, start=1)
    ]
    for result in report_of(measured).results:
        row = result.summary
        if row.value is None or row.best is None:
            continue
        sign = 1 if result.better == "higher" else -1
        for other in (row.mean, row.value, row.sustained, row.p95, row.p99):
            assert other is not None
            # Sums of floats are rounded, so a mean of equal values may differ from them in the last digit.
            assert sign * row.best >= sign * other - 1e-12 * abs(other)


@pytest.mark.parametrize(("reason", "said"), [("budget", True), ("rounds", False)])
def test_rounds_that_the_budget_left_out_are_noted(reason: str, said: bool) -> None:
    which = run(plan("a", rounds=3, budget_s=9.0, budget_binds=True))
    stop = Stop(reasons={"a": reason}, elapsed_s=9.0, interrupted=False)
    report = summarise(RunFile("x.jsonl", which, [header()], rounds(480_000_000, 480_000_000), stop, 0, 0))
    message = "the budget of 9 s was spent after 2 of 3 rounds; 1 of 1 experiments lack a round"
    assert (message in report.notes) == said


@pytest.mark.parametrize(("flops", "best"), [(480_000_000, 48e9), (482_000_000, 48.2e9), (500_000_000, None)])
def test_a_sample_above_its_ceiling_is_not_the_best(flops: int, best: float | None) -> None:
    """The clock counts 30 million cycles of 16 operations in a sample of 10 ms: at most 48 GFLOP/s."""
    row = rate_of(report_of(rounds(470_000_000, flops))).summary
    assert row.rated == pytest.approx(48e9)
    assert row.best == (best and pytest.approx(best))


def test_the_capability_is_never_above_the_ceiling() -> None:
    impossible = [520_000_000] * 3
    row = rate_of(report_of(rounds(*impossible, *[470_000_000] * 12))).summary
    assert row.capability == pytest.approx(47e9)
    assert row.rated == pytest.approx(48e9)


def test_nothing_is_rated_on_an_emulated_processor() -> None:
    """Neither by the probe's own ceiling nor by a value that the user gave."""
    measured = rounds(*[400_000_000] * 6)
    stop = Stop(reasons={"a": "rounds"}, elapsed_s=1.0, interrupted=False)
    which = msgspec.structs.replace(run(plan("a")), rated={"cpu_flops FLOP/s": 50e9})
    emulated_header = header()
    emulated = msgspec.structs.replace(
        emulated_header, machine=machine_with(emulated_header.machine, emulator="QEMU (TCG)")
    )
    real, actual = (
        summarise(RunFile("x.jsonl", which, [item], measured, stop, 0, 0)) for item in (emulated_header, emulated)
    )  # fmt: skip
    assert rate_of(real).summary.efficiency == pytest.approx(0.8)
    assert rate_of(actual).summary.value == rate_of(real).summary.value
    assert len(actual.results) == len(real.results)
    for result in actual.results:
        assert (result.summary.rated, result.summary.efficiency, result.efficiency_ci) == (None, None, None)
        assert result.rated.source == "the processor is emulated by QEMU (TCG)"


def with_stops(stopped_s: float) -> list[Measurement]:
    """Return rounds of three periods of 100 ms, in each of which the last of the samples is stopped by a quota."""

    def period(first: int) -> list[Sample]:
        samples = [sample("a", first + i) for i in range(8)]
        counted = {"cgroup_throttled": 1.0 if stopped_s else 0.0}
        last = sample("a", first + 8, disturbed=counted)
        return [*samples, msgspec.structs.replace(last, elapsed_s=0.02 + stopped_s)]

    return [
        Measurement(outcome("a", round_number=number), [*period(0), *period(9), *period(18)]) for number in range(6)
    ]


def test_a_quota_is_part_of_what_the_machine_is_capable_of() -> None:
    free, limited = (rate_of(report_of(with_stops(stop_s))).summary for stop_s in (0.0, 0.02))
    assert free.capability == pytest.approx(48e9)
    assert limited.capability == pytest.approx(9 * 480e6 / 0.12)
    # The samples between the stops do not show it.
    assert limited.best == free.best == pytest.approx(48e9)


def test_what_a_limit_that_sets_in_takes_is_said() -> None:
    hot = [sample("a", index, 300_000_000, disturbed={"thermal_throttled": 2.0}) for index in range(2)]
    measured = rounds(*[500_000_000] * 2, *[300_000_000] * 6)
    measured = [*measured[:2], *(Measurement(item.outcome, hot) for item in measured[2:])]
    result = rate_of(report_of(measured))
    assert result.summary.capability == pytest.approx(30e9)
    assert (result.limit, result.capable_rounds, result.summary.rounds) == ("heat", 6, 8)
    assert result.remarks[-1] == (
        "in half of the rounds or more, the processor was too hot, first in round 2: "
        "the capability is that of whole rounds since then"
    )


def test_a_metric_that_interference_improves_has_no_capability() -> None:
    by_metric = {result.summary.metric: result.summary for result in report_of(with_stops(0.0)).results}
    assert by_metric["flops_per_cycle"].value
    assert by_metric["flops_per_cycle"].capability is None


def test_efficiency_is_against_ports_times_clock_under_load() -> None:
    result = rate_of(report_of(rounds(*[456_000_000] * 6)))
    assert result.summary.rated == pytest.approx(48e9)
    assert result.summary.efficiency == pytest.approx(0.95)
    assert "1 port (measured) × 16 operations × 3.00 GHz" in result.rated.source


def test_a_share_above_the_ceiling_is_not_clamped_and_is_an_error() -> None:
    report = report_of(rounds(*[490_000_000] * 6))
    assert rate_of(report).summary.efficiency == pytest.approx(49 / 48)
    assert any("one of the two values is wrong" in note for note in report.notes)
    assert not report_of(rounds(*[481_000_000] * 6)).notes


def test_a_note_says_what_the_system_did_not_tell() -> None:
    def uncounted(measured: Measurement) -> Measurement:
        bare = {"involuntary_switches": 0.0, "burst_s": 1e-5}
        samples = [msgspec.structs.replace(item, disturbed=bare) for item in measured.samples]
        return Measurement(measured.outcome, samples)

    (note,) = report_of([uncounted(item) for item in rounds(*[480_000_000] * 6)]).notes
    assert note.startswith("steal is unknown")
    flat = msgspec.structs.replace(header(), machine=machine_with(topology={"are_cores_listed": False}))
    stop = Stop(reasons={"a": "rounds"}, elapsed_s=1.0, interrupted=False)
    (note,) = summarise(RunFile("x.jsonl", run(plan("a")), [flat], rounds(480_000_000), stop, 0, 0)).notes
    assert note.endswith("each counts as a core")


def test_a_given_value_takes_precedence_over_the_measured_ports() -> None:
    result = rate_of(report_of(rounds(*[480_000_000] * 6), {"cpu_flops FLOP/s": 60e9}))
    assert result.summary.efficiency == pytest.approx(0.8)
    assert result.rated.source == "given: --rated cpu_flops"


def test_a_round_without_counted_ports_does_not_affect_the_ceiling() -> None:
    measured = rounds(*[480_000_000] * 7)
    assert rate_of(report_of([without_ports(measured[0]), *measured[1:]])).summary.efficiency == pytest.approx(1.0)
    unrated = rate_of(report_of([without_ports(item) for item in measured])).summary
    assert unrated.efficiency is None
    assert "not close to a whole number of ports" in unrated.reason


def test_a_share_is_that_of_all_rounds_in_the_value() -> None:
    slow = rounds(*[400_000_000] * 2, *[440_000_000] * 2, *[480_000_000] * 2)
    actual = rate_of(report_of([*map(without_ports, slow[:2]), *slow[2:]]))
    assert actual.summary.rated == pytest.approx(48e9)
    assert actual.summary.efficiency == pytest.approx(44 / 48)
    assert actual.efficiency_ci == pytest.approx((40 / 48, 1.0))


def test_experiments_with_the_same_resolved_parameters_have_one_result() -> None:
    later = [Measurement(msgspec.structs.replace(m.outcome, id="b"), m.samples) for m in rounds(470_000_000)]
    measured = [*rounds(*[480_000_000] * 6), *later]
    file = RunFile("x.jsonl", run(plan("a", "b")), [header()], measured, None, 0, 0)
    report = summarise(file)
    assert {result.id for result in report.results} == {"a"}
    assert "b has no row of its own: on this machine its parameters have the same values as those of a" in report.notes
    assert {measured.experiment for measured in measured_values(file)} == {"a"}


def lost(number: int, ending: Ending, reason: str) -> Measurement:
    end = msgspec.structs.replace(outcome("a", ending, number), reason=reason)
    return Measurement(end, [sample("a", 0, 48_000)])


@pytest.mark.parametrize("ending", ["skipped", "failed"])
@pytest.mark.parametrize("number", [0, 3, 6])
def test_a_round_that_failed_costs_only_itself(ending: Ending, number: int) -> None:
    measured = rounds(*[480_000_000] * 7)
    measured[number] = lost(number, ending, "out of memory")
    file = file_of(measured)
    report = summarise(file)
    actual = rate_of(report)
    assert (actual.summary.outcome, actual.summary.rounds) == ("ok", 6)
    assert actual.summary.value == pytest.approx(48e9)
    assert actual.summary.ci == pytest.approx((48e9, 48e9))
    said = f"1 of 7 rounds {ending}: out of memory"
    assert said in actual.remarks
    assert f"a: {said}" in report.notes
    assert [measured.value for measured in measured_values(file)] == [r.summary.value for r in report.results]
    assert [value.value for value in digest_of(file).values] == [r.summary.value for r in report.results]


def test_each_reason_of_failed_rounds_is_said_with_their_number() -> None:
    bad = [lost(20 + i, "failed", reason) for i, reason in enumerate(["x", "y", "x", "z", "w", "v"])]
    report = summarise(file_of([*rounds(*[480_000_000] * 6), *bad]))
    assert report.notes == [
        "a: 2 of 12 rounds failed: x; 1 of 12 rounds failed: y; 1 of 12 rounds failed: z; and 2 more for other reasons"
    ]


@pytest.mark.parametrize("later", [[], rounds(480_000_000)], ids=["alone", "measured again"])
@pytest.mark.parametrize("also", [[], [lost(3, "failed", "killed")]], ids=["", "and a failure"])
def test_a_wrong_result_in_any_round_withdraws_the_value(later: list[Measurement], also: list[Measurement]) -> None:
    file = file_of([*rounds(480_000_000), lost(0, "invalid", "wrong sum"), *also, *later])
    report = summarise(file)
    assert len(report.results) == 1
    row = report.results[0].summary
    assert (row.outcome, row.value, row.ci, row.best, row.reason) == ("invalid", None, None, None, "wrong sum")
    assert list(measured_values(file)) == []
    assert report.notes == ["a: invalid: wrong sum"]


@pytest.mark.parametrize("ending", ["skipped", "failed"])
def test_without_a_good_round_the_reason_is_that_of_the_failure(ending: Ending) -> None:
    row = summarise(file_of([lost(1, ending, "no memory")])).results[0].summary
    assert (row.outcome, row.value, row.reason) == (ending, None, "no memory")


def test_a_round_that_was_measured_again_counts_once() -> None:
    report = summarise(file_of([*rounds(1, 1), lost(2, "failed", "killed"), *rounds(1, 1, 1)[2:]]))
    assert rate_of(report).summary.rounds == 3
    assert report.notes == []


def test_an_interrupted_round_is_no_failure() -> None:
    cut = lost(5, "failed", "stopped while the file was being created")
    cut = msgspec.structs.replace(cut, outcome=msgspec.structs.replace(cut.outcome, interrupted=True))
    report = summarise(file_of([*rounds(480_000_000), cut]))
    assert rate_of(report).summary.rounds == 1
    assert report.notes == []


@pytest.mark.parametrize(
    ("seen", "disturbed"),
    [
        ({}, False),
        ({"steal_s": 0.01}, True),
        ({"cgroup_throttled": 1}, True),
        ({"thermal_throttled": 1}, True),
        ({"involuntary_switches": 1}, False),
        ({"involuntary_switches": 5}, True),
        ({"burst_s": 1.1e-5}, True),
    ],
)
def test_a_disturbed_sample_is_flagged_and_kept(seen: dict[str, float], disturbed: bool) -> None:
    measured = [
        Measurement(outcome("a"), [sample("a"), sample("a", 1, disturbed=seen), sample("a", 2), sample("a", 3)])
    ]
    result = rate_of(report_of(measured))
    assert result.series.disturbed == [False, disturbed, False, False]
    assert result.summary.samples == 4
    assert result.summary.disturbed == (0.25 if disturbed else 0.0)


def test_utilisation_is_cpu_time_over_elapsed_time() -> None:
    assert rate_of(report_of(rounds(480_000_000))).utilisation == pytest.approx(1.0)


def test_a_run_without_an_end_is_truncated_and_no_note_names_its_file() -> None:
    report = summarise(RunFile("x.jsonl", run(plan("a")), [header()], rounds(1), None, 3, 0))
    assert report.truncated
    assert report.notes == ["3 samples are left out, because their experiment was cut off"]


def test_a_run_that_was_killed_before_its_first_measurement_names_what_is_missing() -> None:
    results = summarise(RunFile("x.jsonl", run(plan("a")), [], [], None, 0, 0)).results
    assert [(r.summary.outcome, r.summary.reason) for r in results] == [
        ("failed", "not measured, because the run was cut off")
    ]


def test_an_experiment_that_was_never_reached_is_listed() -> None:
    which = run(plan("a", "b"))
    stop = Stop(reasons={"a": "precision", "b": "budget"}, elapsed_s=1.0, interrupted=False)
    report = summarise(RunFile("x.jsonl", which, [header()], rounds(480_000_000), stop, 0, 0))
    missing = report.results[-1].summary
    assert (missing.outcome, missing.value) == ("failed", None)
    assert "not measured, because the budget was spent" in missing.reason
    assert any(note.startswith("b: not measured") for note in report.notes)


def test_an_interrupted_slice_is_not_a_round() -> None:
    cut = Measurement(outcome("a", round_number=6, interrupted=True), [sample("a", 0, 48_000)])
    complete = rounds(*[480_000_000] * 6)
    assert rate_of(report_of([*complete, cut])).summary.rounds == 6
    assert rate_of(report_of([*complete, cut])).summary.ci == pytest.approx((48e9, 48e9))
    alone = rate_of(report_of([cut])).summary
    assert alone.rounds == 1
    assert alone.value == pytest.approx(48_000 / 0.01)


def test_experiments_missing_for_one_reason_share_one_note() -> None:
    skipped = [Measurement(outcome(name, ending="skipped"), []) for name in "abc"]
    failed = Measurement(outcome("d", ending="failed"), [])
    file = RunFile("x.jsonl", run(plan("a", "b", "c", "d")), [header()], [*skipped, failed], None, 0, 0)
    assert summarise(file).notes == ["a and 2 more: skipped: because", "d: failed: because"]
