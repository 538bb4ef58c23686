"""A folder of runs and its index: what is read, what is kept, and that the run files are authoritative."""

from __future__ import annotations

import json
import multiprocessing
import random
import re
import shutil
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import pytest

from machines import machine_with
from nameplate.command_line import run as nameplate
from nameplate.errors import FileError, UsageError
from nameplate.history import update
from nameplate.history.changes import (
    MetricHistory,
    Point,
    RunRow,
    change_reports,
    metrics_named,
    run_rows,
    runs_of,
    series_of,
    significant_changes,
)
from nameplate.history.index import Change, Entry, Index, Rows, empty_index, index_file, load_index, save_index
from nameplate.history.update import run_files, updated
from nameplate.records.run_record import FileRecord, MetricKey, Stop
from nameplate.records.run_writer import RunWriter
from nameplate.report.content.metric_names import MetricNames
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.history import print_overview, print_series
from nameplate.results.digest import digest_of, digest_of_report
from nameplate.results.measurements import RunFile
from nameplate.results.run_file import append_digest, read_run
from nameplate.results.summarise import summarise
from run_samples import header, outcome, plan, run, sample

FIRST = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
ROUNDS = 6


def write_run(
    path: Path, day: int, flops: float = 480e6, host: str = "node01", got: float = 1.0, **machine: Any
) -> None:
    """Write a complete run of one experiment with six rounds of one sample, which got a share of the CPU time."""
    which = plan("x")
    header_of_run = header()
    records: list[FileRecord] = [
        msgspec.structs.replace(run(which), started=(FIRST + timedelta(days=day)).isoformat()),
        msgspec.structs.replace(header_of_run, machine=machine_with(header_of_run.machine, hostname=host, **machine)),
    ]
    for number in range(1, ROUNDS + 1):
        of_round = sample("x", flops=round(flops), round_number=number)
        counters = {**of_round.counters, "cpu_user_s": got * of_round.elapsed_s}
        records += [msgspec.structs.replace(of_round, counters=counters), outcome("x", round_number=number)]
    writer = RunWriter.create(path)
    for record in [*records, Stop(reasons={"x": "rounds"}, elapsed_s=1.0, interrupted=False)]:
        writer.write(record)
    writer.close()


def write_runs(folder: Path, runs: int, host: str = "node01", slower_from: int | None = None) -> None:
    """Write one run per day, with values that vary by 0.2 %; from ``slower_from`` on, 10 % slower on another kernel."""
    source = random.Random(host)
    for day in range(runs):
        is_slower = slower_from is not None and day >= slower_from
        flops = 480e6 * source.gauss(1, 0.002) * (0.9 if is_slower else 1)
        write_run(folder / f"{host}-{day:03}.jsonl", day, flops, host, kernel="6.2" if is_slower else "6.1")


def read(folder: Path) -> Index:
    return updated(load_index(folder), folder, run_files(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_runs(tmp_path, 20, "node01")
    (tmp_path / "older").mkdir()
    write_runs(tmp_path / "older", 20, "node02", slower_from=12)
    return tmp_path


def test_values_are_those_that_show_prints(folder: Path) -> None:
    index = read(folder)
    (series,) = series_of(index, metrics_named(index, ["rate"]), "node02")
    for point in series.points:
        row = summarise(read_run(folder / point.path)).results[0].summary
        assert (point.value, point.ci) == (row.value, row.ci)
        assert (series.key.probe, series.key.params, series.key.unit) == (row.probe, row.params, row.unit)
    assert [point.started for point in series.points] == sorted(point.started for point in series.points)


def test_a_step_is_reported_with_its_day_machine_and_changes(folder: Path) -> None:
    index = read(folder)
    reported = [
        change_report
        for change_report in change_reports(index, significant_changes(index), folder)
        if change_report.key.metric == "rate"
    ]
    (change,) = reported
    assert (change.verdict, change.machine, change.runs) == ("SLOWER", "node02", 8)
    assert (change.until, change.since) == ("older/node02-011.jsonl", "older/node02-012.jsonl")
    assert datetime.fromisoformat(change.since_started) == FIRST + timedelta(days=12)
    assert change.after / change.before == pytest.approx(0.9, rel=0.005)
    assert [(s.name, s.base, s.new) for s in change.settings] == [("kernel", "6.1", "6.2")]


def test_runs_that_were_slowed_down_are_no_change_and_not_typical(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten runs, of which the last four were made while other programs took half of the CPU time."""
    for day in range(10):
        is_slowed = day >= 6
        write_run(tmp_path / f"{day}.jsonl", day, (240e6 if is_slowed else 480e6) + day, got=0.5 if is_slowed else 1.0)
    index = read(tmp_path)
    assert {entry.path: entry.slowed for entry in index.entries if entry.slowed} == {
        f"{day}.jsonl": "other programs took 50 % of the CPU time" for day in range(6, 10)
    }
    assert index.typical["runs"].tolist() == [6] * len(index.metrics)
    assert significant_changes(index) == []
    for path in tmp_path.glob("*.jsonl"):
        file = read_run(path)
        assert digest_of(file) == msgspec.structs.replace(digest_of_report(summarise(file)), judgeable=None)
    assert nameplate(["history", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "6 runs of a machine: 8 are needed to see a change of its level" in text
    assert "4 files not judged and not counted for changes and usual values\n  6.jsonl: other programs took" in text
    assert "9.jsonl (not judged)" in text
    assert nameplate(["history", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert [bool(row["slowed"]) for row in rows].count(True) == 4


def test_copies_of_a_run_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for day in range(5):
        write_run(tmp_path / f"{day}.jsonl", day)
    write_run(tmp_path / "slow.jsonl", 9, 300e6)
    for number in range(9):
        shutil.copy(tmp_path / "slow.jsonl", tmp_path / f"slow-{number}.jsonl")
    index = read(tmp_path)
    assert significant_changes(index) == []
    assert len(runs_of(index)) == 6
    assert {entry.copy_of for entry in index.entries if entry.path.startswith("slow-")} == {"slow-0.jsonl", ""}
    assert nameplate(["history", str(tmp_path)]) == 0
    assert "9 files left out: the same run as another file\n  slow-1.jsonl: the run of slow-0.jsonl" in (
        capsys.readouterr().out
    )
    assert nameplate(["history", str(tmp_path), "--json"]) == 0
    assert {"path": "slow.jsonl", "of": "slow-0.jsonl"} in json.loads(capsys.readouterr().out)["copies"]


def test_a_copy_counts_when_its_run_is_removed(tmp_path: Path) -> None:
    write_run(tmp_path / "a.jsonl", 1)
    save_index(read(tmp_path), tmp_path)
    shutil.copy(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    save_index(read(tmp_path), tmp_path)
    assert [entry.copy_of for entry in load_index(tmp_path).entries] == ["", "a.jsonl"]
    assert read(tmp_path).entries == load_index(tmp_path).entries
    (tmp_path / "a.jsonl").unlink()
    (entry,) = read(tmp_path).entries
    assert (entry.path, entry.copy_of) == ("b.jsonl", "")
    assert set(read(tmp_path).values["run"]) == {0}


def test_faster_and_slower_metrics_of_one_time_stay_together(folder: Path) -> None:
    index = read(folder)
    (actual,) = [
        significant_change
        for significant_change in significant_changes(index)
        if index.metrics[significant_change.metric].metric == "rate"
    ]
    mixed = [
        msgspec.structs.replace(actual, before=before, after=after)
        for before, after in ((2.0, 1.0), (1.0, 2.0), (2.0, 1.5), (1.0, 1.5))
    ]
    verdicts = [significant_change.verdict for significant_change in change_reports(index, mixed, folder)]
    assert verdicts == ["SLOWER", "SLOWER", "FASTER", "FASTER"]


def test_an_increasing_time_is_slower(folder: Path) -> None:
    index = read(folder)
    turned = msgspec.structs.replace(
        index, metrics=[msgspec.structs.replace(key, better="lower") for key in index.metrics]
    )
    assert {change_report.verdict for change_report in change_reports(turned, significant_changes(turned), folder)} == {
        "FASTER"
    }


def test_each_run_is_shown_next_to_the_usual_value(folder: Path) -> None:
    index = read(folder)
    rows = run_rows(index, runs_of(index, "node02"))
    assert [row.path for row in rows] == [f"older/node02-{day:03}.jsonl" for day in range(20)]
    assert rows[0].relative_to_typical == pytest.approx(1.0, abs=0.01)
    assert rows[-1].relative_to_typical == pytest.approx(0.9, abs=0.01)
    assert run_rows(index, runs_of(index)[-3:])[-1] == rows[-1]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of the run files whose records are read."""
    seen: list[str] = []

    def reading(path: Path) -> RunFile:
        seen.append(path.name)
        return read_run(path)

    monkeypatch.setattr(update, "read_run", reading)
    return seen


def retained(folder: Path) -> Index:
    index = read(folder)
    save_index(index, folder)
    return index


def test_only_new_files_are_read(folder: Path, reads: list[str]) -> None:
    retained(folder)
    assert len(reads) == 40
    before = load_index(folder)
    assert updated(before, folder, run_files(folder)) is before
    write_run(folder / "new.jsonl", 30)
    assert len(read(folder).entries) == 41
    assert reads[40:] == ["new.jsonl"]


def same(one: Index, other: Index, folder: Path) -> bool:
    """Return whether two indexes have the same content, in whatever order."""

    def said(index: Index) -> Any:
        series = sorted(map(repr, series_of(index, range(len(index.metrics)))))
        changes = sorted(map(repr, change_reports(index, significant_changes(index), folder)))
        return sorted(map(repr, index.entries)), sorted(map(repr, run_rows(index, runs_of(index)))), series, changes

    return bool(said(one) == said(other))


@pytest.mark.parametrize("day", [0, 15])
def test_a_changed_or_removed_run_leaves_the_index(folder: Path, day: int) -> None:
    retained(folder)
    changed, gone = folder / f"node01-{day:03}.jsonl", folder / "older" / f"node02-{day:03}.jsonl"
    changed.unlink()
    write_run(changed, day, flops=999e6)
    gone.unlink()
    index = read(folder)
    assert same(index, updated(empty_index(), folder, run_files(folder)), folder)
    values = [point.value for item in series_of(index, metrics_named(index, ["rate"])) for point in item.points]
    assert len(values) == 39
    assert max(values) == pytest.approx(99.9e9)


def test_many_files_are_read_by_several_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = read(folder)
    monkeypatch.setattr(update, "_BATCH", 3)
    reported: list[tuple[int, int]] = []
    together = updated(empty_index(), folder, run_files(folder), lambda done, files: reported.append((done, files)))
    assert same(alone, together, folder)
    assert reported[-1] == (40, 40)


@pytest.mark.parametrize("damage", ["cut", "empty", "noise", "places", "code", "names"])
def test_a_damaged_index_is_rebuilt(folder: Path, damage: str, reads: list[str]) -> None:
    complete = retained(folder)
    path = index_file(folder)
    content = path.read_bytes()
    stored = msgspec.msgpack.decode(content)
    match damage:
        case "cut":
            path.write_bytes(content[:-100])
        case "empty":
            path.write_bytes(b"")
        case "noise":
            path.write_bytes(random.Random(1).randbytes(len(content)))
        case "places":
            path.write_bytes(msgspec.msgpack.encode({**stored, "entries": stored["entries"][:1]}))
        case "code":
            path.write_bytes(msgspec.msgpack.encode({**stored, "by": ""}))
        case "names":  # an index of a version that called its metrics otherwise
            stored["figures"] = stored.pop("metrics")
            path.write_bytes(msgspec.msgpack.encode(stored))
    assert load_index(folder).entries == []
    del reads[:]
    assert same(read(folder), complete, folder)
    assert len(reads) == 40


def _index_repeatedly(folder: Path, times: int) -> None:
    for _ in range(times):
        index = updated(empty_index(), folder, run_files(folder))
        save_index(index, folder)
        assert len(load_index(folder).entries) == 40


def test_two_writers_at_once(folder: Path) -> None:
    """No reader ever sees an incomplete index, and no temporary file remains."""
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_index_repeatedly, args=(folder, 15)) for _ in range(2)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        is_there = index_file(folder).exists()
        assert len(load_index(folder).entries) == 40 or not is_there
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    index_path = index_file(folder)
    assert [path for path in index_path.parent.iterdir() if path.name.startswith(index_path.stem)] == [index_path]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_an_index_that_cannot_be_written_is_a_file_error(folder: Path) -> None:
    index_file(folder).mkdir(parents=True)
    with pytest.raises(FileError, match="Is a directory; the runs are read again each time"):
        save_index(read(folder), folder)


def test_a_cache_directory_that_cannot_be_created_is_a_file_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(FileError, match="Not a directory; the runs are read again each time"):
        save_index(read(folder), folder)


def test_a_folder_has_one_index_by_whatever_name(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert index_file(tmp_path / "link") == index_file(folder)
    assert index_file(folder).parent == tmp_path / ".cache" / "nameplate" / "history"


HOSTILE = {
    "no-run.jsonl": b'{"some": "log"}\n',
    "empty.jsonl": b"",
    "newer.jsonl": b'{"type":"run","schema":99}\n',
    "binary.jsonl": bytes(range(256)),
}


def test_after_an_update_changes_are_searched_for_and_the_records_stay(
    folder: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "x.jsonl").write_text("no run\n")
    before = retained(folder)
    del reads[:]
    searched: list[int] = []
    search_changes = update._looked_over

    def searching(values: Rows, entries: Sequence[Entry]) -> tuple[list[Change], Rows]:
        searched.append(len(values))
        return search_changes(values, entries)

    monkeypatch.setattr(update, "_looked_over", searching)
    monkeypatch.setattr(update, "code_fingerprint", lambda: "later code")
    after = retained(folder)
    assert reads == ["x.jsonl"]
    assert searched == [len(before.values)]
    assert (after.changes, after.judged_by) == (before.changes, "later code")
    assert same(after, before, folder)
    assert read(folder) is not None
    assert reads == ["x.jsonl"]


def test_a_file_that_is_not_a_run_is_reported_and_not_read_again(folder: Path, reads: list[str]) -> None:
    for name, content in HOSTILE.items():
        (folder / name).write_bytes(content)
    write_run(folder / "hidden.jsonl", 1)
    (folder / "hidden.jsonl").rename(folder / ".hidden.jsonl")
    (folder / "dangling.jsonl").symlink_to("nowhere")
    index = retained(folder)
    assert {entry.path for entry in index.entries if entry.reason} == set(HOSTILE)
    assert sum(not entry.reason for entry in index.entries) == 40
    del reads[:]
    assert read(folder).entries == index.entries
    assert reads == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("started", "yesterday"), ("hostname", ["a"]), ("job", 7), ("job", {"nodes": 7})],
)
def test_impossible_records_are_reported(tmp_path: Path, field: str, value: Any) -> None:
    write_run(tmp_path / "a.jsonl", 0)
    changed = []
    for line in (tmp_path / "a.jsonl").read_text().splitlines():
        record = json.loads(line)
        for holder in (record, record.get("machine", {})):
            if field in holder or (field == "job" and "hostname" in holder):
                holder[field] = value
        changed.append(json.dumps(record))
    (tmp_path / "b.jsonl").write_text("\n".join(changed) + "\n")
    entries = {entry.path: entry for entry in read(tmp_path).entries}
    assert not entries["a.jsonl"].reason
    assert entries["b.jsonl"].reason.startswith(str(tmp_path / "b.jsonl")) or field == "hostname"


def test_an_unfinished_run_counts_as_far_as_it_is(tmp_path: Path) -> None:
    write_run(tmp_path / "a.jsonl", 0)
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines[:-1]) + lines[-1][:10])
    index = retained(tmp_path)
    (row,) = run_rows(index, runs_of(index))
    assert (row.unfinished, row.metrics > 0) == (True, True)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    assert [entry.unfinished for entry in read(tmp_path).entries] == [False]


@pytest.fixture
def with_digests(folder: Path) -> Path:
    """Append to each run the record with its values, with which a complete run ends."""
    for path in folder.rglob("*.jsonl"):
        append_digest(file := read_run(path), digest_of(file))
    return folder


def test_the_last_line_of_a_complete_run_is_enough(folder: Path, reads: list[str]) -> None:
    from_samples = read(folder)
    for path in folder.rglob("*.jsonl"):
        append_digest(file := read_run(path), digest_of(file))
    del reads[:]
    from_digests = read(folder)
    assert reads == []
    assert (from_digests.metrics, from_digests.machines) == (from_samples.metrics, from_samples.machines)
    assert from_digests.values.tobytes() == from_samples.values.tobytes()
    assert [entry.started for entry in from_digests.entries] == [entry.started for entry in from_samples.entries]


def _other_code(content: bytes) -> bytes:
    return re.sub(rb'"by":"[^"]+"', b'"by":"0000"', content)


def _other_samples(content: bytes) -> bytes:
    return re.sub(rb'("type":"sample".*?"flops":)(\d)', rb"\g<1>9", content, count=1)


def _gone_on_with(content: bytes) -> bytes:
    """Append the records that --resume would: a header, rounds and a stop record."""
    lines = content.splitlines(keepends=True)
    return content + b"".join(lines[1:-1])


def _without_its_end(content: bytes) -> bytes:
    return content[:-10]


@pytest.mark.parametrize("change", [_other_code, _other_samples, _gone_on_with, _without_its_end])
def test_stored_values_that_do_not_match_the_records_are_ignored(
    with_digests: Path, reads: list[str], change: Callable[[bytes], bytes]
) -> None:
    path = with_digests / "node01-007.jsonl"
    before = path.read_bytes()
    path.write_bytes(change(before))
    assert path.read_bytes() != before
    index = read(with_digests)
    assert reads == ["node01-007.jsonl"]
    number = next(i for i, entry in enumerate(index.entries) if entry.path == path.name)
    rates = [r.summary for r in summarise(read_run(path)).results if r.summary.metric == "rate"]
    values = index.values[index.values["run"] == number]
    assert rates[0].value in values["value"].tolist()
    assert not index.entries[number].unfinished


def test_metrics_are_found_by_words(folder: Path) -> None:
    index = read(folder)
    names = {index.metrics[i].metric for i in metrics_named(index, ["cpu_flops", "threads=1"])}
    assert "rate" in names
    assert metrics_named(index, ["cpu"]) == metrics_named(index, ["isa=avx512"])
    with pytest.raises(UsageError, match=r"no metric here matches 'memory_stream'; use a probe \(cpu_flops"):
        metrics_named(index, ["memory_stream"])
    with pytest.raises(UsageError, match="--machine node09: no runs; the folder has runs of node01, node02"):
        series_of(index, [0], "node09")


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert nameplate(["history", str(folder), *arguments]) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def test_the_overview(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (folder / "log.jsonl").write_bytes(b"{}\n")
    text = printed(folder, capsys)
    assert "40 runs of 2 machines, 2026-01-01 to 2026-01-20" in text
    assert "SLOWER node02 since 2026-01-13, 8 runs" in text
    assert "with kernel: 6.1 → 6.2" in text
    assert "the latest 20 of 40 runs" in text
    assert "1 file could not be read" in text
    assert max(map(len, text.splitlines())) <= 80
    only = printed(folder, capsys, "--machine", "node01")
    assert "no metric changed" in only
    assert "node02" not in only


def test_few_runs_cannot_show_a_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_runs(tmp_path, 7)
    text = printed(tmp_path, capsys)
    assert "7 runs of a machine: 8 are needed to see a change of its level" in text
    assert "no metric changed" not in text
    assert "7 runs of a machine: 8 are needed" in printed(tmp_path, capsys, "rate")
    write_run(tmp_path / "last.jsonl", 8)
    assert "no metric changed" in printed(tmp_path, capsys)


def test_outliers_have_a_heading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_runs(tmp_path, 8)
    assert "the worst metric of a run" not in printed(tmp_path, capsys)
    write_run(tmp_path / "slow.jsonl", 9, flops=400e6)
    text = printed(tmp_path, capsys)
    assert "\nthe worst metric of a run, if it is more than 3 % worse than usual\n  slow.jsonl: −" in text


@pytest.mark.parametrize(("better", "change"), [("higher", "−20.0 %"), ("lower", "+25.0 %")])
def test_an_outlier_has_the_sign_of_its_value(better: Literal["higher", "lower"], change: str) -> None:
    key = MetricKey("memory_latency", {}, "latency", "s", better)
    started = "2026-01-01T00:00:00"
    row = RunRow(path="slow.jsonl", started=started, machine="node01", plan="quick", unfinished=False, slowed="",
                 metrics=1, relative_to_typical=1.0, worst=key, worst_relative_to_typical=0.8)  # fmt: skip
    entry = Entry(path="slow.jsonl", size_bytes=1, modified_ns=0, started=started, machine="node01")
    console = make_console()
    with console.capture() as printed_text:
        print_overview([entry], [row], [], MetricNames([key]), console)
    assert f"  slow.jsonl: {change} " in printed_text.get()


def test_a_metric_over_time(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = printed(folder, capsys, "cpu_flops", "rate")
    assert [line.split()[:2] for line in text.splitlines() if line.startswith("  node")] == [
        ["node01", "20"],
        ["node02", "20"],
    ]
    one = printed(folder, capsys, "rate", "--machine", "node02", "-o", str(folder / "rate.svg"))
    assert one.count(".jsonl") == 20
    assert "node02" in (folder / "rate.svg").read_text()
    assert printed(folder, capsys, "rate", "-o", "rate.gif", code=2).endswith(
        "not a picture format; use .svg, .pdf, .png\n"
    )


def test_both_ends_of_an_interval_have_the_same_unit(capsys: pytest.CaptureFixture[str]) -> None:
    key = MetricKey("memory_stream", {"op": "triad"}, "bandwidth", "B/s", "higher")
    points = [Point("a.jsonl", FIRST.isoformat(), 1e9, (0.96e9, 1.04e9))]
    series = [MetricHistory(key=key, machine="node01", typical=1e9, points=points)]
    print_series(series, [], MetricNames([key]), make_console())
    assert "0.960 to 1.040 GB/s" in capsys.readouterr().out


def test_everything_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(folder, capsys, "rate", "--json"))
    assert set(document) == {"schema", "runs", "changes", "series", "copies", "not_read"}
    assert len(document["runs"]) == 40
    assert [len(item["points"]) for item in document["series"]] == [20, 20]
    assert document["changes"][0]["machine"] == "node02"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--last", "0"], "--last 0: not a number of runs; use 1 or more"),
        (["-o", "x.svg"], "-o draws a metric over time"),
        (["nonsense"], "no metric here matches 'nonsense'"),
        (["--machine", "node09"], "--machine node09: no runs; the folder has runs of node01, node02"),
    ],
)
def test_invalid_queries_are_rejected(
    folder: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in printed(folder, capsys, *arguments, code=2)


def test_a_folder_without_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no run: write one with nameplate run -o" in printed(tmp_path, capsys, code=2)
    assert "there is no such directory" in printed(tmp_path / "nowhere", capsys, code=2)
    (tmp_path / "file").touch()
    assert "not a folder" in printed(tmp_path / "file", capsys, code=2)


def test_the_nodes_of_a_job_have_metrics_of_their_own(tmp_path: Path) -> None:
    names = ["n1", "n2"]
    for day in range(3):
        path = tmp_path / f"{day}.jsonl"
        placed = {"ranks": 2, "placement": [[0, 1], [1, 1]], "hardware": [["", 2]]}
        write_run(path, day, job={"nodes": names, "library": "", **placed})
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        complete = []
        for record in lines:
            if record["type"] == "run":
                record["per_node"] = "in-turn"
            if record["type"] in ("sample", "outcome"):
                complete += [{**record, "node": node} for node in range(2)]
            if record["type"] != "sample":
                complete.append(record)
            if record["type"] == "outcome":
                complete.insert(-1, {**next(r for r in lines if r["type"] == "sample"), "round": record["round"]})
        path.write_text("".join(json.dumps(record) + "\n" for record in complete))
    from_samples = read(tmp_path)
    for path in tmp_path.glob("*.jsonl"):
        append_digest(file := read_run(path), digest_of(file))
    index = read(tmp_path)
    assert index.values.tobytes() == from_samples.values.tobytes()
    assert sorted(index.machines) == ["n1", "n2", "n[1-2]"]
    series = {item.machine: len(item.points) for item in series_of(index, metrics_named(index, ["rate"]))}
    assert series == {"n1": 3, "n2": 3, "n[1-2]": 3}
    assert [(row.machine, row.metrics > 0) for row in run_rows(index, runs_of(index, "n2"), "n2")] == [("n2", True)] * 3
    assert [row.metrics for row in run_rows(index, runs_of(index))] == [np.sum(index.values["run"] == 0) // 3] * 3


def test_a_machine_without_runs_is_unknown(tmp_path: Path) -> None:
    write_runs(tmp_path, 2, "node01")
    write_runs(tmp_path, 2, "node02")
    assert nameplate(["history", str(tmp_path), "--machine", "node02"]) == 0
    for path in tmp_path.glob("node02*"):
        path.unlink()
    assert nameplate(["history", str(tmp_path), "--machine", "node02"]) == 2


def test_an_index_with_a_duplicate_machine_is_ignored(tmp_path: Path) -> None:
    write_runs(tmp_path, 2)
    assert nameplate(["history", str(tmp_path)]) == 0
    index = load_index(tmp_path)
    assert index.machines
    save_index(msgspec.structs.replace(index, machines=index.machines * 2), tmp_path)
    assert not load_index(tmp_path).machines
