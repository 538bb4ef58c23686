"""Embed compressed data in an HTML report, and read them back."""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nameplate.control_characters import clean_json
from nameplate.errors import FileError
from nameplate.records.inputs import read_input
from nameplate.records.result import Report, Result, Series
from nameplate.report.html.embedded_checks import problem_of_report
from nameplate.results.earlier_versions import completed_plan, missing_params

# A report on one run has less than 3 MB; a report on n runs has up to n times as much.
_MAX_PAGE_BYTES = 64 << 20
# A report's data have about ten characters and one value per compressed character. Data with a much higher ratio were
# made to exhaust memory: a decoded value takes up to a hundred bytes.
_MAX_UNPACKED_BYTES = 256 << 20
_MAX_CHARACTERS_PER_TEXT, _MAX_VALUES_PER_LIST = 40, 2
# Short data may have a higher ratio, up to these totals.
_ALWAYS_CHARACTERS, _ALWAYS_VALUES = 1 << 20, 100_000

_EMBEDDED = re.compile(rb'<script type="text/plain" id="nameplate-data">([A-Za-z0-9+/=]*)</script>')


def packed(content: bytes) -> str:
    """Return ``content`` compressed by gzip and encoded as base64, which needs no escaping in HTML.

    Equal contents give equal texts.
    """
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def embedded(reports: Sequence[Report], has_samples: bool) -> str:
    """Return the runs as the text of the page's element ``nameplate-data``, which ``read_embedded`` decodes.

    With ``has_samples``, the values and start times of samples are rounded to six significant digits, which halves
    their size. Without it, samples, ``node_times`` and ``pairs`` are left out. The text contains all names in
    ``reports``; call ``without_names`` first to replace them.
    """
    reduced = _with_short_samples if has_samples else _without_samples
    return packed(msgspec.json.encode([replace(report, results=[*map(reduced, report.results)]) for report in reports]))


def read_embedded(path: Path) -> list[Report]:
    """Return the runs of an HTML report, in the order of the page, from the data embedded in it.

    Host names are aliases such as "machine 1", unless the report was written with ``identify``. If the report was
    written without single samples, ``series``, ``node_times`` and ``pairs`` of all results are empty.

    Raises:
        FileError: the file cannot be read or is larger than 64 MiB, or its data are missing, damaged, inconsistent, or
            too large after decompression.
    """
    match = _EMBEDDED.search(read_input(path, _MAX_PAGE_BYTES, "report"))
    if match is None:
        raise FileError(f"{path}: not a nameplate report (no embedded data); give a file that nameplate report wrote")
    try:
        reports = msgspec.json.decode(_with_typed_machines(clean_json(_unpacked(match[1]))), type=list[Report])
    except (ValueError, zlib.error, RecursionError) as error:
        raise FileError(f"{path}: the embedded data cannot be read: {error}; write the report again") from None
    reports = [_completed(report) for report in reports]
    for number, report in enumerate(reports, start=1):
        if problem := problem_of_report(report):
            raise FileError(f"{path}: the embedded data of run {number} are inconsistent: {problem}")
    return reports


def _completed(report: Report) -> Report:
    """Return a report by an earlier version, with the parameters that its probes did not have at that time."""
    measured = [result for result in report.results if result.kind != "imported" and result.summary.value is not None]
    missing = {
        result.id: missing_of_result
        for result in measured
        if (missing_of_result := missing_params(result.summary.probe, result.summary.params))
    }
    results = [
        replace(result, summary=replace(result.summary, params={**result.summary.params, **missing[result.id]}))
        if result.id in missing
        else result
        for result in report.results
    ]
    return replace(report, results=results, run=completed_plan(report.run, missing))


class _MachineOnly(msgspec.Struct):
    machine: msgspec.Raw


def _with_typed_machines(content: bytes) -> bytes:
    """Return the data with ``null`` for a machine that was not recorded.

    Earlier versions wrote ``{}``, or only the machine's alias.
    """
    for report in msgspec.json.decode(content, type=list[_MachineOnly]):
        text = bytes(report.machine)
        known = msgspec.json.decode(text)
        if known == {} or (isinstance(known, dict) and known == {"hostname": str(known.get("hostname")), "job": None}):
            content = content.replace(b'"machine":' + text, b'"machine":null', 1)
    return content


def _unpacked(text: bytes) -> bytes:
    """Return the decompressed data.

    Raises:
        ValueError: the data are truncated or too large. zlib.error: the data are damaged.
    """
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    max_bytes = min(_ALWAYS_CHARACTERS + _MAX_CHARACTERS_PER_TEXT * len(text), _MAX_UNPACKED_BYTES)
    max_values = _ALWAYS_VALUES + _MAX_VALUES_PER_LIST * len(text)
    content = unpacking.decompress(base64.b64decode(text), max_bytes)
    if not unpacking.eof:
        raise ValueError(f"truncated, or larger than {max_bytes >> 20} MiB when uncompressed")
    if sum(map(content.count, (b",", b"[", b"{"))) > max_values:
        raise ValueError(f"more than {max_values} values when uncompressed")
    return content


def _with_short_samples(result: Result) -> Result:
    series = result.series
    start_s, value = ([float(f"{number:.6g}") for number in numbers] for numbers in (series.start_s, series.value))
    return replace(result, series=replace(series, start_s=start_s, value=value))


def _without_samples(result: Result) -> Result:
    return replace(result, series=Series([], [], [], []), node_times=[], pairs=[])
