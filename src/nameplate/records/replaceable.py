"""Decide which existing files a command may replace, and which folders it may remove: only files of nameplate.

A file may be replaced if it is empty, if its checksum shows that nameplate wrote all of it, or if it already has the
new content. Other files need ``--force``, and a file with a record of a run is never replaced.
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
# The assumed maximum size of a record's key and type in UTF-32, with escapes and spaces.
_OVERLAP_BYTES = 4 << 10
# How a comment begins and ends in HTML and SVG, in PDF, and in gnuplot's files.
_COMMENTS = ((b"<!-- ", b" -->"), (b"% ", b""), (b"# ", b""))
_PNG_START, _PNG_END = b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82"
_NO_CHECKSUM = (
    "exists, and no checksum in it shows that nameplate wrote all of it (an edited file, an export, or a report of an "
    "earlier version): name another file, or use --force to overwrite it"
)
_WORK_FOLDER_MARK = ".nameplate-work-folder"
_MAX_NAME_BYTES = 256


def marked(content: bytes, opening: bytes, end: bytes = b"") -> bytes:
    """Return a file's content with a checksum of nameplate in a comment at its end.

    ``content`` is everything before the comment; a newline is added if it does not end with one. From the checksum,
    nameplate later recognises that it wrote the whole file. ``opening`` and ``end`` are the start and the end of a
    comment in the file's format, such as ``b"# "`` and ``b""``.
    """
    before = content if content.endswith(b"\n") else content + b"\n"
    return before + b"%bwritten by nameplate, checksum %08x%b\n" % (opening, zlib.crc32(before), end)


def marked_png(picture: bytes) -> bytes:
    """Return a PNG picture with a text chunk at its end that has nameplate's checksum, as ``marked`` does."""
    before = picture.removesuffix(_PNG_END)
    text = b"tEXtSoftware\0nameplate, checksum %08x" % zlib.crc32(before)
    chunk = (len(text) - len(b"tEXt")).to_bytes(4, "big") + text + zlib.crc32(text).to_bytes(4, "big")
    return before + chunk + _PNG_END


def check_replaceable(files: Mapping[Path, bytes | None], force: bool) -> None:
    """Check that each file does not exist or may be replaced, before any of them is written.

    ``files`` maps the path of each file to its new content, None if the content is not known yet. With ``force``, any
    file except a run file may be replaced. Links are followed.

    Raises:
        FileError: a file may not be replaced; the message says what to do.
    """
    for path, content in files.items():
        if problem := why_not_replaceable(path, force, content):
            raise FileError(f"{path} {problem}")


def why_not_replaceable(path: Path, force: bool, content: bytes | None = None) -> str:
    """Return why a file may not be replaced, as the rest of a sentence that begins with its path; "" if it may.

    A file may be replaced if it does not exist or is empty, if its checksum shows that nameplate wrote all of it, if it
    already has the new ``content`` (None if the content is not known yet), or, with ``force``, if it is not a run file.
    Links are followed.
    """
    if not os.path.lexists(path.resolve()):
        return ""
    try:
        with open_input(path) as file:
            return why_content_not_replaceable(file, force, content)
    except (FileError, OSError):
        return "" if force else "exists and cannot be read: name another file, or use --force to overwrite it"


def why_content_not_replaceable(file: BinaryIO, force: bool, content: bytes | None = None) -> str:
    """Return why an open file may not be replaced, as the rest of a sentence that begins with its path; "" if it may.

    ``file`` must be positioned at its start, and is read. ``force``, ``content`` and the rules are as for
    ``why_not_replaceable``. Raises OSError if the file cannot be read.
    """
    existing = file.read(_MAX_BYTES + 1)
    if existing in (b"", content) or _is_as_written(existing):
        return ""
    if _has_record(existing, file):
        return "is a run file, or contains one, and is not overwritten: name another file"
    return "" if force else _NO_CHECKSUM


def _has_record(start: bytes, rest: BinaryIO) -> bool:
    """Return whether a file has a record of a run, even in UTF-16 or UTF-32, and even if its type is escaped.

    ``start`` is the part of the file that was read already, and ``rest`` is positioned after it.
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
    if content.startswith(_PNG_START):
        n_chunk = len(marked_png(b"")) - len(_PNG_END)
        return marked_png(content.removesuffix(_PNG_END)[:-n_chunk]) == content
    before = content[: content.rfind(b"\n", 0, -1) + 1]
    return any(marked(before, *comment) == content for comment in _COMMENTS)


def mark_work_folder(folder: Path) -> None:
    """Write a file into a folder that allows nameplate to remove the folder with all its contents.

    Raises:
        FileError: the file cannot be written.
    """
    text = (
        f"{folder.name}\nnameplate versus removes this folder when it ends, or when next run in the same directory.\n"
    )
    try:
        (folder / _WORK_FOLDER_MARK).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {folder / _WORK_FOLDER_MARK}: {error.strerror}") from None


def is_work_folder(folder: Path) -> bool:
    """Return whether ``mark_work_folder`` marked this folder, and the folder still has the name that it had then."""
    with suppress(FileError, OSError), open_input(folder / _WORK_FOLDER_MARK) as file:
        return file.readline(_MAX_NAME_BYTES) == os.fsencode(folder.name) + b"\n"
    return False
