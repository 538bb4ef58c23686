"""Run files: JSON Lines, append-only, one record a line written at a time, so a killed run keeps what it measured."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from nameplate.control_characters import clean_json
from nameplate.errors import FileError, ReadError
from nameplate.records.inputs import open_input
from nameplate.records.model import (
    SCHEMA,
    Figures,
    FileRecord,
    Header,
    Outcome,
    Reference,
    Run,
    Sample,
    Stop,
    check_moment,
)
from nameplate.records.run_writer import RunWriter
from nameplate.results.record_checks import problem_of_node, problem_of_outcome, problem_of_record, problem_of_sample

# All pairs of two thousand nodes fit.
_LONGEST_LINE = 64 << 20
_CHUNK = 1 << 20
# Whoever reads the records themselves has no need of what they come to, and reads them also where that is damaged.
_FIGURES = b'{"type":"figures"'

_decoder = msgspec.json.Decoder(FileRecord | Figures)
_figures_decoder = msgspec.json.Decoder(Figures)


class Measurement(msgspec.Struct, frozen=True):
    """One experiment in one round: its samples and how it ended, also on each node by itself where nodes took it."""

    outcome: Outcome
    samples: list[Sample]
    of_nodes: dict[int, Outcome] = {}


class RunFile(msgspec.Struct, frozen=True):
    """A run file's content. ``stop`` is None when the run did not end in order; ``lost`` counts dropped samples."""

    path: str
    run: Run
    headers: list[Header]
    measurements: list[Measurement]
    stop: Stop | None
    lost: int
    whole_bytes: int
    references: list[Reference] = []


def read_run(path: Path) -> RunFile:
    """Raises FileError that names the file and the line."""
    try:
        with open_input(path) as file:
            return _assemble(path, file)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None


def read_figures(path: Path, by: str) -> Figures | None:
    """What a whole run's last line says that its records come to; None where that is not there, or is not of ``by``.

    Nor does it count where the records before are others than those it was computed from. Raises FileError.
    """
    try:
        with open_input(path) as file:
            begin, line = _last_line(file)
            figures = _decode_figures(line)
            is_of_these = figures is not None and figures.by == by and figures.crc32 == _crc32(file, begin)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    return figures if is_of_these else None


def _last_line(file: IO[bytes]) -> tuple[int, bytes]:
    """Where it begins, and the line; of one that is longer than any record, only its end."""
    size = file.seek(0, os.SEEK_END)
    taken = 0
    line = b""
    while taken < min(size, _LONGEST_LINE) and b"\n" not in line[:-1]:
        taken = min(size, _LONGEST_LINE, max(_CHUNK, 4 * taken))
        file.seek(size - taken)
        line = file.read(taken)
    at = line.rfind(b"\n", 0, -1) + 1
    return size - taken + at, line[at:]


def _decode_figures(line: bytes) -> Figures | None:
    if not (line.startswith(_FIGURES) and line.endswith(b"\n")):
        return None
    try:
        figures = _figures_decoder.decode(clean_json(line))
        check_moment(figures.started)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return figures


def append_figures(run: RunFile, figures: Figures) -> None:
    """Makes them the file's last line, with the checksum of what was read as ``run``. Raises FileError."""
    path = Path(run.path)
    try:
        with open_input(path) as file:
            checksum = _crc32(file, run.whole_bytes)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    with RunWriter.reopen(path) as writer:
        writer.write(msgspec.structs.replace(figures, crc32=checksum))


def _crc32(file: IO[bytes], count: int) -> int:
    """Of the first so many bytes."""
    file.seek(0)
    checksum = 0
    while count > 0 and (part := file.read(min(_CHUNK, count))):
        checksum = zlib.crc32(part, checksum)
        count -= len(part)
    return checksum


def read_beginning(path: Path) -> tuple[Run, dict[str, Any]]:
    """A run file's first record, and the machine as its first core process saw it. Raises FileError."""
    run: Run | None = None
    try:
        with open_input(path) as file:
            for line in _records(path, file):
                if isinstance(line.record, Run):
                    run = line.record
                if run and isinstance(line.record, Header):
                    return run, line.record.machine
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    if run is None:
        raise FileError(f"{path} is empty: this is not a run file")
    return run, {}


class _Line(NamedTuple):
    """A record with the number of its line and the offset of the line's end."""

    number: int
    end: int
    record: FileRecord | Figures


def _records(path: Path, file: IO[bytes]) -> Iterator[_Line]:
    """Every record, checked; a last line without its newline is what a kill leaves behind."""
    offset = 0
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 1), b""), start=1):
        if number > 1 and line.startswith(_FIGURES):
            offset += len(line) + _skip_line(file, line)
            continue
        if len(line) > _LONGEST_LINE:
            raise FileError(f"{path}: line {number} is longer than any record: {_LONGEST_LINE >> 20} MiB and more")
        if not line.endswith(b"\n"):
            if number == 1:
                raise FileError(f"{path}: line 1 is not a nameplate record: this is not a run file")
            return
        offset += len(line)
        if number == 1:
            _check_first(path, line)
        yield _Line(number, offset, _decode(path, number, line))


def _decode(path: Path, number: int, line: bytes) -> FileRecord | Figures:
    """Return a line as a record that is right by itself, without control characters. Raises FileError."""
    try:
        record: FileRecord | Figures = _decoder.decode(clean_json(line))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileError(f"{path}: line {number} is not a nameplate record: {error}") from None
    if problem := problem_of_record(record):
        raise FileError(f"{path}: line {number}: {problem}")
    return record


def _skip_line(file: IO[bytes], part: bytes) -> int:
    """Reads on to the end of a line of which a part was read, and says how many bytes that was."""
    count = 0
    while part and not part.endswith(b"\n"):
        part = file.readline(_CHUNK)
        count += len(part)
    return count


class _First(msgspec.Struct):
    type: str
    schema: int


def _check_first(path: Path, line: bytes) -> None:
    try:
        first = msgspec.json.decode(line, type=_First)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FileError(f"{path}: line 1 is not a nameplate record: this is not a run file") from None
    if first.type != "run":
        raise FileError(f"{path}: line 1 is a record of type '{first.type}', not 'run': this is not a run file")
    if first.schema != SCHEMA:
        newer = "a newer nameplate; update this one" if first.schema > SCHEMA else "an older nameplate"
        raise FileError(f"{path}: line 1 has schema {first.schema}, this nameplate reads {SCHEMA}: written by {newer}")


class _Assembler:
    """Puts a run file's records together. Samples belong to the outcome that follows them; others are lost."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run: Run | None = None
        self._stop: Stop | None = None
        self._headers: list[Header] = []
        self._measurements: list[Measurement] = []
        self._pending: list[tuple[int, Sample]] = []
        self._of_nodes: dict[int, Outcome] = {}
        self._references: list[Reference] = []
        self._lost = 0

    def add(self, line: int, record: FileRecord) -> None:
        self._stop = record if isinstance(record, Stop) else None
        match record:
            case Run():
                if self._run is not None:
                    raise FileError(f"{self._path}: has two records of type 'run': two run files were joined")
                self._run = record
            case Reference():
                self._references.append(record)
            case Sample():
                self._pending.append((line, record))
            case Outcome(node=int(node)):
                self._check(line, problem_of_node(self._machine, record))
                self._of_nodes[node] = record
            case Outcome():
                self._take(line, record)
            case Header():
                self._headers.append(record)
                self._drop_pending()

    @property
    def _machine(self) -> dict[str, Any]:
        return self._headers[0].machine if self._headers else {}

    def _check(self, line: int, problem: str) -> None:
        if problem:
            raise FileError(f"{self._path}: line {line}: {problem}")

    def _take(self, line: int, outcome: Outcome) -> None:
        own = [
            (number, sample)
            for number, sample in self._pending
            if (sample.id, sample.round) == (outcome.id, outcome.round)
        ]
        if own and outcome.ending == "ok":
            self._check(line, problem_of_outcome(self._machine, outcome))
            for number, sample in own:
                self._check(number, problem_of_sample(self._machine, outcome, sample))
        self._lost += len(self._pending) - len(own)
        self._pending = []
        self._measurements.append(Measurement(outcome, [sample for _, sample in own], self._of_nodes))
        self._of_nodes = {}

    def _drop_pending(self) -> None:
        self._lost += len(self._pending)
        self._pending = []
        self._of_nodes = {}

    def result(self, whole_bytes: int) -> RunFile:
        if self._run is None:
            raise FileError(f"{self._path} is empty: this is not a run file")
        self._drop_pending()
        return RunFile(
            str(self._path), self._run, self._headers, self._measurements, self._stop, self._lost, whole_bytes,
            self._references,
        )  # fmt: skip


def _assemble(path: Path, file: IO[bytes]) -> RunFile:
    assembler = _Assembler(path)
    end = 0
    for line in _records(path, file):
        if not isinstance(line.record, Figures):  # written by others, with spaces in it
            assembler.add(line.number, line.record)
            end = line.end
    return assembler.result(end)
