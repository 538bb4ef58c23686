"""Capabilities that may not have been seen: next to other programs, and on CPUs that the host moved."""

from __future__ import annotations

import msgspec
import pytest

from comparable_results import capable, of
from machines import machine_with
from nameplate.comparison.doubts import may_move
from nameplate.comparison.metric_rows import ComparisonRow
from nameplate.comparison.run_comparison import compare_runs
from nameplate.records.result import LimitKind, Report, Result
from report_samples import with_summary


def with_other_load(share: float, *results: Result) -> list[Result]:
    """Return the results of a run whose workers got this share of the CPU time."""
    return [msgspec.structs.replace(result, utilisation=share if "cpu" in result.id else 0.1) for result in results]


def rows(base: list[Result], new: list[Result]) -> list[ComparisonRow]:
    return compare_runs(of(*base), of(*new)).rows


def verdicts(base: list[Result], new: list[Result]) -> dict[str, str]:
    return {row.probe: row.machine_verdict for row in rows(base, new)}


@pytest.mark.parametrize(("share", "verdict"), [(0.95, "SLOWER"), (0.85, "UNSURE")])
@pytest.mark.parametrize("is_base", [True, False])
def test_a_run_without_its_cpu_time_is_not_judged(share: float, verdict: str, is_base: bool) -> None:
    shares = (share, 1.0) if is_base else (1.0, share)
    (row,) = rows(with_other_load(shares[0], capable(100e9)), with_other_load(shares[1], capable(60e9)))
    assert (row.machine_verdict, row.verdict) == (verdict, verdict)


def test_the_reason_names_the_run_and_what_others_took() -> None:
    (row,) = rows(with_other_load(1.0, capable(1e9)), with_other_load(0.6, capable(0.6e9)))
    assert row.reason == "in the new run, other programs took 40 % of the CPU time"
    assert row.capability is not None
    assert row.capability.reason == row.reason


def test_a_quota_withholds_every_verdict() -> None:
    runs = of(capable(1e9)), of(capable(0.5e9), limits={"cpus": 1.5})
    comparison = compare_runs(*runs)
    assert [row.machine_verdict for row in comparison.rows] == ["UNSURE"]
    assert comparison.gate is not None
    assert comparison.gate.reason == "in the new run, a CPU quota allowed the time of 1.5 CPUs"
    assert compare_runs(*runs, deciding="all").gate == comparison.gate


def test_a_disk_is_in_doubt_with_the_cpus_of_its_run() -> None:
    base = with_other_load(1.0, capable(1e9), capable(2e9, probe="disk_block"))
    new = with_other_load(0.5, capable(1e9), capable(0.5e9, probe="disk_block"))
    assert verdicts(base, new)["disk_block"] == "UNSURE"
    assert verdicts(base, with_other_load(1.0, *new))["disk_block"] == "SLOWER"


@pytest.mark.parametrize(("cpu_of_alone", "expected"), [(0.8, "UNSURE"), (1.0, "SLOWER")])
def test_a_core_that_others_used_is_in_doubt_beside_those_that_nobody_used(cpu_of_alone: float, expected: str) -> None:
    alone, both = capable(1e9), with_summary(capable(2e9), params={"threads": 2})
    both = msgspec.structs.replace(both, id="cpu_flops threads=2", utilisation=2.0)
    base = [msgspec.structs.replace(alone, utilisation=1.0), both]
    new = [msgspec.structs.replace(capable(0.8e9), utilisation=cpu_of_alone), both]
    row = next(row for row in rows(base, new) if row.params["threads"] == 1)
    assert row.capability is not None
    assert row.capability.verdict == expected
    assert ("other programs took 20 % of the CPU time that the new run asked for" in row.capability.reason) == (
        expected == "UNSURE"
    )


def at_distance(
    base_ns: tuple[float, float],
    new_ns: tuple[float, float],
    hypervisor: str | None = "kvm",
    probe: str = "memory_stream",
) -> ComparisonRow:
    """Return the comparison of two runs whose CPUs were that far from each other, the second one slower by half."""
    low, high = ("line_round_trip_min_s", "line_round_trip_max_s")
    base, new = (
        msgspec.structs.replace(
            capable(value, probe=probe), evidence={low: ns[0] * 1e-9, high: ns[1] * 1e-9}, utilisation=1.0
        )
        for value, ns in ((80e9, base_ns), (40e9, new_ns))
    )
    guest = {"hypervisor": hypervisor, "limits": {"cpus": None}}
    (row,) = compare_runs(of(base, **guest), of(new, **guest)).rows
    return row


@pytest.mark.parametrize(("new_ns", "verdict"), [
    ((55, 60), "SLOWER"),
    ((320, 330), "UNSURE"),
    ((53, 330), "UNSURE"),  # they moved during the run
])  # fmt: skip
def test_memory_of_cpus_that_the_host_moved_is_not_slower(new_ns: tuple[float, float], verdict: str) -> None:
    assert at_distance((53, 58), new_ns).machine_verdict == verdict


def test_the_reason_has_the_distances() -> None:
    capability = at_distance((53, 53), (53, 330)).capability
    assert capability is not None
    assert capability.reason == (
        "the host placed the CPUs differently: a cache line took 53 ns between them and back in the base, 53 to 330 ns "
        "in the new run"
    )


def test_distance_counts_only_in_guests_and_beyond_a_core() -> None:
    assert at_distance((53, 53), (330, 330), hypervisor=None).machine_verdict == "SLOWER"
    assert at_distance((53, 53), (330, 330), probe="cpu_flops").machine_verdict == "SLOWER"


def test_without_the_distance_of_both_nothing_is_in_doubt() -> None:
    base, new = capable(80e9, probe="memory_stream"), capable(40e9, probe="memory_stream")
    far = {"line_round_trip_min_s": 330e-9, "line_round_trip_max_s": 330e-9}
    assert verdicts([base], [msgspec.structs.replace(new, evidence=far)]) == {"memory_stream": "SLOWER"}


def test_another_processor_is_another_machine() -> None:
    near = machine_with(hypervisor="kvm", cpu={"model": "one"})
    assert may_move(near, machine_with(near))
    assert not may_move(near, machine_with(near, cpu={"model": "another"}))
    assert not may_move(near, machine_with(near, hypervisor=None))
    assert may_move(near, machine_with(near, hypervisor=None, is_hypervisor_known=False))
    assert not may_move(near, None)


def with_samples(sample_s: float, value: float, limit: LimitKind = "") -> Report:
    """Return a run with samples of this length, and perhaps with a limit that was set on the machine."""
    result = msgspec.structs.replace(capable(value), sample_s=sample_s, sample_work=sample_s * value, limit=limit)
    return of(result, limits={"cpus": None})


def judged(base: Report, new: Report) -> tuple[str, str]:
    (row,) = compare_runs(base, new).rows
    assert row.capability is not None
    return row.capability.verdict, row.capability.reason


def test_a_run_with_longer_samples_is_not_slower() -> None:
    assert judged(with_samples(2e-4, 100e9), with_samples(1e-3, 60e9)) == (
        "UNSURE",
        "longer samples are disturbed more often: 1 ms in the new run, 0.2 ms in the base; "
        "measure both with the same version and the same --time",
    )
    assert judged(with_samples(1e-2, 60e9), with_samples(1e-3, 100e9)) == (
        "UNSURE",
        "longer samples are disturbed more often: 10 ms in the base, 1 ms in the new run; "
        "measure both with the same version and the same --time",
    )


def test_longer_samples_may_hide_a_change() -> None:
    assert judged(with_samples(2e-4, 100e9), with_samples(1e-3, 100e9))[0] == "UNSURE"
    assert judged(with_samples(1e-3, 100e9), with_samples(1e-3, 100e9)) == ("SAME", "")


def test_shorter_samples_are_no_excuse() -> None:
    assert judged(with_samples(1e-3, 100e9), with_samples(2e-4, 60e9)) == ("SLOWER", "")
    assert judged(with_samples(1e-3, 60e9), with_samples(1.2e-3, 100e9)) == ("FASTER", "")
    assert judged(with_samples(0.0, 100e9), with_samples(1e-3, 60e9)) == ("SLOWER", "")


def test_a_slower_machine_takes_longer_for_the_same_work() -> None:
    base, new = (with_samples(sample_s, 1e9 / sample_s) for sample_s in (0.1, 0.2))
    assert judged(base, new) == ("SLOWER", "")


def test_more_work_in_the_same_time_is_no_longer_sample() -> None:
    """The first metric may be three times as good and another one of the same samples worse."""
    base, new = (
        of(
            msgspec.structs.replace(
                capable(value, probe="disk_block"), sample_s=0.01, sample_work=work, better="lower"
            ),
            limits={"cpus": None},
        )
        for value, work in ((1e-3, 100.0), (3e-3, 300.0))
    )
    assert judged(base, new) == ("SLOWER", "")


def test_a_quota_is_no_longer_sample() -> None:
    """A sample lasts whole periods of a quota."""
    assert judged(with_samples(1e-3, 100e9), with_samples(0.25, 60e9, "quota")) == ("SLOWER", "")


def test_a_burst_that_was_spent_in_one_run_is_no_change() -> None:
    assert judged(with_samples(1e-3, 300e6), with_samples(1e-3, 100e6, "burst")) == (
        "UNSURE",
        "in the new run a steady limit set in, as if burst credits had been spent: measure the base until its "
        "credits are spent, too",
    )
    assert judged(with_samples(1e-3, 300e6, "burst"), with_samples(1e-3, 100e6, "burst"))[0] == "SLOWER"


def test_a_run_that_is_better_although_its_burst_was_spent_is_faster() -> None:
    assert judged(with_samples(1e-3, 100e6), with_samples(1e-3, 300e6, "burst")) == ("FASTER", "")


def test_heat_in_one_run_counts_if_it_is_typical() -> None:
    cool, hot = with_samples(1e-3, 100e9), with_samples(1e-3, 60e9, "heat")
    assert judged(cool, hot) == ("SLOWER", "")
    as_before = msgspec.structs.replace(hot.results[0], round_values=cool.results[0].round_values)
    assert judged(cool, of(as_before, limits={"cpus": None})) == (
        "UNSURE",
        "the processor was too hot in the new run, so its capability is that of whole rounds: see the verdict on "
        "typical values",
    )
