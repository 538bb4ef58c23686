"""Records that arrive from a host in pieces, compressed or not."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest

from nameplate.fleet import received_records
from nameplate.fleet.received_records import ReceivedRecords

RECORDS = b"".join(b'{"type":"sample","index":%d}\n' % index for index in range(1000))


def pieces(content: bytes) -> list[bytes]:
    text = base64.b64encode(content)
    return [text[start : start + 3000] for start in range(0, len(text), 3000)]


def received(path: Path, lines: list[bytes], is_compressed: bool) -> ReceivedRecords:
    records = ReceivedRecords("web1", path, is_compressed)
    for line in lines:
        records.add(line)
    records.close()
    return records


@pytest.mark.parametrize(
    ("lines", "is_compressed"), [(RECORDS.split(b"\n"), False), (pieces(gzip.compress(RECORDS)), True)]
)
def test_the_file_has_the_records_as_the_host_wrote_them(
    tmp_path: Path, lines: list[bytes], is_compressed: bool
) -> None:  # fmt: skip
    assert received(tmp_path / "part", lines, is_compressed).problem is None
    assert (tmp_path / "part").read_bytes() == RECORDS


@pytest.mark.parametrize("lines", [
    [b"no base64!"], pieces(b"not compressed" * 300), pieces(gzip.compress(RECORDS))[:1],
    pieces(gzip.compress(RECORDS)[:-9]), [*pieces(gzip.compress(RECORDS)), b"AAAA"],
])  # fmt: skip
def test_damaged_records_are_an_outcome_and_leave_no_file(tmp_path: Path, lines: list[bytes]) -> None:
    records = received(tmp_path / "part", lines, True)
    problem = records.problem
    assert records.is_damaged
    assert problem
    assert problem.outcome == "invalid"
    assert problem.reason.startswith("its records cannot be decompressed: ")
    assert not (tmp_path / "part").exists()


@pytest.mark.parametrize("is_compressed", [False, True])
def test_records_above_the_limit_are_rejected_without_being_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_compressed: bool
) -> None:  # fmt: skip
    """A kilobyte may decompress to a gigabyte."""
    monkeypatch.setattr(received_records, "MAX_RECORDS_BYTES", 1000)
    content = b"x" * 10_000_000 + b"\n"
    lines = pieces(gzip.compress(content)) if is_compressed else [content]
    problem = received(tmp_path / "part", lines, is_compressed).problem
    assert problem
    assert "it sent more than" in problem.reason
    assert not (tmp_path / "part").exists()
