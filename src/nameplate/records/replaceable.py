"""Decide which existing files a command may replace, and which folders it may remove: only its own.

A file may be replaced if it is empty, if its checksum shows that nameplate wrote all of it, or if it already has the
new content. Others need ``--force``, and a file with a record of a run is never replaced.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from nameplate.errors import FileError
from nameplate.records.inputs import open_input

# No report or chart is larger.
_MAX_BYTES = 64 << 20
# A record anywhere, since a run file may have been formatted, sorted, damaged or cut off by other tools, or may be
# behind another file.
_RECORD_TYPES = ("run", "reference", "header", "sample", "outcome", "end", "stop", "figures")
_RECORD = re.compile(rb'"type"\s*:\s*"(?:%b)"' % "|".join(_RECORD_TYPES).encode())
_ESCAPE = re.compile(rb"\\u00([2-7][0-9a-fA-F])")
# The most that a record's type is taken to need, with escapes and spaces, in UTF-32.
_OVERLAP_BYTES = 4 << 10
# How a comment begins and ends in HTML and SVG, in PDF, and in gnuplot's files.
_COMMENTS = ((b"<!-- ", b" -->"), (b"% ", b""), (b"# ", b""))
_PNG_BEGIN, _PNG_END = b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82"
_NO_CHECKSUM = (
    "exists, and no checksum in it shows that nameplate wrote all of it (an edited file, an export, or a report of an "
    "earlier version): name another file, or replace it with --force"
)
_WORK_FOLDER_MARK = ".nameplate-work-folder"
_MAX_NAME_BYTES = 256


def marked(content: bytes, begin: bytes, end: bytes = b"") -> bytes:
    """Return a file's content with a comment in its last line, by which nameplate finds that it wrote all of it.

    ``begin`` and ``end`` enclose a comment of the file's format, such as ``# `` and nothing.
    """
    before = content if content.endswith(b"\n") else content + b"\n"
    return before + b"%bwritten by nameplate, checksum %08x%b\n" % (begin, zlib.crc32(before), end)


def marked_png(picture: bytes) -> bytes:
    """Return a PNG picture with a text chunk at its end that names nameplate and has the picture's checksum."""
    before = picture.removesuffix(_PNG_END)
    text = b"tEXtSoftware\0nameplate, checksum %08x" % zlib.crc32(before)
    chunk = (len(text) - len(b"tEXt")).to_bytes(4, "big") + text + zlib.crc32(text).to_bytes(4, "big")
    return before + chunk + _PNG_END


def check_replaceable(files: Mapping[Path, bytes | None], force: bool) -> None:
    """Check that each of the files does not exist or may be replaced, before any of them is written.

    ``files`` has the new content of each file, as far as it is known. With ``force``, only run files may not be
    replaced. Links are followed.

    Raises:
        FileError: a file may not be replaced; the message says what to do.
    """
    for path, content in files.items():
        if problem := why_kept(path, force, content):
            raise FileError(f"{path} {problem}")


def why_kept(path: Path, force: bool, content: bytes | None = None) -> str:
    """Return why a file may not be replaced, as the rest of a sentence that begins with its name; "" if it may.

    It may if it does not exist. With ``force``, it may if it is no run file. ``content`` is the new content, None if it
    is not known yet. Links are followed.
    """
    if not os.path.lexists(path.resolve()):
        return ""
    try:
        with open_input(path) as file:
            return why_content_kept(file, force, content)
    except (FileError, OSError):
        return "" if force else "exists and cannot be read: name another file, or replace it with --force"


def why_content_kept(file: BinaryIO, force: bool, content: bytes | None = None) -> str:
    """Return why an open file may not be replaced, as ``why_kept`` does. Raises OSError if it cannot be read."""
    existing = file.read(_MAX_BYTES + 1)
    if existing in (b"", content) or _is_as_written(existing):
        return ""
    if _has_record(existing, file):
        return "is a run file, or contains one, and is not overwritten: name another file"
    return "" if force else _NO_CHECKSUM


def _has_record(start: bytes, rest: BinaryIO) -> bool:
    """Return whether there is a record of a run file, also in UTF-16 or UTF-32, and also if its type is escaped.

    ``start`` is what was read of the file, and ``rest`` has what follows.
    """
    tail = b""
    for block in chain([start], iter(partial(rest.read, _MAX_BYTES), b"")):
        if _RECORD.search(_ESCAPE.sub(_unescaped, (tail + block).replace(b"\0", b""))):
            return True
        tail = block[-_OVERLAP_BYTES:]
    return False


def _unescaped(escape: re.Match[bytes]) -> bytes:
    return bytes.fromhex(escape[1].decode())


def _is_as_written(content: bytes) -> bool:
    """Return whether the file ends with nameplate's checksum of all that is before it."""
    if content.startswith(_PNG_BEGIN):
        n_chunk = len(marked_png(b"")) - len(_PNG_END)
        return marked_png(content.removesuffix(_PNG_END)[:-n_chunk]) == content
    before = content[: content.rfind(b"\n", 0, -1) + 1]
    return any(marked(before, *comment) == content for comment in _COMMENTS)


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
        return file.readline(_MAX_NAME_BYTES) == os.fsencode(folder.name) + b"\n"
    return False
