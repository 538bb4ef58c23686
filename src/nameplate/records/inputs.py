"""Open and read input files: regular files only, up to a stated size."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from nameplate.control_characters import clean_text
from nameplate.errors import FileError, ReadError

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_input(path: Path) -> BinaryIO:
    """Return a regular file opened for reading. Raises FileError for anything else, without waiting for it."""
    try:
        # Without O_NONBLOCK a named pipe would be waited for until somebody writes to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:  # a null byte
        raise ReadError(f"cannot read {str(path)!r}: this is not a possible name of a file") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise ReadError(f"cannot read {path}: it is {kind_of(mode)}, not a regular file")
    return os.fdopen(descriptor, "rb")


def kind_of(mode: int) -> str:
    """Return what a file that is not a regular one is, from its ``st_mode``."""
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "a special file")


def read_input(path: Path, max_bytes: int, what: str) -> bytes:
    """Return a file's content. Raises FileError where it is larger than any ``what``, which is the kind of file."""
    with open_input(path) as file:
        content = _read(path, file, max_bytes + 1)
    if len(content) > max_bytes:
        raise FileError(f"{path} is larger than any {what}: more than {_size(max_bytes)}")
    return content


def read_text(path: Path, max_bytes: int, what: str) -> str:
    """Return a file's content as text, which must be UTF-8, without control characters. Raises FileError."""
    content = read_input(path, max_bytes, what)
    try:
        return clean_text(content.decode())
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}: line {line}: byte 0x{content[error.start]:02x} is not UTF-8") from None


def read_head(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a file. Raises FileError."""
    with open_input(path) as file:
        return _read(path, file, n_bytes)


def modified_s(path: Path) -> float:
    """Return when a file was last written, in seconds since 1970. Raises FileError."""
    with open_input(path) as file:
        return os.fstat(file.fileno()).st_mtime


def _read(path: Path, file: BinaryIO, n_bytes: int) -> bytes:
    try:
        return file.read(n_bytes)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MiB" if n_bytes >= 1 << 20 else f"{n_bytes >> 10} KiB"
