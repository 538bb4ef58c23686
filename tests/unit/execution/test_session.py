"""The scheduling of a run, on a clock that only slices move."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import pytest

from nameplate.errors import CoreDied, CoreError, CoreHung, FileError
from nameplate.planning.budget import MIN_SLICE_S, closing_s, margin_s
from nameplate.records.plan_record import Plan
from nameplate.records.run_record import Ending, Header, Outcome, Sample
from nameplate.results.measurements import Measurement
from run_samples import FakeCores, outcome, plan, sample


def steady(identity: str, before: int) -> Iterable[Sample | Outcome]:
    return [sample(identity), outcome(identity)]


def noisy(identity: str, before: int) -> Iterable[Sample | Outcome]:
    return [sample(identity, flops=480_000_000 + 50_000_000 * (before % 3)), outcome(identity)]


def rate(samples: Sequence[Sample]) -> float:
    return samples[0].work.flops / samples[0].elapsed_s


def test_a_precise_experiment_stops_after_six_rounds() -> None:
    cores = FakeCores(steady)
    cores.session(plan("a", "b"), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 6, "b": 6}
    assert cores.started == 6
    assert cores.stop().reasons == {"a": "precision", "b": "precision"}


def test_other_experiments_continue_until_the_budget_is_spent() -> None:
    cores = FakeCores(lambda identity, before: (steady if identity == "a" else noisy)(identity, before))
    cores.session(plan("a", "b", budget_s=20.0), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 6, "b": 13}
    assert cores.stop().reasons == {"a": "precision", "b": "budget"}
    assert cores.stop().elapsed_s == 19.0


def test_fixed_rounds_are_kept_whatever_the_budget() -> None:
    cores = FakeCores(noisy)
    cores.session(plan("a", "b", rounds=9, budget_s=1.0), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 9, "b": 9}
    assert cores.stop().reasons == {"a": "rounds", "b": "rounds"}


def test_each_round_has_its_own_order_and_the_seed_repeats_it() -> None:
    def orders(seed: int) -> list[str]:
        cores = FakeCores(steady)
        cores.session(plan(*"abcdefgh", rounds=4), rate, seed).run()
        text = "".join(identity for _, identity in cores.asked)
        return [text[i : i + 8] for i in range(0, 32, 8)]

    assert orders(7) == orders(7)
    assert orders(7) != orders(8)
    assert len(set(orders(7))) == 4
    assert all(sorted(order) == list("abcdefgh") for order in orders(7))


def test_experiments_whose_parameters_resolve_to_the_same_values_are_measured_as_one() -> None:
    def answer(identity: str, before: int) -> Iterable[Sample | Outcome]:
        resolved = "a" if identity in ("a", "b", "c") else identity
        return [sample(identity), msgspec.structs.replace(outcome(resolved), id=identity)]

    for seed in range(8):  # whichever comes first in the first round
        cores = FakeCores(answer)
        cores.session(plan(*"abcd", rounds=5), rate, seed).run()
        asked = Counter(identity for _, identity in cores.asked)
        assert (asked["a"], asked["d"]) == (5, 5)
        assert asked["b"] <= 1 >= asked["c"]
        assert cores.stop().reasons == {"a": "rounds", "b": "duplicate", "c": "duplicate", "d": "rounds"}


@pytest.mark.parametrize("error", [CoreDied("SIGSEGV"), CoreHung("no answer")])
def test_a_lost_core_fails_one_experiment_only(error: Exception) -> None:
    def answer(identity: str, before: int) -> Iterable[Sample | Outcome]:
        if identity == "bad":
            raise error
        return steady(identity, before)

    cores = FakeCores(answer)
    cores.session(plan("a", "bad", "b", rounds=3), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 3, "b": 3, "bad": 1}
    assert cores.stop().reasons == {"a": "rounds", "b": "rounds", "bad": "failed"}
    failed = [r for r in cores.written if isinstance(r, Outcome) and r.ending == "failed"]
    assert [r.reason for r in failed] == [str(error)]
    assert cores.progress.warnings == [f"bad: {error}"]


def failing_in(*failures: int) -> Callable[[str, int], Iterable[Sample | Outcome]]:
    """Return the answer of cores that die in these requests for the experiment "b", counted from 0."""

    def answer(identity: str, before: int) -> Iterable[Sample | Outcome]:
        if identity == "b" and before in failures:
            raise CoreDied("was killed by SIGKILL")
        return noisy(identity, before)

    return answer


def test_a_core_that_is_killed_costs_only_the_round() -> None:
    cores = FakeCores(failing_in(10))
    cores.session(plan("a", "b", rounds=30), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 30, "b": 30}
    assert cores.stop().reasons == {"a": "rounds", "b": "failed"}
    ended = Counter(r.ending for r in cores.written if isinstance(r, Outcome) and r.id == "b")
    assert ended == {"ok": 29, "failed": 1}


@pytest.mark.parametrize("failures", [[0], [2, 4, 5]], ids=["the first round", "three rounds"])
def test_an_experiment_that_keeps_failing_is_given_up(failures: Sequence[int]) -> None:
    cores = FakeCores(failing_in(*failures))
    cores.session(plan("a", "b", rounds=30), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 30, "b": failures[-1] + 1}
    assert cores.stop().reasons == {"a": "rounds", "b": "failed"}


def test_without_fixed_rounds_another_round_replaces_one_that_failed() -> None:
    def answer(identity: str, before: int) -> Iterable[Sample | Outcome]:
        if (identity, before) == ("b", 2):
            raise CoreHung("no answer")
        return steady(identity, before)

    cores = FakeCores(answer)
    cores.session(plan("a", "b"), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 6, "b": 7}
    assert cores.stop().reasons == {"a": "precision", "b": "precision"}


def test_lack_of_room_costs_only_the_round_and_what_makes_no_sense_is_final() -> None:
    full = msgspec.structs.replace(outcome("a", "skipped"), may_pass=True)
    cores = FakeCores(lambda identity, before: [full] if before == 2 else noisy(identity, before))
    cores.session(plan("a", rounds=5), rate).run()
    assert len(cores.asked) == 5
    assert cores.stop().reasons == {"a": "failed"}


def lost(identity: str, number: int, ending: Ending, may_pass: bool = False) -> Measurement:
    return Measurement(msgspec.structs.replace(outcome(identity, ending, number), may_pass=may_pass), [])


@pytest.mark.parametrize(
    ("ending", "may_pass", "further"),
    [("failed", False, 2), ("skipped", True, 2), ("skipped", False, 0), ("invalid", False, 0)],
    ids=["failed", "no room", "makes no sense", "wrong result"],
)
@pytest.mark.parametrize("good", [0, 2])
def test_a_resumed_run_retries_what_may_pass(ending: Ending, may_pass: bool, further: int, good: int) -> None:
    cores = FakeCores(noisy)
    session = cores.session(plan("a", rounds=good + 2), rate)
    earlier = [Measurement(outcome("a", round_number=r), [sample("a", round_number=r)]) for r in range(1, good + 1)]
    session.take_over([*earlier, lost("a", good + 1, ending, may_pass)])
    session.run()
    assert len(cores.asked) == further
    assert cores.stop().reasons == {"a": "rounds" if further else ending}


def test_a_resumed_run_retries_an_experiment_that_was_given_up() -> None:
    cores = FakeCores(steady)
    session = cores.session(plan("a", rounds=4), rate)
    good = Measurement(outcome("a", round_number=1), [sample("a", round_number=1)])
    session.take_over([good, *(lost("a", number, "failed") for number in (2, 3, 4))])
    session.run()
    assert [r.round for r in cores.written if isinstance(r, Outcome)] == [2, 3, 4]
    assert cores.stop().reasons == {"a": "rounds"}


@pytest.mark.parametrize("ending", ["skipped", "invalid", "failed"])
def test_an_experiment_without_a_good_round_is_not_tried_again(ending: str) -> None:
    cores = FakeCores(lambda identity, before: [outcome(identity, ending)])  # type: ignore[arg-type]
    cores.session(plan("a"), rate).run()
    assert len(cores.asked) == 1
    assert cores.stop().reasons == {"a": ending}


def test_an_interrupted_run_stops_and_says_so() -> None:
    cores = FakeCores(lambda identity, before: [])

    def answer(identity: str, before: int) -> Iterable[Sample | Outcome]:
        cores.control.request()
        return [sample(identity), outcome(identity, interrupted=True)]

    cores.answer = answer
    cores.session(plan("a", "b"), rate).run()
    assert len(cores.asked) == 1
    assert cores.stop().interrupted
    assert cores.stop().reasons == {"a": "interrupted", "b": "interrupted"}


def test_samples_of_a_given_length_all_fit_into_the_slice() -> None:
    cores = FakeCores(steady)
    cores.session(plan("a", rounds=1, samples=3, sample_s=10.0), rate).run()
    assert cores.now == 30.0


def test_a_rejected_request_is_not_repeated() -> None:
    cores = FakeCores(lambda identity, before: [outcome("", "failed")])
    cores.session(plan("a"), rate).run()
    assert len(cores.asked) == 1


def test_a_resumed_run_measures_only_what_is_missing() -> None:
    cores = FakeCores(steady)
    session = cores.session(plan("a", "b", rounds=3), rate)
    done = [("a", 1), ("b", 1), ("a", 2)]
    session.take_over(Measurement(outcome(i, round_number=r), [sample(i, round_number=r)]) for i, r in done)
    session.run()
    assert sorted(identity for _, identity in cores.asked) == ["a", "b", "b"]
    rounds = [(r.id, r.round) for r in cores.written if isinstance(r, Outcome)]
    assert rounds[0] == ("b", 2)
    assert sorted(rounds[1:]) == [("a", 3), ("b", 3)]


def test_resuming_a_complete_run_measures_nothing() -> None:
    cores = FakeCores(steady)
    session = cores.session(plan("a", rounds=2), rate)
    session.take_over(Measurement(outcome("a", round_number=r), [sample("a", round_number=r)]) for r in (1, 2))
    session.run()
    assert cores.asked == []


def test_a_full_disk_ends_the_run() -> None:
    cores = FakeCores(steady)
    session = cores.session(plan("a"), rate)

    def full(record: object) -> None:
        raise FileError("cannot write x: No space left on device")

    session.write = full
    with pytest.raises(FileError):
        session.run()


def test_dense_points_are_measured_only_where_they_are_needed() -> None:
    """The session asks after two rounds; a point that is not wanted stops as ``even`` and delays nothing."""
    asked: list[dict[str, int]] = []

    def refine(main_values: Mapping[str, Sequence[float]]) -> set[str]:
        asked.append({identity: len(values) for identity, values in main_values.items() if values})
        return {"b"}

    which = plan("a", "b", "c")
    dense = [msgspec.structs.replace(e, dense=e.id != "a") for e in which.experiments]
    cores = FakeCores(steady)
    session = cores.session(msgspec.structs.replace(which, experiments=dense), rate)
    session.refine = refine
    session.run()
    assert asked[0] == {"a": 2}
    assert Counter(identity for _, identity in cores.asked) == {"a": 6, "b": 6}
    assert cores.stop().reasons == {"a": "precision", "b": "precision", "c": "even"}


def test_dense_points_are_completed_when_a_run_is_resumed() -> None:
    """They were chosen in the third round, and the others are precise by now."""
    which = plan("a", "b", "c")
    dense = [msgspec.structs.replace(e, dense=e.id != "a") for e in which.experiments]
    cores = FakeCores(steady)
    session = cores.session(msgspec.structs.replace(which, experiments=dense), rate)
    session.refine = lambda _: set()
    done = [*(("a", number) for number in range(1, 7)), *(("b", number) for number in range(3, 7))]
    session.take_over(Measurement(outcome(i, round_number=r), [sample(i, round_number=r)]) for i, r in done)
    session.run()
    assert Counter(identity for _, identity in cores.asked) == {"b": 2}


def test_a_series_of_a_plan_is_measured_in_one_round() -> None:
    which = plan("a", "b", rounds=3)
    mixed = [msgspec.structs.replace(e, interval_s=0.1 if e.id == "b" else None) for e in which.experiments]
    cores = FakeCores(steady)
    cores.session(msgspec.structs.replace(which, experiments=mixed), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 3, "b": 1}
    assert cores.stop().reasons == {"a": "rounds", "b": "rounds"}


def bound(*identities: str, rounds: int, budget_s: float) -> Plan:
    return plan(*identities, rounds=rounds, budget_s=budget_s, budget_binds=True)


def test_slices_are_shortened_if_setup_takes_longer_than_estimated() -> None:
    """24 slices of 1 s fit into 31 s by the estimate of 0.15 s per slice; the simulated cores take 1 s more each."""
    cores = FakeCores(noisy, overhead_s=1.0)
    cores.session(bound(*"abcdefgh", rounds=3, budget_s=31.0), rate).run()
    assert set(Counter(identity for _, identity in cores.asked).values()) == {3}
    assert set(cores.stop().reasons.values()) == {"rounds"}
    assert cores.slices[0] == 1.0
    assert MIN_SLICE_S <= cores.slices[-1] < 0.5
    assert cores.now <= 31.0


def test_a_run_stops_at_its_budget_if_the_shortest_slices_do_not_fit() -> None:
    cores = FakeCores(noisy, overhead_s=3.0)
    cores.session(bound(*"abcdefgh", rounds=3, budget_s=40.0), rate).run()
    measured = Counter(identity for _, identity in cores.asked)
    assert set(measured) == set("abcdefgh")
    assert max(measured.values()) < 3
    assert set(cores.stop().reasons.values()) == {"budget"}
    assert 36.0 < cores.now <= 40.0


def test_experiments_not_reached_in_the_first_round_have_the_reason_budget() -> None:
    cores = FakeCores(noisy, overhead_s=3.0)
    cores.session(bound(*"abcdefgh", rounds=1, budget_s=12.0), rate).run()
    reached = {identity for _, identity in cores.asked}
    assert 0 < len(reached) < 8
    reasons = cores.stop().reasons
    assert {identity for identity, reason in reasons.items() if reason == "rounds"} == reached
    assert {reasons[identity] for identity in set("abcdefgh") - reached} == {"budget"}


def test_the_time_before_the_first_round_counts_against_a_budget_that_binds() -> None:
    cores = FakeCores(noisy, now=100.0)
    session = cores.session(bound("a", "b", rounds=5, budget_s=20.0), rate)
    session.began = 85.0
    session.run()
    assert cores.now <= 105.0
    assert len(cores.asked) == 10


def test_the_time_before_the_first_round_counts_against_every_other_budget_too() -> None:
    cores = FakeCores(noisy, now=100.0)
    session = cores.session(plan("a", budget_s=20.0), rate)
    session.began = 92.0
    session.run()
    assert cores.now == 111.0


def test_a_resumed_run_divides_its_budget_among_what_is_missing() -> None:
    cores = FakeCores(noisy, overhead_s=1.0)
    session = cores.session(bound("a", "b", rounds=2, budget_s=5.0), rate)
    session.take_over([Measurement(outcome(i, round_number=1), [sample(i, round_number=1)]) for i in "ab"])
    session.run()
    assert sorted(identity for _, identity in cores.asked) == ["a", "b"]
    assert cores.slices[0] == 1.0
    assert set(cores.stop().reasons.values()) == {"rounds"}


def test_a_series_is_shortened_to_whole_intervals() -> None:
    which = bound("a", "b", rounds=1, budget_s=7.0)
    long = [msgspec.structs.replace(e, slice_s=60.0, interval_s=0.1) if e.id == "b" else e for e in which.experiments]
    cores = FakeCores(noisy)
    cores.session(msgspec.structs.replace(which, experiments=long), rate).run()
    (series_s,) = (s for (_, identity), s in zip(cores.asked, cores.slices, strict=True) if identity == "b")
    assert 1.0 <= series_s < 7.0
    assert series_s * 10 == pytest.approx(round(series_s * 10))
    assert cores.now <= 7.0


def test_without_fixed_rounds_nothing_is_started_that_ends_long_after_the_budget() -> None:
    cores = FakeCores(noisy, overhead_s=9.0)
    cores.session(plan("a", budget_s=25.0), rate).run()
    assert cores.now == 20.0
    assert cores.stop().reasons == {"a": "budget"}


TEN = "abcdefghij"


def rounds_of_ten(budget_s: float, longer_s: float) -> Counter[str]:
    cores = FakeCores(noisy, longer_s={"a": longer_s})
    cores.session(plan(*TEN, budget_s=budget_s), rate).run()
    assert cores.now <= 1.02 * budget_s + longer_s  # its overhead is underestimated
    return Counter(identity for _, identity in cores.asked)


def test_a_costly_experiment_has_fewer_rounds_if_the_others_then_have_enough() -> None:
    rounds = rounds_of_ten(budget_s=100.0, longer_s=15.0)
    assert min(rounds[item] for item in TEN[1:]) == 6  # six rounds of all would take 150 s
    assert rounds["a"] == 3  # as many as there is time for


def test_a_costly_experiment_has_all_rounds_if_there_is_time() -> None:
    assert min(rounds_of_ten(budget_s=152.0, longer_s=15.0).values()) == 6


def test_no_experiment_is_left_out_if_that_is_not_enough() -> None:
    rounds = rounds_of_ten(budget_s=50.0, longer_s=2.0)
    assert sorted({rounds[item] for item in TEN}) in ([4], [3, 4], [4, 5])


def test_the_first_measurement_starts_however_short_the_budget_without_fixed_rounds() -> None:
    cores = FakeCores(noisy, overhead_s=99.0)
    cores.session(plan("a", budget_s=1.0), rate).run()
    assert len(cores.asked) == 1


def test_an_experiment_expected_to_end_after_the_budget_is_never_started() -> None:
    cores = FakeCores(noisy, overhead_s=9.0)
    cores.session(plan("a", "b", "c", budget_s=25.0), rate).run()
    assert len(cores.asked) == 2
    assert cores.now == 20.0


def test_a_sample_that_ends_after_the_budget_is_not_a_failure() -> None:
    cores = FakeCores(noisy)

    def hang(identity: str, before: int) -> Iterable[Sample | Outcome]:
        cores.now += 60.0
        raise CoreHung("did not answer before its deadline and was killed")

    cores.answer = hang
    cores.session(bound("a", "b", rounds=1, budget_s=30.0), rate).run()
    assert len(cores.asked) == 1
    assert set(cores.stop().reasons.values()) == {"budget"}
    assert not [record for record in cores.written if isinstance(record, Outcome)]


@pytest.mark.parametrize("rounds", [None, 30], ids=["until precise", "fixed rounds"])
def test_a_core_that_hangs_until_the_end_of_the_budget_has_failed(rounds: int | None) -> None:
    """Its deadline is the end of the budget, but it answered in a second before."""
    cores = FakeCores(noisy)

    def answer(identity: str, before: int) -> Iterable[Sample | Outcome]:
        if (identity, before) == ("b", 4):
            cores.now += cores.deadlines[-1][1]
            raise CoreHung("did not answer before its deadline and was killed")
        return noisy(identity, before)

    cores.answer = answer
    which = plan("a", "b", rounds=rounds, budget_s=20.0, budget_binds=rounds is not None)
    cores.session(which, rate).run()
    failed = [record for record in cores.written if isinstance(record, Outcome) and record.ending == "failed"]
    assert [(record.id, record.round) for record in failed] == [("b", 5)]
    assert len(cores.progress.warnings) == 1


@pytest.mark.parametrize("error", [CoreDied("SIGKILL"), CoreHung("no answer")])
def test_a_core_that_does_not_start_costs_only_the_round(error: CoreError) -> None:
    cores = FakeCores(noisy, start_errors={4: error})
    cores.session(plan("a", "b", rounds=6), rate).run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 5, "b": 5}
    failed = [record for record in cores.written if isinstance(record, Outcome) and record.ending == "failed"]
    assert [(record.round, record.reason) for record in failed] == [(4, str(error))] * 2
    assert cores.progress.warnings == [f"round 4: {error}"]


def test_cores_that_keep_failing_to_start_end_the_run() -> None:
    cores = FakeCores(noisy, start_errors=dict.fromkeys(range(3, 50), CoreDied("SIGKILL")))
    cores.session(plan("a", "b", rounds=30), rate).run()
    assert cores.started == 5
    assert set(cores.stop().reasons.values()) == {"failed"}


def test_a_first_core_that_does_not_start_is_an_error() -> None:
    cores = FakeCores(noisy, start_errors={1: CoreDied("SIGKILL")})
    with pytest.raises(CoreDied):
        cores.session(plan("a", rounds=6), rate).run()


def test_a_core_has_no_longer_than_the_budget_to_start() -> None:
    cores = FakeCores(noisy, start_errors={3: CoreHung("no answer")})
    cores.session(plan("a", "b", budget_s=8.0), rate).run()
    assert all(start_s + within_s <= 8.0 for start_s, within_s in cores.starts)
    assert cores.now <= 8.0
    endless = FakeCores(noisy)
    endless.session(plan("a", rounds=1), rate).run()
    assert endless.starts == [(0.0, math.inf)]


@pytest.mark.parametrize("slowdown", [1.0, 4.0])
@pytest.mark.parametrize("binds", [False, True], ids=["until precise", "fixed rounds"])
def test_the_summary_ends_within_the_budget_on_a_busy_machine(slowdown: float, binds: bool) -> None:
    """An experiment gives 4,000 samples, which take 0.2 s to summarise on an idle machine."""

    def answer(identity: str, before: int) -> Iterable[Sample | Outcome]:
        return [*[sample(identity, flops=480_000_000 + 50_000_000 * (before % 3))] * 4_000, outcome(identity)]

    cores = FakeCores(answer)
    limits = {"rounds": 40, "budget_binds": True} if binds else {}
    which = plan("a", "b", budget_s=60.0, **limits)
    session = cores.session(which, rate)
    session.slowdown = lambda: slowdown
    session.closing_s = 1.0
    session.run()
    summary_s = slowdown * (1.0 + closing_s(which.limits, 2, 4_000 * len(cores.asked)))
    assert cores.now + summary_s <= 60.0
    assert cores.now + summary_s >= 55.0


def test_a_slowdown_that_is_over_no_longer_counts() -> None:
    cores = FakeCores(noisy)
    session = cores.session(plan("a", budget_s=30.0), rate)
    slowdowns = iter([9.0, 9.0] + [1.0] * 40)
    session.slowdown = lambda: next(slowdowns)
    session.run()
    assert cores.now == 29.0


@pytest.mark.parametrize("rounds", [None, 1], ids=["until precise", "fixed rounds"])
def test_no_core_may_take_longer_than_the_time_to_measure(rounds: int | None) -> None:
    """Neither for an experiment, which has half a minute more than its slice otherwise, nor to end."""
    cores = FakeCores(noisy, overhead_s=2.0)
    which = plan("a", "b", "c", rounds=rounds, budget_s=9.0, budget_binds=rounds is not None)
    cores.session(which, rate).run()
    assert cores.deadlines
    end_s = 9.0 - closing_s(which.limits, 0)
    assert all(within_s <= max(0.0, end_s - now) + 1e-9 for now, within_s in cores.deadlines)


def test_a_slice_is_ended_before_the_time_to_measure_is_over() -> None:
    cores = FakeCores(noisy, now=100.0)
    session = cores.session(plan("a", budget_s=50.0), rate)
    session.began = 100.0
    assert session.time_to_end_s() == pytest.approx(
        50.0 - closing_s(session.plan.limits, 0) - margin_s(session.plan.limits) / 2
    )
    endless = cores.session(plan("a", rounds=1), rate)
    assert endless.time_to_end_s() == math.inf


def test_decided_experiments_end_in_place_of_precise_ones() -> None:
    cores = FakeCores(steady)
    session = cores.session(plan("a", "b", "c", budget_s=30.0), rate)
    asked: list[int] = []

    def decided(_: Header, measurements: Sequence[Measurement]) -> set[str]:
        asked.append(len(cores.asked))
        assert len(measurements) == len(cores.asked)
        return {6: {"a"}, 7: {"a"}}.get(len(asked) + 5, {"a", "b"})

    session.decided = decided
    session.run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 6, "b": 8, "c": 15}
    assert cores.stop().reasons == {"a": "decided", "b": "decided", "c": "budget"}
    assert asked[0] == 18  # after six rounds


def test_an_experiment_that_is_no_longer_decided_is_taken_up_again() -> None:
    cores = FakeCores(steady)
    session = cores.session(plan("a", "b", budget_s=60.0), rate)
    looks: list[set[str]] = [{"a"}, {"a"}, {"b"}, {"a", "b"}]
    session.decided = lambda _, __: looks.pop(0)
    session.run()
    assert Counter(identity for _, identity in cores.asked) == {"a": 7, "b": 8}
    assert cores.stop().reasons == {"a": "decided", "b": "decided"}


def test_a_long_run_is_judged_after_each_tenth_more_rounds() -> None:
    cores = FakeCores(steady)
    session = cores.session(plan("a", budget_s=100.0), rate)
    rounds: list[int] = []

    def decided(_: Header, measurements: Sequence[Measurement]) -> set[str]:
        rounds.append(len(measurements))
        return {"a"} if len(measurements) > 40 else set()

    session.decided = decided
    session.run()
    assert rounds == [*range(6, 20), 20, 22, 24, 26, 28, 30, 33, 36, 39, 42]
