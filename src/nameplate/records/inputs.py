"""Open and read input files: regular files only, up to a stated size."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from nameplate.control_characters import clean_text
from nameplate.errors import FileError, ReadError

_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "UTF-8", codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_input(path: Path) -> BinaryIO:
    """Return a regular file opened for reading bytes. The caller closes it.

    Other kinds of files, such as named pipes, are rejected without blocking on them. Links are followed.

    Raises:
        ReadError: the file does not exist, cannot be opened, or is not a regular file, or its name has a null byte.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe would block until another process writes to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:  # a null byte
        raise ReadError(f"cannot read {str(path)!r}: not a valid file name") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise ReadError(f"cannot read {path}: it is {kind_of(mode)}, not a regular file")
    return os.fdopen(descriptor, "rb")


def kind_of(mode: int) -> str:
    """Return the kind of a file that is not regular, with its article: "a directory", "a named pipe" and so on.

    ``mode`` is the ``st_mode`` of ``os.stat``. Any other kind, regular files included, gives "a special file".
    """
    return next((name for is_kind, name in _KINDS if is_kind(mode)), "a special file")


def is_folder(path: Path) -> bool:
    """Return whether ``path`` is a directory; False if it does not exist. Links are followed.

    Raises:
        ReadError: the path cannot be examined, for example without permission for a parent directory.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last one for a null byte
        return False
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None


def files_in(folder: Path) -> list[Path]:
    """Return the regular files in a directory, not in its subdirectories, sorted by name. Links are followed.

    Raises:
        ReadError: the directory or one of its files cannot be read, so that the list would be incomplete.
    """
    try:
        return [path for path in sorted(folder.iterdir()) if _is_regular(path)]
    except OSError as error:
        raise ReadError(f"cannot read {error.filename}: {error.strerror}") from None


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):  # removed in the meantime, or a link to nothing
            return False
        raise


def read_input(path: Path, max_bytes: int, kind: str) -> bytes:
    """Return the content of a regular file of up to ``max_bytes`` bytes.

    ``kind`` is a noun for the kind of file, such as ``plan``, for the error message.

    Raises:
        ReadError: the file cannot be read or is not a regular file.
        FileError: the file is larger than ``max_bytes``.
    """
    with open_input(path) as file:
        content = _read(path, file, max_bytes + 1)
    if len(content) > max_bytes:
        limit = f"{max_bytes >> 20} MiB" if max_bytes >= 1 << 20 else f"{max_bytes >> 10} KiB"
        raise FileError(f"{path} is too large: the limit of this kind of file ({kind}) is {limit}")
    return content


def read_text(path: Path, max_bytes: int, kind: str) -> str:
    """Return the content of a UTF-8 file of up to ``max_bytes`` bytes as text.

    Control characters except newlines and tabs are replaced by U+FFFD, and CR LF becomes LF. ``kind`` is
    a noun for the kind of file, as in ``read_input``.

    Raises:
        ReadError: the file cannot be read or is not a regular file.
        FileError: the file is larger than ``max_bytes``, begins with a byte order mark, or is not UTF-8; then the
            message has the number of the line.
    """
    content = read_input(path, max_bytes, kind)
    check_encoding(path, content)
    try:
        return clean_text(content.decode())
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}: line {line}: byte 0x{content[error.start]:02x} is not UTF-8") from None


def check_encoding(path: Path, content: bytes) -> None:
    """Check that a file does not begin with a byte order mark, which some editors on Windows write.

    ``content`` is the content of the file ``path`` or the beginning of it; ``path`` is only named in the error message.

    Raises:
        FileError: there is a byte order mark of UTF-8 or UTF-16.
    """
    for mark, name in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            raise FileError(f"{path} starts with a byte order mark of {name}: save it as UTF-8 without one")


def read_head(path: Path, n_bytes: int) -> bytes:
    """Return the first ``n_bytes`` bytes of a regular file, or all of a shorter one.

    Raises:
        ReadError: the file cannot be read or is not a regular file.
    """
    with open_input(path) as file:
        return _read(path, file, n_bytes)


def modified_s(path: Path) -> float:
    """Return the time of a regular file's last change in seconds since 1970-01-01 UTC.

    Raises:
        ReadError: the file cannot be opened for reading or is not a regular file.
    """
    with open_input(path) as file:
        return os.fstat(file.fileno()).st_mtime


def _read(path: Path, file: BinaryIO, n_bytes: int) -> bytes:
    try:
        return file.read(n_bytes)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
