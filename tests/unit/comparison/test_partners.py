"""Which metrics of two and more runs are compared with each other, and which of them never are."""

from __future__ import annotations

import msgspec
import pytest

from comparable_results import measured, of
from nameplate.comparison.best_of_several import compare_several
from nameplate.comparison.partners import metrics_by_key, partners
from nameplate.comparison.run_comparison import compare_runs
from nameplate.probes import load_probes
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from report_samples import with_summary


def message(params: dict[str, Value], value: float = 1e-6, *, is_imported: bool = True) -> Result:
    """Return the latency of a message of 8 B."""
    params = {"size": 8, "data": "unchanged", **params}
    stop = "imported" if is_imported else "budget"
    made = measured(value, params, better="lower", kind=stop if is_imported else "measured")
    return with_summary(made, probe="mpi_pingpong", metric="latency", unit="s", stop=stop)


def pingpong(pairs: int, value: float = 1e-6) -> Result:
    return message({"pairs": pairs, "pairing": "block", "seed": 1}, value, is_imported=False)


ONE_PAIR, UNKNOWN_PAIRS = message({"pairs": 1}), message({})


def partner_params(base: Report, new: Report) -> list[tuple[dict[str, Value], dict[str, Value]]]:
    pairs = partners(metrics_by_key(base.results), metrics_by_key(new.results))
    return [(dict(key[2]), dict(other[2])) for key, other in pairs.items()]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_the_closest_metric_is_compared(is_reversed: bool) -> None:
    """A log with osu_latency and osu_multi_lat has a value that tells its one pair, and one that does not."""
    sides = [of(pingpong(1)), of(UNKNOWN_PAIRS, ONE_PAIR)]
    (pair,) = partner_params(*(reversed(sides) if is_reversed else sides))
    assert {params.get("pairs") for params in pair} == {1}


def test_two_metrics_that_are_as_close_are_not_compared() -> None:
    assert partner_params(of(pingpong(1), pingpong(4)), of(UNKNOWN_PAIRS)) == []
    assert partner_params(of(message({"pairing": "block"})), of(UNKNOWN_PAIRS, ONE_PAIR)) != []
    assert partner_params(of(pingpong(1), message({"pairs": 1, "seed": 2})), of(ONE_PAIR)) == []


def test_a_metric_with_the_same_parameters_comes_first() -> None:
    pairs = partner_params(of(UNKNOWN_PAIRS, pingpong(1)), of(ONE_PAIR, UNKNOWN_PAIRS))
    assert [[params.get("pairs") for params in pair] for pair in pairs] == [[None, None], [1, 1]]


@pytest.mark.parametrize(
    ("base", "new", "name"),
    [(ONE_PAIR, UNKNOWN_PAIRS, "the new run"), (UNKNOWN_PAIRS, UNKNOWN_PAIRS, "the base"),
     (UNKNOWN_PAIRS, pingpong(1), "the base")],
)  # fmt: skip
def test_a_value_that_an_unknown_parameter_defines_is_never_judged(base: Result, new: Result, name: str) -> None:
    (row,) = compare_runs(of(base), of(new)).rows
    assert row.verdict == "INCOMPARABLE"
    assert row.reason == f"{name} does not report pairs, without which the value is not defined"
    assert row.ratio is None


def test_a_value_whose_parameters_are_known_is_judged() -> None:
    (row,) = compare_runs(of(ONE_PAIR), of(pingpong(1))).rows
    assert row.verdict == "SAME"


def test_a_parameter_that_the_work_does_not_have_is_known() -> None:
    without_pairs = msgspec.structs.replace(UNKNOWN_PAIRS, possible={"pairs": []})
    assert compare_runs(of(without_pairs), of(without_pairs)).rows[0].verdict == "SAME"


@pytest.mark.parametrize(
    ("base", "new", "reason"),
    [
        (["cubic"], ["bbr"], "congestion is cubic in the base and bbr in the new run"),
        (["cubic"], [], "congestion is cubic in the base and not used in the new run"),
        (["cubic", "reno"], ["bbr", "reno"], ""),
        ([], [], ""),
    ],
)
def test_outputs_that_exclude_each_other_are_not_compared(base: list[Value], new: list[Value], reason: str) -> None:
    """Their parameters are equal, and what else they tell is not."""
    one, other = (msgspec.structs.replace(ONE_PAIR, possible={"congestion": values}) for values in (base, new))
    (row,) = compare_runs(of(one), of(other)).rows
    assert (row.verdict, row.reason) == (("INCOMPARABLE", f"not the same work: {reason}") if reason else ("SAME", ""))
    (several,) = compare_several([of(one), of(other), of(other)])
    assert bool(several.best) == (not reason)


def test_the_defining_parameters_are_in_every_record_of_their_probe() -> None:
    """A misspelt name would make each imported value one that is never judged."""
    probes = [probe for probe in load_probes().values() if probe.defining]
    assert {probe.name for probe in probes} == {
        "disk_block", "memory_stream", "mpi_pingpong", "mpi_stream", "net_stream",
    }  # fmt: skip
    for probe in probes:
        assert {*probe.defining} - {"pattern"} <= {*probe.recorded.params}


def test_several_runs_have_the_partners_of_two() -> None:
    osu, imb = message({"pairs": 1}, 1e-6), message({"pairs": 1}, 2e-6)
    for order in ([pingpong(1, 3e-6), osu, imb], [osu, imb, pingpong(1, 3e-6)], [osu, pingpong(1, 3e-6), imb]):
        (row,) = compare_several([of(result) for result in order])
        assert row.values == [result.summary.value for result in order]
        assert (row.params["pairing"], row.reason) == ("block", "")
        assert row.best == [order.index(osu)]


def test_several_runs_name_those_that_are_not_compared() -> None:
    limited = msgspec.structs.replace(message({"pairs": 1}, 5e-6), restriction="rate=1m limited it")
    (row,) = compare_several([of(ONE_PAIR), of(UNKNOWN_PAIRS), of(pingpong(1)), of(limited)])
    assert (row.best, row.values) == ([0, 2], [1e-6, 1e-6, 1e-6, 5e-6])
    assert row.reason == (
        "run 2 does not report pairs, without which the value is not defined; rate=1m limited it in run 4"
    )
    (row,) = compare_several([of(ONE_PAIR), of(UNKNOWN_PAIRS), of(UNKNOWN_PAIRS)])
    assert row.best == []


def test_several_runs_count_rounding() -> None:
    coarse = [msgspec.structs.replace(message({"pairs": 1}, value), rounding=0.036) for value in (0.14e-6, 0.15e-6)]
    exact = [message({"pairs": 1}, value) for value in (0.14e-6, 0.15e-6)]
    assert [compare_several([of(result) for result in results])[0].best for results in (coarse, exact)] == [[0, 1], [0]]


def test_values_that_fit_equally_well_are_named() -> None:
    """STREAM does not report its stores, so a run with both kinds has two values for it."""
    both = [pingpong(1), message({"pairs": 1, "pairing": "cyclic", "seed": 1}, is_imported=False)]
    made = compare_runs(msgspec.structs.replace(of(both[0]), results=both), of(message({"pairs": 1})))
    assert made.rows == []
    assert made.notes == ["mpi_pingpong: several values of the base fit, which differ in pairing=: none is compared"]
    assert compare_runs(of(pingpong(1)), of(message({"pairs": 1}))).notes == []


def test_a_value_that_has_a_partner_of_its_own_is_no_candidate() -> None:
    """Of two values that fit, one is compared with another metric of the base, so that the choice is clear."""
    cyclic = message({"pairs": 1, "pairing": "cyclic", "seed": 1}, is_imported=False)
    both = msgspec.structs.replace(of(pingpong(1)), results=[pingpong(1), cyclic])
    base = msgspec.structs.replace(of(cyclic), results=[cyclic, message({"pairs": 1})])
    made = compare_runs(base, both)
    assert [row.params["pairing"] for row in made.rows] == ["cyclic", "block"]
    assert made.notes == []
