from __future__ import annotations

import msgspec
import pytest

from comparable_results import ROUNDS, capable, measured, of
from nameplate.comparison.best_of_several import compare_several
from nameplate.comparison.false_positives import count_false_positives, upper_bound
from nameplate.comparison.run_comparison import compare_by, compare_runs
from nameplate.errors import UsageError
from nameplate.records.result import Result
from report_samples import failed, of_disk, with_summary


def test_metrics_are_matched_by_probe_and_parameters() -> None:
    base = of(measured(50e9), measured(90e9, {"threads": 2}), measured(1e9, {"threads": 4}, utilisation=4.0))
    new = of(measured(80e9, {"threads": 2}), measured(50e9), measured(2e9, {"threads": 8}, utilisation=8.0))
    actual = compare_runs(base, new)
    assert [(row.params, row.verdict) for row in actual.rows] == [({"threads": 1}, "SAME"), ({"threads": 2}, "SLOWER")]
    assert actual.rows[1].ratio == pytest.approx(8 / 9)
    assert (actual.rows[1].base, actual.rows[1].new, actual.rows[1].unit) == (90e9, 80e9, "FLOP/s")
    assert actual.only_in_base == ["cpu_flops threads=4 rate"]
    assert actual.only_in_new == ["cpu_flops threads=8 rate"]


def test_derived_results_have_no_rounds_and_are_left_out() -> None:
    derived = with_summary(measured(32768.0), stop="derived", metric="l1d_size")
    assert compare_runs(of(derived, measured(1e9)), of(derived, measured(1e9))).rows[0].metric == "rate"


def only(base: Result, new: Result) -> tuple[str, str]:
    (row,) = compare_runs(of(base), of(new)).rows
    return row.verdict, row.reason


def test_without_a_value_there_is_nothing_to_compare() -> None:
    missing = failed({"threads": 1}, "skipped", "no such instruction set")
    verdict, reason = only(measured(1e9), missing)
    assert (verdict, reason) == ("INCOMPARABLE", "the new run has no value (skipped: no such instruction set)")
    assert "the base has no value" in only(missing, measured(1e9))[1]


def test_other_work_is_not_compared() -> None:
    cached, device = measured(9e9, source="page cache"), measured(1e9, source="device")
    verdict, reason = only(cached, device)
    assert verdict == "INCOMPARABLE"
    assert reason == "not the same work: served by page cache in the base and by device in the new run"
    assert only(measured(1.0), with_summary(measured(1.0), unit="B/s"))[0] == "INCOMPARABLE"
    assert only(msgspec.structs.replace(measured(1.0), round_values=[0.0, 1.0]), measured(1.0))[0] == "INCOMPARABLE"


def test_a_difference_is_shown_with_its_conditions() -> None:
    disturbed = with_summary(measured(0.8e9), disturbed=0.6)
    verdict, reason = only(
        measured(1e9, labels={"isa": "avx512"}), msgspec.structs.replace(disturbed, labels={"isa": "avx2"})
    )
    assert verdict == "SLOWER"
    assert reason == (
        "60 % of the samples of the new run were disturbed; isa is avx512 in the base and avx2 in the new run"
    )
    assert only(measured(1e9), with_summary(measured(1e9), disturbed=0.6)) == ("SAME", "")


def test_different_settings_are_listed() -> None:
    base = of(measured(1e9), kernel="6.1", vulnerable_to=["a", "b"])
    new = of(measured(1e9), kernel="6.12", vulnerable_to=[])
    assert [(s.name, s.base, s.new) for s in compare_runs(base, new).settings] == [
        ("vulnerable to", "a, b", "none"), ("kernel", "6.1", "6.12"),
    ]  # fmt: skip
    assert compare_runs(base, base).settings == []
    assert compare_runs(of(measured(1e9), cpu={}), of(measured(1e9), cpu={})).settings == []


def test_a_parameter_is_compared_within_a_run() -> None:
    results = [measured(n * 10e9, {"threads": n, "mix": mix}) for mix in ("add", "mul") for n in (1, 2, 4)]
    rows = compare_by(of(*results), "threads")
    assert [(row.params["mix"], row.params["threads"], row.verdict) for row in rows] == [
        ("add", 2, "FASTER"), ("add", 4, "FASTER"), ("mul", 2, "FASTER"), ("mul", 4, "FASTER"),
    ]  # fmt: skip
    assert rows[1].ratio == pytest.approx(4.0)
    with pytest.raises(
        UsageError, match="--by isa: no metric was measured at several values of it; this run varied mix, t"
    ):
        compare_by(of(*results), "isa")
    with pytest.raises(UsageError, match="this run varied no parameter"):
        compare_by(of(measured(1.0)), "threads")


@pytest.mark.parametrize("is_first", [True, False])
def test_rounds_are_compared_and_not_a_series_of_the_same_metric(is_first: bool) -> None:
    rounds = measured(50e9)
    series = msgspec.structs.replace(measured(25e9), is_series=True)
    both = of(*([series, rounds] if is_first else [rounds, series]))
    (row,) = compare_runs(both, of(rounds)).rows
    assert row.base == row.new


def test_the_best_of_several_runs_are_marked() -> None:
    runs = [of(measured(10e9)), of(measured(20e9)), of(measured(20.1e9)), of(measured(1.0, {"threads": 9}))]
    (row,) = compare_several(runs)
    assert row.values == [10e9, 20e9, 20.1e9, None]
    assert row.best == [1, 2]
    other = [of(measured(10e9, source="device")), of(measured(20e9, source="page cache")), of(measured(5.0))]
    assert (compare_several(other)[0].best, compare_several(other)[0].reason[:17]) == ([], "not the same work")
    latencies = [of(measured(value, better="lower")) for value in (3e-6, 1e-6, 2e-6)]
    assert compare_several(latencies)[0].best == [1]


def test_a_run_is_compared_with_itself_by_windows_of_rounds() -> None:
    steady = msgspec.structs.replace(measured(1e9), round_values=[1e9 * item for item in ROUNDS] * 4)
    jumping = measured(1e9, {"threads": 2})
    jumping = msgspec.structs.replace(jumping, round_values=[v * f for f in (1, 1, 2, 2) for v in ROUNDS])
    short = measured(1e9, {"threads": 3})
    counts = count_false_positives(of(steady, jumping, short))
    assert [(item.params["threads"], item.pairs, item.wrong, item.same, item.unsure) for item in counts] == [
        (1, 3, 0, 3, 0), (2, 3, 1, 2, 0),
    ]  # fmt: skip


def test_the_upper_bound_of_a_rate() -> None:
    assert upper_bound(0, 299) == pytest.approx(0.01, rel=0.01)  # the rule of three
    assert upper_bound(5, 5) == 1.0


def both_verdicts(base: Result, new: Result) -> tuple[str, str]:
    (row,) = compare_runs(of(base), of(new)).rows
    assert row.capability is not None
    return row.capability.verdict, row.verdict


def test_a_slower_machine_is_slower_in_both() -> None:
    assert both_verdicts(capable(100e9), capable(90e9)) == ("SLOWER", "SLOWER")


def test_neighbours_slow_down_only_what_is_typical() -> None:
    assert both_verdicts(capable(100e9), capable(100e9, of_typical=0.7)) == ("SAME", "SLOWER")


def test_the_machine_is_seen_behind_its_neighbours() -> None:
    assert both_verdicts(capable(100e9, of_typical=0.8), capable(90e9, of_typical=0.8 / 0.9)) == ("SLOWER", "SAME")


def test_every_row_says_which_change_it_would_have_shown() -> None:
    (precise,) = compare_runs(of(capable(1e9)), of(capable(1e9))).rows
    (vague,) = compare_runs(of(capable(1e9)), of(capable(1e9, width=0.2))).rows
    assert precise.capability is not None
    assert vague.capability is not None
    assert precise.capability.detectable is not None
    assert vague.capability.detectable is not None
    assert 0.03 < precise.capability.detectable < 0.06 < vague.capability.detectable
    assert vague.capability.verdict == "UNSURE"
    assert "rounds of each would decide" in vague.capability.reason
    # A change of the detectable size is found in four of five cases, so in more than half.
    change = 1 - precise.capability.detectable
    assert both_verdicts(capable(1e9), capable(1e9 * change)) == ("SLOWER", "SLOWER")


def test_metrics_that_did_not_change_do_not_hide_one_of_another_area() -> None:
    latencies = [
        with_summary(capable(1e9, width=0.02, probe="memory_latency"), params={"size": size}) for size in range(40)
    ]
    base, new = capable(1e9, width=0.02, probe="disk_block"), capable(0.6e9, width=0.02, probe="disk_block")
    rows = {row.probe: row for row in compare_runs(of(*latencies, base), of(*latencies, new), deciding="all").rows}
    assert rows["disk_block"].machine_verdict == "SLOWER"
    assert rows["memory_latency"].machine_verdict != "SLOWER"


def test_a_capability_without_an_interval_is_not_compared() -> None:
    base = capable(1e9)
    (row,) = compare_runs(of(base), of(with_summary(base, capability_ci=None))).rows
    assert row.capability is None
    assert row.machine_verdict == row.verdict == "SAME"


def p99(time_s: float, ci: tuple[float, float] | None, rounds_s: float) -> Result:
    """Return a percentile of all operations with its interval, and with rounds whose own values are ``rounds_s``."""
    made = of_disk(time_s, "latency_p99", "s", pattern="random")
    made = with_summary(made, ci=ci, rounds=12, capability=None, capability_ci=None)
    return msgspec.structs.replace(made, better="lower", is_pooled=True, round_values=[rounds_s] * 12)


def near(time_s: float) -> tuple[float, float]:
    return 0.99 * time_s, 1.01 * time_s


def test_percentiles_are_judged_by_the_values_and_intervals_that_are_shown() -> None:
    """The rounds say the opposite: they have too few operations for percentiles of their own."""
    rows = compare_runs(of(p99(1e-3, near(1e-3), 2e-3)), of(p99(2.5e-3, near(2.5e-3), 1e-3)), deciding="all").rows
    assert [row.verdict for row in rows] == ["SLOWER"]
    assert rows[0].ratio == pytest.approx(2.5)
    assert only(p99(1e-3, near(1e-3), 2e-3), p99(0.4e-3, near(0.4e-3), 9e-3))[0] == "FASTER"


def test_percentiles_of_two_runs_differ_by_the_variation_between_runs() -> None:
    """Disks vary by 13 % from run to run, so that 30 % is no change, however narrow both intervals are."""
    assert only(p99(1e-3, near(1e-3), 1e-3), p99(1.3e-3, near(1.3e-3), 1.3e-3))[0] == "UNSURE"
    one_run = compare_by(of(p99(1e-3, near(1e-3), 1e-3), _with_depth(p99(1.3e-3, near(1.3e-3), 1e-3), 4)), "depth")
    assert [row.verdict for row in one_run] == ["SLOWER"]
    assert one_run[0].ratio == pytest.approx(1.3)


def _with_depth(result: Result, depth: int) -> Result:
    return with_summary(result, params={**result.summary.params, "depth": depth})


def test_a_percentile_without_an_interval_is_unsure() -> None:
    verdict, reason = only(p99(1e-3, None, 1e-3), p99(2e-3, near(2e-3), 2e-3))
    assert verdict == "UNSURE"
    assert reason.startswith("no interval: it needs 6 rounds and enough operations above the percentile")


def test_the_best_percentiles_of_several_runs_are_judged_by_their_intervals() -> None:
    reports = [of(p99(value, near(value), 1e-3)) for value in (1e-3, 1.1e-3, 2.5e-3)]
    (row,) = compare_several(reports)
    assert row.best == [0, 1]


def test_the_self_test_leaves_out_percentiles_of_all_rounds() -> None:
    both = of(measured(1e9), p99(1e-3, near(1e-3), 1e-3))
    assert [count.metric for count in count_false_positives(both, window=3)] == ["rate"]


def test_a_percentile_is_not_compared_with_a_median_of_rounds() -> None:
    """Reports of earlier versions have the median of the rounds' percentiles."""
    earlier = msgspec.structs.replace(p99(1e-3, near(1e-3), 1e-3), is_pooled=False)
    verdict, reason = only(earlier, p99(2e-3, near(2e-3), 2e-3))
    assert verdict == "INCOMPARABLE"
    assert reason == (
        "the value in the new run is of the operations of all rounds, in the base the median of the rounds"
    )
    imported = msgspec.structs.replace(earlier, kind="imported")
    assert only(imported, p99(2e-3, near(2e-3), 2e-3))[0] != "INCOMPARABLE"
