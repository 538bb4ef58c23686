"""The cache levels of a whole run: derived results, tables and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
import pytest

from machines import machine_with
from nameplate.probes.shared.levels import derived, table
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Rated, Result, Series, Summary, Table

KIB, MIB = 1 << 10, 1 << 20
ROUNDS = (0.99, 1.0, 1.01, 1.0, 0.995, 1.005)
LATENCY: dict[str, Value] = {"stride": 64, "chains": 1, "load": 0, "pages": "huge"}
RATE: dict[str, Value] = {"threads": 1, "build": "vector", "pages": "huge"}


def machine(l1: int = 48 * KIB, l2: int = 2 * MIB, l3: int = 105 * MIB) -> Machine:
    caches = [
        {"level": level, "type": "data" if level == 1 else "unified", "size_bytes": size, "count": 1, "shared_by": 1}
        for level, size in ((1, l1), (2, l2), (3, l3))
    ]
    by_cpuid = [{"level": 1, "type": "data", "size_bytes": 48 * KIB}]
    return machine_with(topology={"caches": caches, "cpuid_caches": by_cpuid})


def sizes(low: int, high: int, octave: int = 8) -> list[int]:
    result, step = [], 0
    while low * 2 ** (step / octave) <= high * 1.001:
        result.append(round(low * 2 ** (step / octave)))
        step += 1
    return result


def measured(probe: str, metric: str, unit: str, params: Mapping[str, Value], value: float) -> Result:
    summary = Summary(
        probe=probe, params=dict(params), metric=metric, value=value, unit=unit, ci=None, rounds=6, samples=6,
        mean=value, best=value, sustained=value, p95=value, p99=value, rated=None, efficiency=None, outcome="ok",
        reason="", stop="precision", disturbed=0.0,
    )  # fmt: skip
    return Result(
        id=f"{probe} {params}", summary=summary, better="lower", rated=Rated(None, ""), efficiency_ci=None,
        series=Series([], [], [], []), round_values=[value * factor for factor in ROUNDS], utilisation=1.0,
        oversubscribed=False, facts={},
    )  # fmt: skip


def curve(
    probe: str, metric: str, unit: str, params: Mapping[str, Value], at: list[int], value: Callable[[int], float]
) -> list[Result]:
    return [measured(probe, metric, unit, {**params, "size": size}, value(size)) for size in at]


def by_capacity(size: int) -> float:
    """Return the latency on a Sapphire Rapids guest: 48 KiB, 2 MiB, and 9 MiB of an L3 listed with 105 MiB."""
    return 1.7e-9 if size <= 48 * KIB else 5.4e-9 if size <= 2 * MIB else 19.5e-9 if size <= 9 * MIB else 90e-9


def latencies(value: Callable[[int], float] = by_capacity, stride: int = 64) -> list[Result]:
    a_page = [*sizes(64 * KIB, MIB, octave=4), *sizes(2 * MIB, 256 * MIB, octave=1)]
    at = sizes(4 * KIB, 256 * MIB) if stride == 64 else a_page
    return curve("memory_latency", "latency", "s", {**LATENCY, "stride": stride}, at, value)


def rates() -> list[Result]:
    return curve(
        "cpu_workset", "rate", "FLOP/s", RATE, sizes(KIB, 256 * MIB, 4), lambda size: 40e9 if size < 8 * MIB else 12e9
    )


def values(results: list[Result]) -> dict[str, float | None]:
    return {result.summary.metric: result.summary.value for result in results}


def only_table(tables: list[Table]) -> Table:
    assert len(tables) == 1
    return tables[0]


def test_levels_are_derived_with_their_sizes_intervals_and_latencies() -> None:
    summaries = {
        r.summary.metric: r.summary for r in derived("memory_latency", {"memory_latency": latencies()}, machine())
    }
    assert list(summaries) == [
        "l1d_size",
        "l1d_latency",
        "l2_size",
        "l2_latency",
        "l3_size",
        "l3_latency",
        "memory_latency",
    ]
    for name, truth in (("l1d_size", 48 * KIB), ("l2_size", 2 * MIB), ("l3_size", 9 * MIB)):
        interval = summaries[name].ci
        assert interval is not None
        assert interval[0] <= truth <= interval[1]
        assert interval[1] / interval[0] < 1.24
    assert summaries["l2_latency"].value == pytest.approx(5.4e-9)
    assert summaries["l3_size"].rated == 105 * MIB
    assert summaries["l3_size"].efficiency == pytest.approx(9 / 105, rel=0.1)


def test_sizes_listed_by_the_system_do_not_affect_the_measured_ones() -> None:
    """Wrong sizes from the system change the comparison, not the measured levels."""
    by_probe = {"memory_latency": latencies(), "cpu_workset": rates()}
    true, false = machine(), machine(l1=KIB, l2=64 * MIB, l3=4 * KIB)
    for probe in by_probe:
        assert values(derived(probe, by_probe, true)) == values(derived(probe, by_probe, false))


def test_a_size_that_differs_from_the_listed_one_is_noted() -> None:
    notes = only_table(table("memory_latency", {"memory_latency": latencies()}, machine())).notes
    assert [
        note
        for note in notes
        if note.startswith("L3: the measured size is 0.0") and "105MiB that the system lists" in note
    ]
    assert not [note for note in notes if note.startswith(("L1d:", "L2:"))]
    lying = only_table(table("memory_latency", {"memory_latency": latencies()}, machine(l1=32 * KIB))).notes
    assert [
        note
        for note in lying
        if note.startswith("L1d: the measured size is 1.") and "32KiB that the system lists" in note
    ]


def test_one_line_per_page_distinguishes_a_cache_from_a_translation_buffer() -> None:
    flat = latencies(lambda size: 1.7e-9 if size <= 3 * MIB else 5.4e-9, stride=4096)
    capacity = only_table(table("memory_latency", {"memory_latency": [*latencies(), *flat]}, machine()))
    assert [note for note in capacity.notes if note.startswith("L3 is limited by its capacity")]


def test_the_walk_over_pages_of_4_kib_does_not_tell_of_larger_ones() -> None:
    small = machine()
    large = msgspec.structs.replace(small, memory=msgspec.structs.replace(small.memory, page_bytes=64 * KIB))
    flat = latencies(lambda size: 1.7e-9 if size <= 3 * MIB else 5.4e-9, stride=4096)
    of_small, of_large = (
        only_table(table("memory_latency", {"memory_latency": [*latencies(), *flat]}, item)).notes
        for item in (small, large)
    )
    assert any("with one line per page, the latency does not rise" in note for note in of_small)
    assert not any("with one line per page" in note for note in of_large)
    assert any(note.startswith("The kernel's pages have 64KiB") for note in of_large)


def test_the_reach_of_a_second_level_tlb_is_not_a_cache_level() -> None:
    """Beyond the capacity of the first cache with one line per page, the step's share in both walks identifies it."""
    reach = 3 * MIB // 2

    def with_reach(size: int) -> float:
        return (1.7e-9 if size <= 48 * KIB else 5.4e-9 if size <= 6 * MIB else 60e-9) + (4e-9 if size > reach else 0)

    def one_a_page(size: int) -> float:
        return 1.7e-9 + (4e-9 if size > reach else 0) + (3.7e-9 if size > 3 * MIB else 0)

    results = [*latencies(with_reach), *latencies(one_a_page, stride=4096)]
    table_of = only_table(table("memory_latency", {"memory_latency": results}, machine()))
    assert [note for note in table_of.notes if "the reach of a TLB, not the end of a cache" in note]
    assert values(derived("memory_latency", {"memory_latency": results}, machine()))["l2_size"] == pytest.approx(
        6 * MIB, rel=0.15
    )

    # If a neighbour takes half of the next cache most of the time, only the best samples show the cost of the step.
    results = [
        mostly_slower(result) if reach < int(result.summary.params["size"]) < 6 * MIB else result for result in results
    ]
    actual = values(derived("memory_latency", {"memory_latency": results}, machine()))
    assert actual["l2_size"] == pytest.approx(6 * MIB, rel=0.15)


@pytest.mark.parametrize(
    ("reach", "small", "behind_s"),
    [(256 * KIB, 420 * KIB, 16e-9), (384 * KIB, 300 * KIB, 16e-9), (256 * KIB, 420 * KIB, 7.8e-9)],
)
def test_waiting_for_translations_neither_hides_nor_adds_a_level(reach: int, small: int, behind_s: float) -> None:
    """On a guest with small pages, the second cache ends where most accesses miss a first-level TLB."""

    def lines(size: int) -> float:
        latency_s = 1.2e-9 if size <= 32 * KIB else 3.8e-9 if size <= small else behind_s if size <= 5 * MIB else 130e-9
        return latency_s + 2.2e-9 * max(0.0, 1 - reach / size)

    pages = latencies(lambda size: 1.2e-9 + (2.2e-9 if size > reach else 0), stride=4096)
    results = [*latencies(lines), *pages]
    summaries = {r.summary.metric: r.summary for r in derived("memory_latency", {"memory_latency": results}, machine())}
    assert [name for name in summaries if name.endswith("_size")] == ["l1d_size", "l2_size", "l3_size"]
    interval = summaries["l2_size"].ci
    assert interval is not None
    assert interval[0] * 0.95 <= small <= interval[1] * 1.05
    assert summaries["l2_size"].value == pytest.approx(small, rel=0.12)
    notes = only_table(table("memory_latency", {"memory_latency": results}, machine())).notes
    assert [note for note in notes if "waits 2.2 ns longer" in note]
    assert [
        note
        for note in notes
        if note.startswith("L2 is limited by its capacity: with one line per page, the latency rises")
    ]
    assert not [note for note in notes if "does not rise there" in note]


def test_a_size_that_was_always_disturbed_does_not_end_a_level_before_it() -> None:
    """Larger sizes were served by the level, so the disturbed size must have been as well."""
    last = max(size for size in sizes(4 * KIB, 256 * MIB) if size <= 44 * KIB)

    def disturbed(size: int) -> float:
        return by_capacity(size) * (1.9 if size == last else 1)

    quiet = values(derived("memory_latency", {"memory_latency": latencies()}, machine()))
    actual = values(derived("memory_latency", {"memory_latency": latencies(disturbed)}, machine()))
    assert actual["l1d_size"] == pytest.approx(quiet["l1d_size"], rel=0.01)


def test_one_lucky_sample_does_not_move_the_end_of_a_level() -> None:
    def lucky(size: int) -> float:
        return 19.5e-9 if size == 64 * MIB else by_capacity(size)

    quiet = values(derived("memory_latency", {"memory_latency": latencies()}, machine()))
    actual = values(derived("memory_latency", {"memory_latency": latencies(lucky)}, machine()))
    assert actual["l3_size"] == pytest.approx(quiet["l3_size"], rel=0.01)


def test_the_remainder_of_a_tlb_step_is_not_a_level() -> None:
    def lines(size: int) -> float:
        latency_s = (
            1.2e-9 if size <= 32 * KIB else 3.8e-9 if size <= 900 * KIB else 16e-9 if size <= 5 * MIB else 130e-9
        )
        return latency_s + (2.2e-9 * (1 - 256 * KIB / size) + 0.9e-9 if size > 256 * KIB else 0)

    pages = latencies(lambda size: 1.2e-9 + (2.2e-9 if size > 256 * KIB else 0), stride=4096)
    results = {"memory_latency": [*latencies(lines), *pages]}
    actual = values(derived("memory_latency", results, machine()))
    assert [name for name in actual if name.endswith("_size")] == ["l1d_size", "l2_size", "l3_size"]
    assert actual["l2_size"] == pytest.approx(900 * KIB, rel=0.12)


def test_every_level_that_can_be_found_has_a_name() -> None:
    def stairs(size: int) -> float:
        return float(1e-9 * 2 ** sum(size > 16 * KIB * 8**step for step in range(6)))

    at = sizes(4 * KIB, 2048 * MIB)
    actual = derived("memory_latency", {"memory_latency": curve("memory_latency", "latency", "s", LATENCY, at, stairs)},
                    machine())  # fmt: skip
    assert [name for name in values(actual) if name.endswith("_size")][-1] == "l6_size"


def mostly_slower(result: Result) -> Result:
    if result.summary.params["stride"] != LATENCY["stride"]:
        return result
    return msgspec.structs.replace(result, round_values=[2 * value for value in result.round_values])


def test_the_table_has_the_other_curves_in_each_level() -> None:
    reads = curve("memory_stream", "bandwidth", "B/s", {"op": "read", "threads": 1, "pages": "huge"},
                  sizes(4 * KIB, 128 * MIB, 1), lambda size: 200e9 if size <= 48 * KIB else 60e9)  # fmt: skip
    by_probe = {"memory_latency": latencies(), "cpu_workset": rates(), "memory_stream": reads}
    level_table = only_table(table("memory_latency", by_probe, machine()))
    rows = {str(row[0]): dict(zip(level_table.headings, row, strict=True)) for row in level_table.rows}
    assert list(rows) == ["L1d", "L2", "L3", "memory"]
    assert 74 <= int(str(rows["L1d"]["largest k × k"]).removeprefix("k = ")) <= 79
    assert getattr(rows["L1d"]["bandwidth"], "value", None) == pytest.approx(200e9)
    assert getattr(rows["L2"]["rate"], "value", None) == pytest.approx(40e9)
    assert getattr(rows["memory"]["rate"], "value", None) == pytest.approx(12e9)
    assert table("cpu_workset", by_probe, machine()) == []


def test_levels_found_by_rate_have_cache_names_only_if_all_are_found() -> None:
    actual = values(derived("cpu_workset", {"cpu_workset": rates()}, machine()))
    assert list(actual) == ["level1_size", "level1_rate", "memory_rate"]
    assert actual["level1_size"] == pytest.approx(8 * MIB, rel=0.2)


def test_few_sizes_are_not_a_curve() -> None:
    few = [result for result in latencies() if int(result.summary.params["size"]) < 8 * KIB]
    assert derived("memory_latency", {"memory_latency": few}, machine()) == []
    assert table("memory_latency", {"memory_latency": few}, machine()) == []
