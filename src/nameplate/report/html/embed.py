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
from nameplate.records.result import Report, Series
from nameplate.report.html.embedded_checks import problem_of_report
from nameplate.results.earlier_versions import completed_plan, missing_params

# A report of one run is below 3 MB; one of several runs is larger by their number.
_MAX_PAGE_BYTES = 64 << 20
# A report's data have about ten characters and one value per compressed character. Data with a much higher ratio were
# made to exhaust memory: a decoded value takes up to a hundred bytes.
_MAX_UNPACKED_BYTES = 256 << 20
_MAX_CHARACTERS_EACH, _MAX_VALUES_EACH = 40, 2
# Short data may have a higher ratio.
_ALWAYS_CHARACTERS, _ALWAYS_VALUES = 1 << 20, 100_000

_EMBEDDED = re.compile(rb'<script type="text/plain" id="nameplate-data">([A-Za-z0-9+/=]*)</script>')


def packed(content: bytes) -> str:
    """Return ``content`` compressed by gzip and encoded as base64, which needs no escaping in HTML.

    The same content always gives the same text.
    """
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def embedded(reports: Sequence[Report], has_samples: bool) -> str:
    """Return the runs as the text of the page's element ``nameplate-data``, from which ``read_embedded`` restores them.

    With ``has_samples``, the values and start times of samples are rounded to six significant digits, which halves
    their size. Without it, the samples, the times of nodes and the times of pairs are left out. Names are not replaced:
    pass the reports through ``without_names`` first.
    """
    kept = _with_short_samples if has_samples else _without_samples
    return packed(msgspec.json.encode([kept(report) for report in reports]))


def read_embedded(path: Path) -> list[Report]:
    """Return the runs that an HTML report shows, in its order, from the data embedded in it.

    Host names are aliases such as "machine 1" unless the report was written with ``identify``. The lists in ``series``,
    ``node_times`` and ``pairs`` of all results are empty if the report has no single samples.

    Raises:
        FileError: the file cannot be read or is larger than 64 MiB, or its data are missing, damaged, inconsistent, or
            too large when uncompressed.
    """
    match = _EMBEDDED.search(read_input(path, _MAX_PAGE_BYTES, "report"))
    if match is None:
        raise FileError(f"{path}: not a nameplate report (no embedded data); give a file that nameplate report wrote")
    try:
        reports = msgspec.json.decode(_with_typed_machines(clean_json(_unpacked(match[1]))), type=list[Report])
    except (ValueError, zlib.error, RecursionError) as error:
        raise FileError(f"{path}: the embedded data cannot be read: {error}") from None
    reports = [_completed(report) for report in reports]
    for number, report in enumerate(reports, start=1):
        if problem := problem_of_report(report):
            raise FileError(f"{path}: the embedded data of run {number} are inconsistent: {problem}")
    return reports


def _completed(report: Report) -> Report:
    """Return a report of an earlier version with the parameters that its probes did not have yet."""
    own = [result for result in report.results if result.kind != "imported" and result.summary.value is not None]
    missing = {
        result.id: found for result in own if (found := missing_params(result.summary.probe, result.summary.params))
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
    """Return the data with ``null`` for a machine that was not recorded. Earlier versions wrote ``{}`` or its alias."""
    for report in msgspec.json.decode(content, type=list[_MachineOnly]):
        text = bytes(report.machine)
        known = msgspec.json.decode(text)
        if known == {} or (isinstance(known, dict) and known == {"hostname": str(known.get("hostname")), "job": None}):
            content = content.replace(b'"machine":' + text, b'"machine":null', 1)
    return content


def _unpacked(text: bytes) -> bytes:
    """Return the uncompressed data.

    Raises:
        ValueError: the data are truncated or too large.
        zlib.error: the data are damaged.
    """
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    max_bytes = min(_ALWAYS_CHARACTERS + _MAX_CHARACTERS_EACH * len(text), _MAX_UNPACKED_BYTES)
    max_values = _ALWAYS_VALUES + _MAX_VALUES_EACH * len(text)
    content = unpacking.decompress(base64.b64decode(text), max_bytes)
    if not unpacking.eof:
        raise ValueError(f"truncated, or larger than {max_bytes >> 20} MiB when uncompressed")
    if sum(map(content.count, (b",", b"[", b"{"))) > max_values:
        raise ValueError(f"more than {max_values} values when uncompressed")
    return content


def _with_short_samples(report: Report) -> Report:
    results = [replace(result, series=_short(result.series)) for result in report.results]
    return replace(report, results=results)


def _short(series: Series) -> Series:
    return replace(
        series, start_s=[float(f"{start:.6g}") for start in series.start_s],
        value=[float(f"{value:.6g}") for value in series.value],
    )  # fmt: skip


def _without_samples(report: Report) -> Report:
    results = [replace(result, series=Series([], [], [], []), node_times=[], pairs=[]) for result in report.results]
    return replace(report, results=results)
