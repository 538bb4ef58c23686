"""At every width, the output of every command has all its words and numbers, whatever was recorded."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rich.console import Console, RenderableType

from nameplate.command_line import run
from nameplate.commands import list as list_command
from nameplate.comparison.best_of_several import MultiRunComparison
from nameplate.comparison.false_positives import FalsePositiveCount
from nameplate.comparison.run_comparison import compare_runs
from nameplate.history.changes import change_reports, run_rows, runs_of, series_of, significant_changes
from nameplate.history.index import empty_index
from nameplate.history.update import run_files, updated
from nameplate.planning.sweep import ProbeInfo
from nameplate.records.result import Report
from nameplate.report.content.format import quantity
from nameplate.report.content.metric_names import MetricNames
from nameplate.report.content.result_rows import sections
from nameplate.report.terminal import history, nodes, versus
from nameplate.report.terminal.comparison import print_comparison, print_false_positives, print_several
from nameplate.report.terminal.doctor import print_fitness
from nameplate.report.terminal.run import render
from nameplate.results.fitness import Part, judge_machine, judge_spins, judge_steal
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.tools.paired import PairedRow, Verdict
from recorded_runs import RUNS, recorded_file, unpacked

WIDTHS = (60, 80, 100, 120)
WIDEST = 200
NAMES = [path.name.partition(".")[0] for path in RUNS]


@cache
def recorded(name: str) -> Report:
    with TemporaryDirectory() as folder:
        return summarise(read_run(recorded_file(f"{name}.jsonl", Path(folder))))


def printed(width: int, *parts: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=width, record=True, markup=False, emoji=False, highlight=False)
    for part in parts:
        console.print(part, crop=False)
    return console.export_text()


def check(text_at: Callable[[int], str]) -> None:
    """Check that no word of the widest output is cut in a narrower one, and that only single words are too wide."""
    known = set(text_at(WIDEST).split())
    for width in WIDTHS:
        text = text_at(width)
        assert "…" not in text
        assert set(text.split()) <= known, sorted(set(text.split()) - known)
        too_wide = [line for line in text.splitlines() if len(line) > width]
        assert all(line.lstrip().startswith(("all values", "charts: ", "scontrol ")) for line in too_wide), too_wide


@pytest.mark.parametrize("name", NAMES)
def test_all_values_of_a_run(name: str) -> None:
    report = recorded(name)
    check(lambda width: printed(width, *render(report, Path("run.jsonl"), width, has_tables=True)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_value_is_missing(name: str, width: int) -> None:
    report = recorded(name)
    text = printed(width, *render(report, Path("run.jsonl"), width, has_tables=True))
    output = {cell for section in sections(report) for row in section.rows for cell in row.cells[1:2] if cell}
    assert output
    assert all(value in text for value in output)
    rows = [result.summary for result in report.results]
    assert {quantity(row.value, row.unit) for row in rows if row.value is not None} & output


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("has_all", [False, True])
def test_a_comparison(name: str, has_all: bool) -> None:
    actual = compare_runs(recorded(name), recorded(name))

    def text_at(width: int) -> str:
        console = Console(file=io.StringIO(), width=width, record=True)
        print_comparison(actual, console, has_all)
        return console.export_text()

    check(text_at)


@pytest.mark.parametrize("name", [name for name in NAMES if recorded(name).nodes])
def test_the_nodes_of_a_job(name: str) -> None:
    actual = recorded(name).nodes
    assert actual
    check(lambda width: printed(width, nodes.render(actual, width)))


@pytest.mark.parametrize("arguments", [["machine"], ["plan"], ["plan", "quick"]])
def test_what_is_here(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def text_at(width: int) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        assert run(arguments) == 0
        return capsys.readouterr().out

    check(text_at)


def test_a_judgement_of_the_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    machine = recorded("quick").machine
    assert machine
    findings = [judge_spins([1.0, 2.0] * 20), judge_steal(0.0, 1.0, 2), *judge_machine(machine)]
    parts = [Part(True, "LAPACK", "OpenBLAS 0.3"), Part(False, "MPI", "not built in", "apt install it, then build it")]

    def text_at(width: int) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        print_fitness("F", findings, parts)
        return capsys.readouterr().out

    check(text_at)
    first = text_at(80).splitlines()[0]
    assert first == "F: values mean little in this state, because of: noise"


_PAIRED_VERDICTS: list[tuple[str, float, Verdict]] = [
    ("iops", 1.2, "more"), ("bandwidth", 0.8, "less"), ("latency", 1.01, "same"),
]  # fmt: skip
PAIRED = [
    PairedRow(tool="fio", version="fio-3.33", command="fio --name=x --rw=randread", work="random reads of 4 KiB",
              probe="disk_block", metric=metric, unit="op/s", ours=[ratio] * 7, theirs=[1.0] * 7, ratio=ratio,
              ci=(ratio, ratio), verdict=verdict, reason="")
    for metric, ratio, verdict in _PAIRED_VERDICTS
]  # fmt: skip


def test_a_comparison_with_tools() -> None:
    rows = [*PAIRED, PairedRow(tool="iperf3", reason="not installed", install="apt install iperf3")]

    def text_at(width: int) -> str:
        console = Console(file=io.StringIO(), width=width, record=True)
        versus.print_rows(rows, console)
        return console.export_text()

    check(text_at)
    counts = "better in 1, the same in 1, worse in 1 (fio, disk_block bandwidth: 0.800)"
    assert text_at(120).splitlines()[0] == f"Of 3 comparisons, nameplate's result is {counts}."


def test_several_runs_and_false_positives() -> None:
    several = [
        MultiRunComparison(probe="memory_stream", params={"op": "triad", "stores": "nontemporal"}, metric="bandwidth",
                unit="B/s", values=[4.2e10, None, 4.1e10], best=[0, 2], reason="the second run has no value"),
    ]  # fmt: skip
    counts = [
        FalsePositiveCount(
            probe="memory_latency", params={"size": "128MiB"}, metric="latency", pairs=24, wrong=1, same=20, unsure=3
        )
    ]

    def text_at(width: int) -> str:
        console = Console(file=io.StringIO(), width=width, record=True, highlight=False)
        print_several(several, ("first.jsonl", "second.jsonl", "third.jsonl"), console)
        print_false_positives(counts, console)
        return console.export_text()

    check(text_at)
    assert text_at(80).count(" *") == 2


def test_the_list_of_probes(
    described: dict[str, ProbeInfo], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_command, "describe_all", lambda: described)
    for probe in ("", "formats", *described):

        def text_at(width: int, probe: str = probe) -> str:
            monkeypatch.setenv("COLUMNS", str(width))
            list_command.command(probe)
            return capsys.readouterr().out

        check(text_at)


def test_a_history(tmp_path: Path) -> None:
    for name in ("quick", "mpi_pairs", "soak"):
        (tmp_path / f"{name}.jsonl").write_bytes(unpacked(name))
    index = updated(empty_index(), tmp_path, run_files(tmp_path))
    changes = change_reports(index, significant_changes(index), tmp_path)
    rows = run_rows(index, runs_of(index, None), None)
    names = MetricNames(index.metrics)

    def text_at(width: int) -> str:
        console = Console(file=io.StringIO(), width=width, record=True, highlight=False)
        history.print_overview(index.entries, rows, changes, names, console)
        history.print_series(series_of(index, [*range(len(index.metrics))], None), changes, names, console)
        return console.export_text()

    check(text_at)
