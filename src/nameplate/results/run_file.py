"""Read run files: JSON Lines with one record per line.

Lines are appended one at a time, so that a killed run keeps its measurements.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import msgspec
from msgspec.structs import replace

from nameplate.control_characters import clean_json
from nameplate.errors import FileError, ReadError
from nameplate.records.inputs import open_input
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.run_record import (
    SCHEMA,
    Digest,
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
from nameplate.results.earlier_versions import completed_plan, missing_params
from nameplate.results.record_checks import problem_of_node, problem_of_outcome, problem_of_record, problem_of_samples

# Room for all pairs of two thousand nodes.
_MAX_LINE_BYTES = 64 << 20
_CHUNK = 1 << 20
# Readers of the records skip the digest, so that a damaged one does not matter.
_BEGIN = b'{"type":'
_DIGEST = _BEGIN + b'"figures"'

# A second record of type 'run' is an error, and a digest is skipped.
_DECODED_ALONE = {Run, Digest}

_decoder = msgspec.json.Decoder(FileRecord | Digest)
_digest_decoder = msgspec.json.Decoder(Digest)


class Measurement(msgspec.Struct, frozen=True):
    """One experiment in one round: its outcome and its samples.

    ``samples`` are in the order of the file. The list is empty if the experiment ended before its first sample. If each
    node of a job ran the experiment on its own, ``of_nodes`` has the outcome of each node by its index in the job's
    list of nodes, and ``outcome`` is that of all nodes together. Otherwise ``of_nodes`` is empty.
    """

    outcome: Outcome
    samples: list[Sample]
    of_nodes: dict[int, Outcome] = {}


class RunFile(msgspec.Struct, frozen=True):
    """The content of a run file, without its digest.

    ``path`` is the file as the caller named it. ``headers`` has one record for each process of nameplate-core, so a
    round has several if its process was restarted. ``measurements`` has one entry for each experiment in each round.
    All lists are in the order of the file. ``stop`` is None if the file does not end with a record of type 'stop',
    because the run was killed or is still running. ``lost`` is the number of samples that are left out, because no
    outcome of their experiment and round follows them. ``whole_bytes`` is the size of the file up to the end of its
    last complete record that is not a digest. ``references`` are the values that reference tools measured before the
    first round.
    """

    path: str
    run: Run
    headers: list[Header]
    measurements: list[Measurement]
    stop: Stop | None
    lost: int
    whole_bytes: int
    references: list[Reference] = []

    @property
    def machine(self) -> Machine | None:
        """Return the machine that the first header describes; None if the run ended before its first header."""
        return self.headers[0].machine if self.headers else None


def read_run(path: Path) -> RunFile:
    """Return the content of a run file, with every record checked.

    Digests are ignored, and so is a last line without a newline, which a killed run leaves behind.

    Raises:
        ReadError: the file does not exist, cannot be read, or is not a regular file.
        FileError: the file is empty, is not a run file of this schema, or has a wrong record. The message names the
            file and, if a single line is wrong, its number.
    """
    try:
        with open_input(path) as file:
            return _assemble(path, file)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None


def read_digest(path: Path, by: str) -> Digest | None:
    """Return the digest in the last line of a run file, or None if that line is not a current digest.

    A digest is current if its ``by`` equals the argument ``by``, which callers take from ``code_fingerprint``, and if
    its checksum matches all bytes before the last line. The records themselves are not decoded.

    Raises:
        ReadError: the file does not exist, cannot be read, or is not a regular file.
    """
    try:
        with open_input(path) as file:
            begin, line = _last_line(file)
            digest = _decode_digest(line)
            is_current = digest is not None and digest.by == by and digest.crc32 == _crc32(file, begin)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    return digest if is_current else None


def _last_line(file: IO[bytes]) -> tuple[int, bytes]:
    """Return the offset and the content of the last line; of a line longer than any record, only the end."""
    size = file.seek(0, os.SEEK_END)
    taken = 0
    line = b""
    while taken < min(size, _MAX_LINE_BYTES) and b"\n" not in line[:-1]:
        taken = min(size, _MAX_LINE_BYTES, max(_CHUNK, 4 * taken))
        file.seek(size - taken)
        line = file.read(taken)
    at = line.rfind(b"\n", 0, -1) + 1
    return size - taken + at, line[at:]


def _decode_digest(line: bytes) -> Digest | None:
    if not (line.startswith(_DIGEST) and line.endswith(b"\n")):
        return None
    try:
        digest = _digest_decoder.decode(clean_json(line))
        check_moment(digest.started)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return digest


def append_digest(run: RunFile, digest: Digest) -> None:
    """Append a digest to the file of ``run``, with the checksum of the records.

    The value of ``digest.crc32`` is replaced. The file must end at ``run.whole_bytes``: if it has more bytes, such as
    an older digest, ``read_digest`` does not accept the new one.

    Raises:
        FileError: the file cannot be read or written, or another run holds its lock.
    """
    path = Path(run.path)
    try:
        with open_input(path) as file:
            checksum = _crc32(file, run.whole_bytes)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    with RunWriter.reopen(path) as writer:
        writer.write(replace(digest, crc32=checksum))


def _crc32(file: IO[bytes], count: int) -> int:
    """Return the checksum of the first ``count`` bytes."""
    file.seek(0)
    checksum = 0
    while count > 0 and (part := file.read(min(_CHUNK, count))):
        checksum = zlib.crc32(part, checksum)
        count -= len(part)
    return checksum


def read_beginning(path: Path) -> tuple[Run, Machine | None]:
    """Return the first record of a run file, and the machine of its first header or None if it has no header.

    Only the records up to the first header are checked. A last line without a newline is ignored.

    Raises:
        FileError: the file cannot be read, is empty, is not a run file of this schema, or one of these records is
            wrong.
    """
    run: Run | None = None
    try:
        with open_input(path) as file:
            for record in chain.from_iterable(block.records for block in _blocks(path, file)):
                if isinstance(record, Run):
                    run = record
                if run and isinstance(record, Header):
                    return run, record.machine
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    if run is None:
        raise FileError(f"{path} is empty: this is not a run file")
    return run, None


class _Block(NamedTuple):
    """Records in neighbouring lines: the number of the first line, the offset of the end of the last, the records."""

    number: int
    end: int
    records: Sequence[FileRecord | Digest]


def _blocks(path: Path, file: IO[bytes]) -> Iterator[_Block]:
    """Yield the checked records. A last line without a newline, which a kill leaves behind, is ignored.

    A large block of lines is decoded at once if nothing in it needs a closer look, otherwise line by line.
    """
    offset, number, single_until = 0, 1, 0
    while True:
        if number > 1 and offset >= single_until:
            lines = _next_lines(file)
            records = _decode_lines(lines)
            single_until = offset + len(lines)
            file.seek(single_until if records else offset)
            if records:
                offset = single_until
                yield _Block(number, offset, records)
                number += len(records)
                continue
        line = file.readline(_MAX_LINE_BYTES + 1)
        if number > 1 and line.startswith(_DIGEST):
            offset += len(line) + _skip_line(file, line)
            single_until = offset + _CHUNK  # so that many digests are not each read with what follows
        elif _is_whole(path, number, line):
            offset += len(line)
            yield _Block(number, offset, [_decode(path, number, line)])
        else:
            return
        number += 1


def _next_lines(file: IO[bytes]) -> bytes:
    """Return up to 1 MiB of whole lines, without the last one if it is a digest; b"" if no line is left.

    More may have been read from the file.
    """
    part = file.read(_CHUNK)
    end = part.rfind(b"\n") + 1
    last = part.rfind(b"\n", 0, max(0, end - 1)) + 1
    return part[: last if part.startswith(_DIGEST, last) else end]


def _is_whole(path: Path, number: int, line: bytes) -> bool:
    """Return whether a line is complete; a file without a line is not. Raises FileError if it cannot be a record."""
    if len(line) > _MAX_LINE_BYTES:
        raise FileError(f"{path}: line {number} is longer than any record: more than {_MAX_LINE_BYTES >> 20} MiB")
    if number > 1 or not line:
        return line.endswith(b"\n")
    if not line.endswith(b"\n"):
        raise FileError(f"{path}: line 1 is not a nameplate record: this is not a run file")
    _check_first(path, line)
    return True


def _decode_lines(lines: bytes) -> list[FileRecord | Digest]:
    """Return the records of lines; none if there is no line, or if a line must be decoded on its own."""
    try:
        # Characters that clean_json replaces are found in the lines together, too, but it takes a single document.
        records = _decoder.decode_lines(lines) if clean_json(lines) is lines else []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    begins = [line[: len(_BEGIN)] for line in BytesIO(lines)]
    has_one_each = begins.count(_BEGIN) == len(begins) == len(records)
    return records if has_one_each and _DECODED_ALONE.isdisjoint(map(type, records)) else []


def _decode(path: Path, number: int, line: bytes) -> FileRecord | Digest:
    """Return a line as a valid record without control characters. Raises FileError if it is none."""
    try:
        record: FileRecord | Digest = _decoder.decode(clean_json(line))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileError(f"{path}: line {number} is not a nameplate record: {error}") from None
    if problem := problem_of_record(record):
        raise FileError(f"{path}: line {number}: {problem}")
    return record


def _skip_line(file: IO[bytes], part: bytes) -> int:
    """Read the rest of a line of which ``part`` was read, and return the number of bytes of the rest."""
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
        advice = "update nameplate" if first.schema > SCHEMA else "read it with the version that wrote it"
        raise FileError(f"{path}: line 1 has schema {first.schema}, but this nameplate reads {SCHEMA}: {advice}")


class _Assembler:
    """Groups the records of a run file. Samples belong to the outcome that follows them; all others are lost."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run: Run | None = None
        self._stop: Stop | None = None
        self._headers: list[Header] = []
        self._measurements: list[Measurement] = []
        self._pending: list[tuple[int, Sample]] = []
        self._of_nodes: dict[int, Outcome] = {}
        self._references: list[Reference] = []
        self._missing: dict[str, Mapping[str, Value]] = {}
        self._lost = 0
        self._whole_bytes = 0

    def add(self, block: _Block) -> None:
        for line, record in enumerate(block.records, start=block.number):
            if isinstance(record, Sample):  # nearly all are
                self._stop = None
                self._pending.append((line, record))
            elif not isinstance(record, Digest):  # another program may write it in a form that is not skipped above
                self._stop = record if isinstance(record, Stop) else None
                self._add(line, record)
        if not isinstance(block.records[-1], Digest):
            self._whole_bytes = block.end

    def _add(self, line: int, record: FileRecord) -> None:
        match record:
            case Run():
                if self._run is not None:
                    raise FileError(
                        f"{self._path}: has two records of type 'run', as if two run files were joined: split them"
                    )
                self._run = record
            case Reference():
                self._references.append(record)
            case Outcome(node=int(node)):
                outcome = self._completed(record)
                self._check(line, problem_of_node(self._machine, outcome))
                self._of_nodes[node] = outcome
            case Outcome():
                self._take(line, self._completed(record))
            case Header():
                self._headers.append(record)
                self._drop_pending()

    @property
    def _machine(self) -> Machine | None:
        return self._headers[0].machine if self._headers else None

    def _check(self, line: int, problem: str) -> None:
        if problem:
            raise FileError(f"{self._path}: line {line}: {problem}")

    def _completed(self, outcome: Outcome) -> Outcome:
        """Return an outcome with the parameters that its version of nameplate did not have yet."""
        if outcome.ending != "ok":  # it may lack any parameter
            return outcome
        if missing := missing_params(outcome.probe, outcome.params):
            self._missing[outcome.id] = missing
            outcome = replace(outcome, params={**outcome.params, **missing})
        return outcome

    def _take(self, line: int, outcome: Outcome) -> None:
        own = [
            (number, sample)
            for number, sample in self._pending
            if (sample.id, sample.round) == (outcome.id, outcome.round)
        ]
        samples = [sample for _, sample in own]
        if own and outcome.ending == "ok":
            self._check(line, problem_of_outcome(self._machine, outcome))
            if found := problem_of_samples(self._machine, outcome, samples):
                self._check(own[found.place][0], found.problem)
        self._lost += len(self._pending) - len(own)
        self._pending = []
        self._measurements.append(Measurement(outcome, samples, self._of_nodes))
        self._of_nodes = {}

    def _drop_pending(self) -> None:
        self._lost += len(self._pending)
        self._pending = []
        self._of_nodes = {}

    def result(self) -> RunFile:
        if self._run is None:
            raise FileError(f"{self._path} is empty: this is not a run file")
        self._drop_pending()
        return RunFile(
            str(self._path), completed_plan(self._run, self._missing), self._headers, self._measurements, self._stop,
            self._lost, self._whole_bytes, self._references,
        )  # fmt: skip


def _assemble(path: Path, file: IO[bytes]) -> RunFile:
    assembler = _Assembler(path)
    for block in _blocks(path, file):
        assembler.add(block)
    return assembler.result()
