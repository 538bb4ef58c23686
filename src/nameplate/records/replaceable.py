"""Decide which existing files a command may replace, and which folders it may remove: only its own.

A file may be replaced if it is empty, or if its content shows that nameplate wrote it and can write it again: a report,
a chart, or an export of a run. Others need ``--force``, and run files are never replaced.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from nameplate.errors import FileError
from nameplate.records.inputs import open_input

# No report, chart or export is larger.
_MAX_BYTES = 64 << 20
# Far more than the first lines of a run file have.
_HEAD_BYTES = 1 << 20
# A record anywhere, since a run file may have been formatted, sorted, damaged or cut off by other tools.
_RECORD_TYPES = ("run", "reference", "header", "sample", "outcome", "end", "stop", "figures")
_RECORD = re.compile(rb'"type"\s*:\s*"(?:%b)"' % "|".join(_RECORD_TYPES).encode())
_SPACE = b"\xef\xbb\xbf \t\r\n"
_MARK = re.compile(rb"[^\n]*written by nameplate, checksum ([0-9a-f]{8})[^\n]*\n\Z")
_MARK_BYTES = 80
_PNG_BEGIN, _PNG_END = b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82"
_PNG_MARK = b"tEXtSoftware\0nameplate"
# The key and the value in a Parquet footer, in which their lengths are between them.
PARQUET_KEY, PARQUET_VALUE = "written_by", "nameplate"
_PROBE = rb"(?:null|(?:cpu|memory|disk|net|mpi|os|gpu)_[a-z]+)"
# How reports and exports of a run begin. A table to which somebody added a column does not begin so.
_BEGIN = re.compile(
    rb'\s*<!DOCTYPE html>\n<html lang="en">\n<head>\n(?:<meta [^>]*>\n)*?<meta name="generator" content="nameplate '
    rb"|probe(?:\n\Z|,[^\n]*metric,value,unit,[^\n]*,capability_ci_low,capability_ci_high\n)"
    rb"|table,row,column,unit,measured_by,here,published,ratio,own,own_name,remarks\n"
    rb'|\{\n  "schema": \d+,\n  "machine": \{.*\n  "plan": "[^\n]*",\n  "headline": '
    rb"|\|  \| typical \| 95 % \| capability \| its 95 % \| reference \| share \| sustained \| cores \| notes \|\n"
    rb"|# TYPE nameplate_\w+ gauge\n"
    rb'|\{"resourceMetrics": \[\{"resource": \{"attributes": \[\{"key": "service\.name", '
    rb'"value": \{"stringValue": "nameplate"\}\}'
    rb'|\{\n  "' + _PROBE + rb'(?: [^"\n]*)?": \{\n    "[a-z0-9-]+": \{\n      "value": '
    rb'|\[\n  \{\n    "name": "' + _PROBE + rb'[^\n]*",\n    "unit": [^\n]*,\n    "value": [^\n]*,\n'
    rb'(?:    "range": [^\n]*,\n)?    "extra": "rounds: \d+"\n'
    rb"|(?:\{\}|\[\])\n\Z",
    re.DOTALL,
)
_WORK_FOLDER_MARK = ".nameplate-work-folder"


def marked(content: bytes, begin: bytes, end: bytes = b"") -> bytes:
    """Return a file's content with a comment in its last line, by which nameplate finds that it wrote all of it.

    ``begin`` and ``end`` enclose a comment of the file's format, such as ``# `` and nothing.
    """
    own = content if content.endswith(b"\n") else content + b"\n"
    return own + b"%bwritten by nameplate, checksum %08x%b\n" % (begin, zlib.crc32(own), end)


def marked_png(picture: bytes) -> bytes:
    """Return a PNG picture with a text chunk that names nameplate as the software that wrote it."""
    chunk = len(_PNG_MARK[4:]).to_bytes(4, "big") + _PNG_MARK + zlib.crc32(_PNG_MARK).to_bytes(4, "big")
    return picture.removesuffix(_PNG_END) + chunk + _PNG_END


def check_replaceable(paths: Iterable[Path], force: bool) -> None:
    """Check that each of the files does not exist or may be replaced, before any of them is written.

    With ``force``, only run files may not be replaced. Links are followed.

    Raises:
        FileError: a file may not be replaced; the message says what to do.
    """
    for path in paths:
        if problem := why_kept(path, force):
            raise FileError(f"{path} {problem}")


def why_kept(path: Path, force: bool) -> str:
    """Return why a file may not be replaced, as the rest of a sentence that begins with its name; "" if it may.

    It may if it does not exist. With ``force``, it may if it is no run file. Links are followed.
    """
    if not os.path.lexists(path.resolve()):
        return ""
    try:
        with open_input(path) as file:
            return why_content_kept(file, force)
    except (FileError, OSError):
        return "" if force else "exists and cannot be read: name another file, or replace it with --force"


def why_content_kept(file: BinaryIO, force: bool) -> str:
    """Return why an open file may not be replaced, as ``why_kept`` does. Raises OSError if it cannot be read."""
    content = file.read(_MAX_BYTES + 1)
    if not content or _is_written_again(content):
        return ""
    if _has_record(content):
        return "is a run file, which is not overwritten: name another file"
    return "" if force else "exists, and nameplate cannot write it again: name another file, or replace it with --force"


def _has_record(content: bytes) -> bool:
    """Return whether there is a record of a run file, also if another tool wrote its first line in another form."""
    if _RECORD.search(content):
        return True
    try:
        first = msgspec.json.decode(content.lstrip(_SPACE).partition(b"\n")[0])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return isinstance(first, dict) and first.get("type") in _RECORD_TYPES


def _is_written_again(content: bytes) -> bool:
    if len(content) > _MAX_BYTES:
        return False
    if content.startswith(_PNG_BEGIN):
        return _PNG_MARK in content[-_MARK_BYTES:]
    if content.startswith(b"PAR1"):
        footer = content[-_HEAD_BYTES:]
        return (
            re.search(rb"%b.{1,8}?%b" % (PARQUET_KEY.encode(), PARQUET_VALUE.encode()), footer, re.DOTALL) is not None
        )
    mark = _MARK.search(content, max(0, len(content) - _MARK_BYTES))
    if mark is not None:
        return zlib.crc32(content[: content.rfind(b"\n", 0, -1) + 1]) == int(mark[1], 16)
    return _BEGIN.match(content, 0, _HEAD_BYTES) is not None


def mark_work_folder(folder: Path) -> None:
    """Write a file into a folder of nameplate's that says that the folder may be removed with all its contents.

    Raises:
        FileError: the file cannot be written.
    """
    text = (
        f"{folder.name}\nThis folder of nameplate versus is removed at its end, or by the next one in this directory.\n"
    )
    try:
        (folder / _WORK_FOLDER_MARK).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {folder / _WORK_FOLDER_MARK}: {error.strerror}") from None


def is_work_folder(folder: Path) -> bool:
    """Return whether ``mark_work_folder`` marked a folder of this name, and not one that was copied or renamed."""
    with suppress(FileError, OSError), open_input(folder / _WORK_FOLDER_MARK) as file:
        return file.readline(_MARK_BYTES) == os.fsencode(folder.name) + b"\n"
    return False
