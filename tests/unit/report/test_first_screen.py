"""The first screen of a run: which values it shows, and that they fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from machines import machine_with
from nameplate.records.plan_record import Experiment, Value
from nameplate.records.result import Rated, Report, Result
from nameplate.report.content.brief import brief
from nameplate.report.content.first_screen import MAX_ROWS, first_screen, machine_text
from nameplate.report.content.trust import trust_in
from nameplate.report.exports.json import export
from nameplate.report.terminal.first_screen import screen_lines
from nameplate.report.terminal.run import MAX_LINES, render
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.studies import with_study
from recorded_runs import RUNS, quiet_file, recorded_file
from report_samples import failed, of_disk, report, result, scaling_results, with_summary

WIDTHS = (60, 80, 100, 120, 200)


def labels(printed: Report) -> list[str]:
    return [row.label for row in first_screen(printed).rows]


def fp64(threads: int, value: float = 50e9, oversubscribed: bool = False) -> Result:
    params: dict[str, Value] = {"isa": "avx512", "mix": "fma", "precision": "fp64", "threads": threads}
    return result(params, value, oversubscribed=oversubscribed)


def other_area() -> Result:
    return of_disk(1e9)


@pytest.fixture(params=RUNS, ids=lambda path: path.name.partition(".")[0])
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Report:
    return summarise(read_run(recorded_file(request.param.stem, tmp_path)))


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_at_any_width(recorded: Report, width: int) -> None:
    screen = first_screen(recorded)
    lines = [line.plain for line in screen_lines(screen, width)]
    assert all(len(line) <= width for line in lines), max(lines, key=len)
    text = "\n".join(lines)
    for row in screen.rows:
        assert row.label in text
        assert brief(row.values, row.unit) in text
        assert row.remark in text
    assert "…" not in text


def test_a_machine_without_a_name_is_its_hardware() -> None:
    unnamed = msgspec.structs.replace(report([]), machine=machine_with(hostname="", cpu={"model": "EPYC 7543"}))
    assert machine_text(unnamed).startswith("EPYC 7543, ")


@pytest.mark.parametrize(("nodes", "start"), [(1, "node03 · "), (2, "node03 and 1 further node · ")])
def test_a_job_is_its_nodes_and_ranks(nodes: int, start: str) -> None:
    names = [f"node{index:02}" for index in range(3, 3 + nodes)]
    job = machine_with(hostname="node03", job={"nodes": names, "ranks": 8, "placement": [(0, 8)]})
    text = machine_text(msgspec.structs.replace(report([]), machine=job))
    assert text.startswith(start)
    assert text.endswith(" · 8 ranks")


def test_a_share_is_the_value_by_the_reference_value_of_its_row(recorded: Report) -> None:
    rows = [one.summary for one in recorded.results]
    for row in rows:
        assert row.efficiency is None or (row.value and row.rated and row.efficiency == row.value / row.rated)
    for line in first_screen(recorded).rows:
        assert line.share is None or line.share == (line.values[0] or 0.0) / (line.references[0] or 1.0)


@pytest.mark.parametrize("width", WIDTHS[1:])  # long warnings need more lines on the narrowest screen
def test_all_that_show_prints_of_any_run_fits_a_terminal(recorded: Report, width: int) -> None:
    printed = with_study(recorded)
    lines = render(printed, Path("nameplate-20261130-202743.jsonl"), width, has_tables=False)
    assert len(lines) <= MAX_LINES
    areas = {result.summary.probe.partition("_")[0] for result in recorded.results if result.summary.value is not None}
    assert {row.area for row in first_screen(printed).rows} == areas


@pytest.mark.parametrize("width", WIDTHS[1:])  # the narrowest screen has no column of references
@pytest.mark.parametrize("recorded", [recorded_file, quiet_file])
def test_show_explains_each_letter_on_its_lines(
    width: int, recorded: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    printed = summarise(read_run(recorded("quick.jsonl", tmp_path)))
    peers = Rated(1e-7, "source", is_ceiling=False, kind="catalogue", compared_with="capability",
                  peers="the median of 52 machines (Zen 4)")  # fmt: skip
    results = [
        msgspec.structs.replace(with_summary(one, rated=1e-7, efficiency=(one.summary.value or 0) / 1e-7), rated=peers)
        if one.summary.probe == "memory_latency" and one.summary.metric == "latency" else one
        for one in printed.results
    ]  # fmt: skip
    printed = msgspec.structs.replace(printed, results=results)
    lines = [str(line) for line in render(printed, Path("nameplate-20261130-202743.jsonl"), width, has_tables=False)]
    assert len(lines) <= MAX_LINES
    text = " ".join(lines)
    assert " ns o" in text
    assert "o: other machines' value" in text
    assert "p: peak computed here" in text
    assert "share = typical ÷ reference, with o: capability ÷ reference; " in text


def test_quick_fits_24_lines_of_80_characters(tmp_path: Path) -> None:
    screen = first_screen(summarise(read_run(recorded_file("quick.jsonl", tmp_path))))
    assert len(screen_lines(screen, 80)) <= 24
    assert [row.area for row in screen.rows] == sorted(
        (row.area for row in screen.rows), key=["cpu", "memory", "disk", "net"].index
    )


@pytest.mark.parametrize(("probe", "metric", "unit", "factor"), [
    ("net_stream", "bandwidth", "bit/s", 8),
    ("disk_block", "iops", "IOPS", 1),
])  # fmt: skip
def test_values_have_the_unit_in_which_people_know_them(
    probe: str, metric: str, unit: str, factor: int, tmp_path: Path
) -> None:
    printed = summarise(read_run(recorded_file("quick.jsonl", tmp_path)))
    row = next(row for row in first_screen(printed).rows if row.probe == probe and row.metrics == [metric])
    measured = next(result.summary for result in printed.results
                    if (result.summary.probe, result.summary.params, result.summary.metric)
                    == (probe, row.params, metric))  # fmt: skip
    assert measured.value
    assert (row.unit, row.values, row.capabilities) == (
        unit,
        [measured.value * factor],
        [measured.capability * factor if measured.capability else None],
    )
    assert row.ci == (tuple(bound * factor for bound in measured.ci) if measured.ci else None)


def test_the_line_of_all_threads_and_that_of_one_are_of_the_right_experiments() -> None:
    printed = report([fp64(1), fp64(2, 100e9), fp64(4, 120e9, oversubscribed=True), other_area()])
    assert labels(printed)[:2] == ["fp64, 2 threads", "fp64, 1 thread"]


def test_an_experiment_is_shown_once() -> None:
    assert labels(report([fp64(1), other_area()]))[:1] == ["fp64, 1 thread"]
    assert len(labels(report([fp64(1), other_area()]))) == 2


def test_a_run_of_one_probe_lists_its_experiments() -> None:
    assert labels(report(scaling_results()))[0].startswith("mix=")
    assert len(labels(report(scaling_results()))) == len(scaling_results())


def disk(**params: Value) -> list[Result]:
    """Return all results of an experiment of disk_block that appear on the first screen."""
    parts = ["read_", "write_", ""] if str(params.get("op", "")).startswith("readwrite:") else [""]
    times = [(f"{part}latency_{name}", value, "s") for part in parts for name, value in (("p50", 2e-4), ("p99", 3e-4))]
    metrics = [("bandwidth", 1e8, "B/s"), ("iops", 2e4, "op/s"), *times]
    return [of_disk(value, metric, unit, **params) for metric, value, unit in metrics]


@pytest.mark.parametrize(
    ("params", "rows"),
    [
        ({"op": "write", "block": 8192, "sync": "each"},
         [("8KiB commit, fdatasync", "20.0 kIOPS"), ("latency, p50/p99", "200/300 µs")]),
        ({"op": "write", "block": 8192, "sync": "each", "library": "uring", "depth": 4, "threads": 2},
         [("8KiB commit, RWF_DSYNC, QD4, 2 threads", "20.0 kIOPS"), ("latency, p50/p99", "200/300 µs")]),
        ({"pattern": "random", "library": "uring", "depth": 32},
         [("4KiB random read, QD32", "20.0 kIOPS"), ("latency, p50/p99", "200/300 µs")]),
        ({"op": "write", "block": 1 << 20, "sync": "end"},
         [("1MiB sequential write, fdatasync", "100 MB/s"), ("latency, p50/p99", "200/300 µs")]),
        ({"op": "readwrite:70", "pattern": "random"},
         [("4KiB random 70 % read", "20.0 kIOPS"), ("reads, p50/p99", "200/300 µs"),
          ("writes, p50/p99", "200/300 µs")]),
        ({"op": "readwrite"}, [("4KiB sequential read, write back", "100 MB/s"), ("latency, p50/p99", "200/300 µs")]),
    ],
)  # fmt: skip
def test_a_row_names_the_work_on_a_disk(params: dict[str, Value], rows: list[tuple[str, str]]) -> None:
    screen = first_screen(report(disk(**params)))
    assert [(row.label, brief(row.values, row.unit)) for row in screen.rows] == rows


def test_a_bandwidth_with_a_given_reference_value_is_shown_instead_of_operations() -> None:
    bandwidth, *rest = disk(pattern="random")
    rated = msgspec.structs.replace(with_summary(bandwidth, rated=5e8, efficiency=0.2), rated=Rated(5e8, "given"))
    screen = first_screen(report([rated, *rest]))
    first = screen.rows[0]
    assert (first.label, first.metrics[0], first.share) == ("4KiB random read", "bandwidth", 0.2)


def test_experiments_whose_work_has_one_name_are_named_by_their_parameters() -> None:
    libraries = [*disk(pattern="random"), *disk(pattern="random", library="mmap")]
    assert labels(report(libraries)) == ["library=pread", "latency, p50/p99", "library=mmap", "latency, p50/p99"]
    several = [item for block in (1024, 2048, 4096, 8192, 16384) for item in disk(pattern="random", block=block)]
    assert labels(report(several)) == [f"{size}KiB random read" for size in (1, 2, 4, 8, 16)]


def test_a_row_without_a_line_of_its_own_has_its_metric_and_the_parameters_of_the_plan() -> None:
    """In a run of several probes, "size=11.3KiB" would not say that the value is a latency."""
    latency = result({"size": 11585, "pages": "huge"}, 2e-9, probe="memory_latency", rated=None)
    several = report([fp64(1), with_summary(latency, metric="latency", unit="s")])
    experiment = Experiment(latency.id, "memory_latency", {"size": 11585}, 0.1)
    plan = msgspec.structs.replace(several.run.plan, experiments=[experiment])
    planned = msgspec.structs.replace(several, run=msgspec.structs.replace(several.run, plan=plan))
    assert "latency, 11.3KiB" in labels(planned)
    alone = msgspec.structs.replace(planned, results=planned.results[1:])
    assert labels(alone) == ["latency, 11.3KiB"]


def test_a_long_sweep_is_cut_and_counted() -> None:
    sweep = [result({"mix": "add", "threads": 1, "isa": f"isa{n}"}) for n in range(30)]
    screen = first_screen(report(sweep))
    assert len(screen.rows) == MAX_ROWS
    assert screen.left_out == 30 - MAX_ROWS


def test_a_failed_experiment_has_no_row() -> None:
    screen = first_screen(report([failed({"threads": 1}, "failed", "a reason")]))
    assert not screen.rows
    assert screen.trust.level == "low"


@pytest.mark.parametrize(
    ("disturbed", "half_width", "level"),
    [
        (0.0, 0.02, "high"),
        (0.0, 0.05, "medium"),
        (0.0, 0.2, "low"),
        (0.2, 0.05, "low"),
        (0.1, 0.02, "high"),
        (1.0, 0.02, "medium"),
    ],
)
def test_trust_depends_on_disturbance_and_intervals(disturbed: float, half_width: float, level: str) -> None:
    ci = (50e9 * (1 - half_width), 50e9 * (1 + half_width))
    assert trust_in(report([with_summary(fp64(1), disturbed=disturbed, ci=ci)])).level == level


def test_trust_names_the_widest_interval_if_it_is_much_wider_than_most() -> None:
    def with_width(threads: int, half_width: float) -> Result:
        made = with_summary(fp64(threads), ci=(50e9 * (1 - half_width), 50e9 * (1 + half_width)))
        return msgspec.structs.replace(made, utilisation=threads)

    most = [with_width(threads, 0.01) for threads in (1, 2, 4)]
    assert trust_in(report(most)).why.endswith("median interval ±1.0 %")
    assert trust_in(report([*most, with_width(8, 0.35)])).why.endswith("median interval ±1.0 %, widest ±35 %")


def test_the_cause_of_low_trust_comes_first() -> None:
    wide = trust_in(report([with_summary(fp64(1), disturbed=0.5, ci=(30e9, 70e9))]))
    assert (wide.level, wide.why) == ("low", "median interval ±40.0 %; 1 of 1 experiment disturbed")
    disturbed = trust_in(report([with_summary(fp64(1), disturbed=0.5, ci=(48e9, 52e9))]))
    assert (disturbed.level, disturbed.why) == ("low", "1 of 1 experiment disturbed; median interval ±4.0 %")


def test_trust_in_a_run_that_others_slowed_down_is_low() -> None:
    actual = trust_in(report([msgspec.structs.replace(fp64(2), utilisation=1.0)]))
    assert (actual.level, actual.why) == (
        "low",
        "other programs took 50 % of the CPU time; 0 of 1 experiment disturbed; median interval ±2.0 %",
    )


def test_trust_has_the_numbers_it_depends_on() -> None:
    actual = trust_in(report([with_summary(fp64(n), disturbed=share) for n, share in ((1, 0.5), (2, 0.0))]))
    assert (actual.experiments, actual.disturbed) == (2, 1)
    assert actual.half_width is not None
    assert actual.widest is not None
    assert actual.half_width <= actual.widest
    few = trust_in(report([with_summary(fp64(1), ci=None, rounds=3)]))
    assert (few.rounds, few.half_width, few.widest) == (3, None, None)


def test_trust_is_low_without_intervals_or_without_an_end() -> None:
    assert trust_in(report([with_summary(fp64(1), ci=None, rounds=3)])).why == "95 % intervals need 6 rounds (got 3)"
    assert trust_in(report([fp64(1)], truncated=True)).level == "low"


@pytest.mark.parametrize(
    ("values", "unit", "text"),
    [
        ([116e9], "FLOP/s", "116 GFLOP/s"),
        ([3.6975e9], "Hz", "3.70 GHz"),
        ([0.63e-3, 2.83e-3], "s", "0.63/2.83 ms"),
        ([38547.0, 717752.0, None], "B", "38K/701K/–"),
        ([32768.0, 1048576.0, 33554432.0], "B", "32K/1M/32M"),
        ([None], "s", "–"),
        ([0.0], "s", "0 s"),
    ],
)
def test_values_are_brief(values: list[float | None], unit: str, text: str) -> None:
    assert brief(values, unit) == text


def test_json_has_the_same_rows() -> None:
    printed = msgspec.structs.replace(report([fp64(2, 96e9)]), machine=machine_with(limits={"cpus": None}))
    headline = msgspec.json.decode(export(printed))["headline"]
    assert headline == msgspec.json.decode(msgspec.json.encode(first_screen(printed)))
    (row,) = headline["rows"]
    assert row["share"] == row["values"][0] / row["references"][0]
