"""Read run files: JSON Lines with one record per line.

Lines are appended one at a time, so that a killed run keeps its measurements.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO

import msgspec
from msgspec.structs import replace

from nameplate.control_characters import clean_json
from nameplate.errors import FileError, ReadError
from nameplate.records.inputs import check_encoding, open_input
from nameplate.records.machine_record import Machine
from nameplate.records.run_record import SCHEMA, Digest, FileRecord, Header, Run, check_moment
from nameplate.records.run_writer import RunWriter
from nameplate.records.trusted_files import is_private_file
from nameplate.results.measurements import Assembler, Block, RunFile
from nameplate.results.record_checks import problem_of_record

# Enough for a sample with all pairs of two thousand nodes.
_MAX_LINE_BYTES = 64 << 20
_CHUNK = 1 << 20
# The size of the first read to find the last line. The digest of a run of the plan quick has 33 kB.
_END_BYTES = 1 << 16
# Lines that start like a digest are skipped without being decoded, so that a damaged digest does not matter.
_RECORD_START = b'{"type":'
_DIGEST = _RECORD_START + b'"figures"'

# A second record of type 'run' is an error, and a digest is skipped.
_DECODED_ALONE = {Run, Digest}

_decoder = msgspec.json.Decoder(FileRecord | Digest)
_digest_decoder = msgspec.json.Decoder(Digest)


def read_run(path: Path) -> RunFile:
    """Return the content of a run file, with every record checked.

    Digests are ignored. So is a last line without a newline, which a killed run leaves behind.

    Raises:
        ReadError: the file does not exist, cannot be read, or is not a regular file.
        FileError: the file is empty, is not a run file of this schema, or has a wrong record. The message has the path
            and, if a single line is wrong, its number.
    """
    try:
        with open_input(path) as file:
            assembler = Assembler(path)
            for block in _blocks(path, file):
                assembler.add(block)
            return assembler.result()
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None


def read_digest(path: Path, by: str) -> Digest | None:
    """Return the digest in the last line of a run file; None if the last line is not a current digest.

    ``by`` is the version of the values that the caller needs, from ``values_version``. A digest is current if it has
    this version and if its checksum matches all bytes before the last line. The records themselves are not decoded, so
    the result is also None if other users can write to the file.

    Raises:
        ReadError: the file does not exist, cannot be read, or is not a regular file.
    """
    try:
        with open_input(path) as file:
            if not is_private_file(file.fileno()):
                return None
            start, line = _last_line(file)
            digest = _decode_digest(line)
            is_current = digest is not None and digest.by == by and digest.crc32 == _crc32(file, start)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    return digest if is_current else None


def _last_line(file: IO[bytes]) -> tuple[int, bytes]:
    """Return the offset in bytes and the content of the last line; for a line longer than 64 MiB, only its end."""
    size = file.seek(0, os.SEEK_END)
    taken = 0
    line = b""
    while taken < min(size, _MAX_LINE_BYTES) and b"\n" not in line[:-1]:
        taken = min(size, _MAX_LINE_BYTES, max(_END_BYTES, 4 * taken))
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
    """Append a digest to the file of a run, with the checksum of the records before it.

    ``run`` is the content of the file as ``read_run`` returned it, and ``digest.crc32`` is replaced by the checksum of
    the first ``run.complete_bytes`` bytes. If the file is longer, for example because it has an older digest,
    ``read_digest`` does not accept the new digest.

    Raises:
        FileError: the file cannot be read or written, or another run holds its lock.
    """
    path = Path(run.path)
    try:
        with open_input(path) as file:
            checksum = _crc32(file, run.complete_bytes)
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


def read_header(path: Path) -> tuple[Run, Machine | None]:
    """Return the first record of a run file, and the machine of its first header.

    The machine is None if the file has no header. Only the records up to the first header are checked. A last line
    without a newline is ignored.

    Raises:
        FileError: the file cannot be read, is empty, is not a run file of this schema, or one of these records is
            wrong.
    """
    run: Run | None = None
    try:
        with open_input(path) as file:
            # Decoding a whole chunk would take longer than the lines up to the header.
            for record in chain.from_iterable(block.records for block in _blocks(path, file, in_chunks=False)):
                if isinstance(record, Run):
                    run = record
                if run and isinstance(record, Header):
                    return run, record.machine
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    if run is None:
        raise FileError(f"{path} is empty: this is not a run file")
    return run, None


def _blocks(path: Path, file: IO[bytes], in_chunks: bool = True) -> Iterator[Block]:
    """Yield the checked records in blocks of consecutive lines.

    A last line without a newline, which a killed run leaves behind, is ignored. With ``in_chunks``, about 1 MiB of
    lines is decoded at once if all of them can be; otherwise each line is decoded separately.
    """
    offset, number, single_until = 0, 1, 0
    while True:
        if in_chunks and number > 1 and offset >= single_until:
            lines = _next_lines(file)
            records = _decode_lines(lines)
            single_until = offset + len(lines)
            file.seek(single_until if records else offset)
            if records:
                offset = single_until
                yield Block(number, offset, records)
                number += len(records)
                continue
        line = file.readline(_MAX_LINE_BYTES + 1)
        if number > 1 and line.startswith(_DIGEST):
            offset += len(line) + _skip_line(file, line)
            single_until = offset + _CHUNK  # else each of many digests causes a chunk to be read twice
        elif _is_complete(path, number, line):
            offset += len(line)
            yield Block(number, offset, [_decode(path, number, line)])
        else:
            return
        number += 1


def _next_lines(file: IO[bytes]) -> bytes:
    """Return up to 1 MiB of whole lines from the file's position, without a last line that is a digest; b"" at the end.

    The file's position may then be after the end of these lines.
    """
    part = file.read(_CHUNK)
    end = part.rfind(b"\n") + 1
    last = part.rfind(b"\n", 0, max(0, end - 1)) + 1
    return part[: last if part.startswith(_DIGEST, last) else end]


def _is_complete(path: Path, number: int, line: bytes) -> bool:
    """Return whether a line ends with a newline. The first line is also checked to be the first record of a run file.

    Raises:
        FileError: the line is longer than any record, or the first line is not the first record of a run file of this
            schema.
    """
    if len(line) > _MAX_LINE_BYTES:
        raise FileError(f"{path}: line {number} is longer than any record: more than {_MAX_LINE_BYTES >> 20} MiB")
    if number > 1 or not line:
        return line.endswith(b"\n")
    if not line.endswith(b"\n"):
        raise FileError(f"{path}: line 1 is not a nameplate record: this is not a run file")
    _check_first(path, line)
    return True


def _decode_lines(lines: bytes) -> list[FileRecord | Digest]:
    """Return one record for each line; [] if there is no line, or if any line must be decoded separately."""
    try:
        # clean_json takes a single document, but on several lines it still finds whether there is anything to replace.
        records = _decoder.decode_lines(lines) if clean_json(lines) is lines else []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    begins = [line[: len(_RECORD_START)] for line in BytesIO(lines)]
    has_one_per_line = begins.count(_RECORD_START) == len(begins) == len(records)
    return records if has_one_per_line and _DECODED_ALONE.isdisjoint(map(type, records)) else []


def _decode(path: Path, number: int, line: bytes) -> FileRecord | Digest:
    """Return the record of one line, checked and without control characters.

    Raises:
        FileError: the line is not a valid record.
    """
    try:
        record: FileRecord | Digest = _decoder.decode(clean_json(line))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileError(f"{path}: line {number} is not a nameplate record: {error}") from None
    if problem := problem_of_record(record):
        raise FileError(f"{path}: line {number}: {problem}")
    return record


def _skip_line(file: IO[bytes], part: bytes) -> int:
    """Read the rest of a line whose start is ``part``, and return the number of bytes that were read."""
    count = 0
    while part and not part.endswith(b"\n"):
        part = file.readline(_CHUNK)
        count += len(part)
    return count


class _First(msgspec.Struct):
    type: str
    schema: int


def _check_first(path: Path, line: bytes) -> None:
    check_encoding(path, line)
    try:
        first = msgspec.json.decode(line, type=_First)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise FileError(f"{path}: line 1 is not a nameplate record: this is not a run file") from None
    if first.type != "run":
        raise FileError(f"{path}: line 1 is a record of type '{first.type}', not 'run': this is not a run file")
    if first.schema != SCHEMA:
        advice = "update nameplate" if first.schema > SCHEMA else "read it with the version that wrote it"
        raise FileError(f"{path}: line 1 has schema {first.schema}, but this nameplate reads {SCHEMA}: {advice}")
