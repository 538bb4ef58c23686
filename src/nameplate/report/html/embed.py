"""The data inside an HTML report: compressed into the page, and read back from it."""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from nameplate.control_characters import clean_json
from nameplate.errors import FileError
from nameplate.records.inputs import read_input
from nameplate.records.model import Report, Series
from nameplate.report.html.embedded_checks import problem_of_report

# A report of a run stays below 3 MB; one of many runs has as many times as much.
_MAX_PAGE_BYTES = 64 << 20
# The data of a report have about ten characters and one value for each packed character. Data with many times as much
# were made to fill the memory: a value takes up to a hundred bytes once it is decoded.
_MAX_UNPACKED_BYTES = 256 << 20
_MAX_CHARACTERS_EACH, _MAX_VALUES_EACH = 40, 2
# Short data may shrink further.
_ALWAYS_CHARACTERS, _ALWAYS_VALUES = 1 << 20, 100_000

_EMBEDDED = re.compile(rb'<script type="text/plain" id="nameplate-data">([A-Za-z0-9+/=]*)</script>')


def packed(content: bytes) -> str:
    """Compressed, in characters that stand in a page as they are."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def embedded(reports: Sequence[Report], has_samples: bool) -> str:
    """The runs as ``read_embedded`` reads them, with or without their single samples and pairs.

    A single sample's value and beginning have six digits, which halves their room.
    """
    kept = _with_short_samples if has_samples else _without_samples
    return packed(msgspec.json.encode([kept(report) for report in reports]))


def read_embedded(path: Path) -> list[Report]:
    """The runs that a report was written from, with aliases for the hosts' names. Raises FileError."""
    match = _EMBEDDED.search(read_input(path, _MAX_PAGE_BYTES, "report"))
    if match is None:
        raise FileError(f"{path} has no data of a nameplate report in it")
    try:
        reports = msgspec.json.decode(clean_json(_unpacked(match[1])), type=list[Report])
    except (ValueError, zlib.error, RecursionError) as error:
        raise FileError(f"{path}: its data cannot be read: {error}") from None
    for number, report in enumerate(reports, start=1):
        if problem := problem_of_report(report):
            raise FileError(f"{path}: run {number} of its data: {problem}")
    return reports


def _unpacked(text: bytes) -> bytes:
    """Raises ValueError or zlib.error."""
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    max_bytes = min(_ALWAYS_CHARACTERS + _MAX_CHARACTERS_EACH * len(text), _MAX_UNPACKED_BYTES)
    max_values = _ALWAYS_VALUES + _MAX_VALUES_EACH * len(text)
    content = unpacking.decompress(base64.b64decode(text), max_bytes)
    if not unpacking.eof:
        raise ValueError(f"it is cut off, or unpacks to more than {max_bytes >> 20} MiB")
    if sum(map(content.count, (b",", b"[", b"{"))) > max_values:
        raise ValueError(f"it unpacks to more than {max_values} values")
    return content


def _with_short_samples(report: Report) -> Report:
    results = [msgspec.structs.replace(result, series=_short(result.series)) for result in report.results]
    return msgspec.structs.replace(report, results=results)


def _short(series: Series) -> Series:
    return msgspec.structs.replace(
        series, start_s=[float(f"{start:.6g}") for start in series.start_s],
        value=[float(f"{value:.6g}") for value in series.value],
    )  # fmt: skip


def _without_samples(report: Report) -> Report:
    results = [
        msgspec.structs.replace(result, series=Series([], [], [], []), node_times=[], pairs=[])
        for result in report.results
    ]
    return msgspec.structs.replace(report, results=results)
