"""Reading run files that are complete, cut off, foreign or damaged."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nameplate.errors import FileError
from nameplate.records.plan_record import Experiment, Value
from nameplate.records.run_record import FileRecord, Stop
from nameplate.records.run_writer import RunWriter
from nameplate.results import run_file
from nameplate.results.run_file import read_digest, read_run
from recorded_runs import RUNS, recorded_file
from run_samples import header, outcome, plan, run, sample

STOP = Stop(reasons={"a": "rounds"}, elapsed_s=1.0, interrupted=False)


def records() -> list[FileRecord]:
    return [run(plan("a")), header(), sample("a", round_number=1), outcome("a", round_number=1), STOP]


def write(path: Path, content: list[FileRecord]) -> Path:
    with RunWriter.create(path) as writer:
        for record in content:
            writer.write(record)
    return path


def test_written_records_are_read_back(tmp_path: Path) -> None:
    actual = read_run(write(tmp_path / "x.jsonl", records()))
    assert actual.run == run(plan("a"))
    assert actual.stop == STOP
    assert actual.lost == 0
    assert [m.samples for m in actual.measurements] == [[sample("a", round_number=1)]]


def test_a_parameter_that_an_earlier_version_did_not_have_is_added(tmp_path: Path) -> None:
    """Earlier versions of mpi_pingpong sent back what they received, which is data=echo now."""
    names = ("old", "new", "skipped")
    made = run(plan(*names))
    experiments = [Experiment(name, "mpi_pingpong", {"size": 8}) for name in names]
    made = replace(made, plan=replace(made.plan, experiments=experiments))
    common = {"probe": "mpi_pingpong", "facts": {"pairs_between_nodes": 0.0}, "labels": {"ranks": "0-1"}}
    params: dict[str, Value] = {"size": 8, "pairs": 1, "pairing": "block"}
    old = replace(outcome("old"), params=params, **common)
    new = replace(outcome("new"), params={**params, "data": "unchanged"}, **common)
    skipped = replace(outcome("skipped", "skipped"), params=params, **common)
    actual = read_run(write(tmp_path / "x.jsonl", [made, header(), old, new, skipped]))
    assert [m.outcome.params.get("data") for m in actual.measurements] == ["echo", "unchanged", None]
    # So that it is measured again, or continued, as it was.
    assert [experiment.params.get("data") for experiment in actual.run.plan.experiments] == ["echo", None, None]


def test_an_existing_file_is_not_touched(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", records())
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"exists: choose another name with -o, or continue it with --resume"):
        RunWriter.create(path)
    assert path.read_bytes() == before


def test_a_cut_off_run_keeps_its_results_and_can_be_resumed(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", records()[:-1])
    complete = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"type":"sample","round":2,"id":"a","ind')
    actual = read_run(path)
    assert actual.stop is None
    assert len(actual.measurements) == 1
    writer = RunWriter.reopen(path)
    writer.truncate(actual.complete_bytes)
    assert path.stat().st_size == complete
    writer.write(STOP)
    writer.close()
    assert read_run(path).stop == STOP


def test_samples_without_an_outcome_are_lost_and_counted(tmp_path: Path) -> None:
    content = [*records()[:-1], sample("a", round_number=2), sample("a", 1, round_number=2)]
    assert read_run(write(tmp_path / "x.jsonl", content)).lost == 2
    resumed = [*content, header(), sample("a", round_number=2), outcome("a", round_number=2), STOP]
    actual = read_run(write(tmp_path / "y.jsonl", resumed))
    assert actual.lost == 2
    assert [len(m.samples) for m in actual.measurements] == [1, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: this is not a run file"),
        (b"\n", "line 1 is not a nameplate record"),
        (b"\x7fELF\x02\x01\x01\n", "line 1 is not a nameplate record: this is not a run file"),
        (b'{"type":"header","schema":1}\n', "line 1 is a record of type 'header', not 'run'"),
        (b'{"type":"run","schema":2}\n', "schema 2, but this nameplate reads 1: update nameplate"),
        (b'{"type":"run","schema":0}\n', "read it with the version that wrote it"),
        (b'{"benchmarks": []}\n', "line 1 is not a nameplate record"),
        (b'{"type":"run","schema":1', "line 1 is not a nameplate record"),
    ],
)
def test_a_file_that_is_not_a_run_is_rejected(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        read_run(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", records())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2].replace(b'"elapsed_s":0.01', b'"elapsed_s":"x"'), *lines[3:]]))
    with pytest.raises(FileError, match=r"x\.jsonl: line 3 is not a nameplate record: .*elapsed_s"):
        read_run(path)


STOP_LINE = b'{"type":"stop","round":1,"reasons":{},"elapsed_s":1.0,"interrupted":false}'


@pytest.mark.parametrize("kind", [path.name.removesuffix(".jsonl.xz") for path in RUNS])
@pytest.mark.parametrize("chunk", [1, 3000, 1 << 20])
def test_a_file_reads_the_same_by_line_and_in_blocks_of_any_size(
    kind: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded_file(f"{kind}.jsonl", tmp_path)
    monkeypatch.setattr(run_file, "_decode_lines", lambda _: [])
    by_line = read_run(path)
    monkeypatch.undo()
    monkeypatch.setattr(run_file, "_CHUNK", chunk)
    assert read_run(path) == by_line


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        pytest.param(b"\n", "line 5 is not a nameplate record: Input data was truncated", id="blank line"),
        pytest.param(b'{"type":"stop",\n', "line 5 is not a nameplate record: Input data", id="record in two lines"),
        pytest.param(b'{"type":"stop"}{"type":"stop"}\n', "line 5 is not a nameplate record", id="two in a line"),
        pytest.param(STOP_LINE * 2 + b"\n\n", "line 5 is not a nameplate record", id="two in a line, then a blank one"),
        pytest.param(b'{"type":"new"}\n', "line 5 is not a nameplate record: Invalid value 'new'", id="unknown type"),
        pytest.param(b'{"type":"sample","\xff":0}\n', "line 5 is not a nameplate record", id="not UTF-8"),
    ],
)
def test_a_wrong_line_within_a_block_is_named(tmp_path: Path, wrong: bytes, message: str) -> None:
    path = write(tmp_path / "x.jsonl", records())
    *lines, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, wrong, last]))
    with pytest.raises(FileError, match=message):
        read_run(path)


def test_what_follows_is_not_read_again_for_each_of_many_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "x.jsonl", records())
    with path.open("ab") as file:
        file.write(b'{"type":"figures"}\n' * 1000)
    sizes: list[int] = []
    next_lines = run_file._next_lines

    def counted(file: IO[bytes]) -> bytes:
        lines = next_lines(file)
        sizes.append(len(lines))
        return lines

    monkeypatch.setattr(run_file, "_next_lines", counted)
    assert read_run(path).stop == STOP
    assert len(sizes) <= 2


def test_control_characters_within_a_block_are_replaced(tmp_path: Path) -> None:
    named = replace(sample("a", round_number=1), counters={**sample("a").counters, "\x1b[31m": 1.0})
    path = write(tmp_path / "x.jsonl", [*records()[:2], named, *records()[3:]])
    (measurement,) = read_run(path).measurements
    assert "\N{REPLACEMENT CHARACTER}[31m" in measurement.samples[0].counters


DIGEST = b'{"type":"figures","by":"x","crc32":1,"started":"","machine":"","plan":"","values":[]}\n'


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(DIGEST, id="whole"),
        pytest.param(DIGEST.replace(b":", b": "), id="spelled otherwise"),
        pytest.param(DIGEST.replace(b'"by"', b'"new":1,"by"'), id="of another version"),
        pytest.param(DIGEST.replace(b"[]", b"[\xff"), id="damaged"),
        pytest.param(DIGEST[:-1] + b" " * 9999 + b"\n", id="longer than a record"),
        pytest.param(DIGEST[:30], id="cut off"),
    ],
)
def test_the_record_of_values_is_not_needed_to_read_a_run(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nameplate.results.run_file._MAX_LINE_BYTES", 4096)
    path = write(tmp_path / "x.jsonl", records())
    complete = read_run(path)
    with path.open("ab") as file:
        file.write(line)
    assert read_run(path) == complete  # also the end, so that --resume cuts off the damaged line
    if line.endswith(b"\n"):
        writer = RunWriter.reopen(path)
        writer.write(STOP)
        writer.close()
        assert read_run(path).complete_bytes == path.stat().st_size


def test_the_record_of_values_cannot_be_the_first_line(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", records())
    path.write_bytes(DIGEST + path.read_bytes())
    with pytest.raises(FileError, match="line 1 is"):
        read_run(path)


def test_only_the_end_of_a_long_file_is_read_for_the_record_of_values(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a sparse file of 1 TiB, which a reader of the whole file would never finish
    assert read_digest(path, "x") is None


def test_two_joined_files_are_rejected(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [*records(), *records()])
    with pytest.raises(FileError, match="two run files were joined"):
        read_run(path)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*: No such file or directory"):
        read_run(tmp_path / "none.jsonl")
    with pytest.raises(FileError, match=r"cannot write .*: No such file or directory"):
        RunWriter.create(tmp_path / "none" / "x.jsonl")


COMPLETE = b"".join(msgspec.json.encode(record) + b"\n" for record in records())


@given(st.integers(0, len(COMPLETE)), st.binary(max_size=8), st.integers(0, 40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_any_damaged_file_gives_a_run_or_one_clear_line(tmp_path: Path, at: int, put: bytes, cut: int) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(COMPLETE[:at] + put + COMPLETE[at + cut :])
    with suppress(FileError):
        assert read_run(path).run.plan.name


@given(st.integers(1, len(COMPLETE) - 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_a_kill_at_any_byte_loses_only_what_came_after(tmp_path: Path, at: int) -> None:
    path = tmp_path / "killed.jsonl"
    path.write_bytes(COMPLETE[:at])
    first_line = COMPLETE.index(b"\n") + 1
    if at < first_line:
        with pytest.raises(FileError, match="line 1 is not a nameplate record"):
            read_run(path)
    else:
        actual = read_run(path)
        assert actual.complete_bytes == COMPLETE[:at].rindex(b"\n") + 1
        assert actual.stop is None


def test_an_outcome_of_another_probe_than_planned_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", records())
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(b"\n".join([first.replace(b'"probe":"cpu_flops"', b'"probe":"disk_block"', 1), rest]))
    with pytest.raises(FileError, match=r"its probe is 'cpu_flops', the plan has 'disk_block'"):
        read_run(path)
