"""The first screen of a run: which values it shows, and that they fit."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from machines import machine_with
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.report.content.brief import brief
from nameplate.report.content.first_screen import MAX_ROWS, first_screen, machine_words
from nameplate.report.content.trust import trust_in
from nameplate.report.exports.json import export
from nameplate.report.terminal.first_screen import screen_lines
from nameplate.report.terminal.run import MAX_LINES, print_report, render
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from recorded_runs import RUNS, recorded_file
from report_samples import failed, report, result, scaling_results, with_summary

WIDTHS = (60, 80, 100, 120, 200)


def labels(shown: Report) -> list[str]:
    return [row.label for row in first_screen(shown).rows]


def fp64(threads: int, value: float = 50e9, oversubscribed: bool = False) -> Result:
    params: dict[str, Value] = {"isa": "avx512", "mix": "fma", "precision": "fp64", "threads": threads}
    return result(params, value, oversubscribed=oversubscribed)


def other_area() -> Result:
    return result({"op": "read", "block": 4096}, 1e9, probe="disk_block", rated=None)


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
    assert machine_words(unnamed).startswith("EPYC 7543, ")


def test_a_share_is_the_value_by_the_reference_value_of_its_row(recorded: Report) -> None:
    rows = [one.summary for one in recorded.results]
    for row in rows:
        assert row.efficiency is None or (row.value and row.rated and row.efficiency == row.value / row.rated)
    for line in first_screen(recorded).rows:
        assert line.share is None or line.share == (line.values[0] or 0.0) / (line.references[0] or 1.0)


def test_a_recorded_run_fits_a_terminal(recorded: Report, capsys: pytest.CaptureFixture[str]) -> None:
    whole = msgspec.structs.replace(recorded, study=None)
    print_report(whole, Path("run.jsonl"))
    printed = capsys.readouterr().out.splitlines()
    n_over_time = sum(line.startswith("  ") for line in printed)
    assert len(printed) - n_over_time <= 33  # of 100 characters; long labels have a line of their own


def test_all_that_show_prints_of_quick_fits_a_terminal(tmp_path: Path) -> None:
    path = recorded_file("quick.jsonl", tmp_path)
    lines = render(summarise(read_run(path)), Path("quick.jsonl"), 80, has_tables=False)
    assert len(lines) <= MAX_LINES


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
    shown = summarise(read_run(recorded_file("quick.jsonl", tmp_path)))
    row = next(row for row in first_screen(shown).rows if row.probe == probe and row.metrics == [metric])
    measured = next(one.summary for one in shown.results if (one.summary.probe, one.summary.params, one.summary.metric)
                    == (probe, row.params, metric))  # fmt: skip
    assert measured.value
    assert (row.unit, row.values, row.capabilities) == (
        unit,
        [measured.value * factor],
        [measured.capability * factor if measured.capability else None],
    )
    assert row.ci == (tuple(bound * factor for bound in measured.ci) if measured.ci else None)


def test_the_line_of_all_threads_and_that_of_one_are_of_the_right_experiments() -> None:
    shown = report([fp64(1), fp64(2, 100e9), fp64(4, 120e9, oversubscribed=True), other_area()])
    assert labels(shown)[:2] == ["fp64, 2 threads", "fp64, 1 thread"]


def test_the_verdict_has_the_share_of_the_first_screen() -> None:
    params: dict[str, Value] = {"isa": "avx512", "mix": "fma", "precision": "fp32", "threads": 2}
    screen = first_screen(report([fp64(2, 90e9), result(params, 50e9, rated=200e9), other_area()]))
    assert screen.rows[0].share == 0.9
    assert "CPU reaches 90 % of its peak" in screen.verdict


def test_an_experiment_is_shown_once() -> None:
    assert labels(report([fp64(1), other_area()]))[:1] == ["fp64, 1 thread"]
    assert len(labels(report([fp64(1), other_area()]))) == 2


def test_a_run_of_one_probe_lists_its_experiments() -> None:
    assert labels(report(scaling_results()))[0].startswith("mix=")
    assert len(labels(report(scaling_results()))) == len(scaling_results())


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
    [(0.0, 0.02, "high"), (0.0, 0.05, "medium"), (0.0, 0.2, "low"), (0.2, 0.02, "low"), (0.1, 0.02, "high")],
)
def test_trust_depends_on_disturbance_and_intervals(disturbed: float, half_width: float, level: str) -> None:
    ci = (50e9 * (1 - half_width), 50e9 * (1 + half_width))
    assert trust_in(report([with_summary(fp64(1), disturbed=disturbed, ci=ci)])).level == level


def test_trust_names_the_widest_interval_if_it_is_much_wider_than_most() -> None:
    def with_width(threads: int, half_width: float) -> Result:
        return with_summary(fp64(threads), ci=(50e9 * (1 - half_width), 50e9 * (1 + half_width)))

    most = [with_width(threads, 0.01) for threads in (1, 2, 4)]
    assert trust_in(report(most)).why.endswith("median interval ±1.0 %")
    assert trust_in(report([*most, with_width(8, 0.35)])).why.endswith("median interval ±1.0 %, widest ±35 %")


def test_trust_has_the_numbers_it_depends_on() -> None:
    found = trust_in(report([with_summary(fp64(n), disturbed=share) for n, share in ((1, 0.5), (2, 0.0))]))
    assert (found.experiments, found.disturbed) == (2, 1)
    assert found.half_width is not None
    assert found.widest is not None
    assert found.half_width <= found.widest
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
    shown = msgspec.structs.replace(report([fp64(2, 96e9)]), machine=machine_with(limits={"cpus": None}))
    headline = msgspec.json.decode(export(shown))["headline"]
    assert headline == msgspec.json.decode(msgspec.json.encode(first_screen(shown)))
    (row,) = headline["rows"]
    assert row["share"] == row["values"][0] / row["references"][0]
