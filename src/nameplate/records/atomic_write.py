"""Write a file whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from nameplate.errors import FileError

_RUN_FILE_BEGINS = b'{"type":"run"'


def write_whole(content: bytes, path: Path) -> None:
    """Write to a temporary file in the same directory, then rename it: readers see the old content or the new one.

    Of several writers, on other hosts too, each has a temporary file of its own, and the last one's content stays. A
    run file is never replaced. Raises FileError.
    """
    if _is_foreign_link(path):
        raise FileError(f"cannot write {path}: it is a link that another user put into a directory of all; remove it")
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise FileError(f"cannot write {path}: it is not a regular file")
    if is_run_file(target):
        raise FileError(f"cannot write {path}: it is a run file, which is not overwritten; name another file")
    beside = target.with_name(f".nameplate-{secrets.token_hex(8)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise FileError(f"cannot write {path}: {error.strerror}") from None


def _is_foreign_link(path: Path) -> bool:
    """Return whether ``path`` is a link that neither this user nor the owner of its sticky directory made.

    The kernel refuses to follow such a link where ``fs.protected_symlinks`` is set.
    """
    try:
        link, folder = path.lstat(), path.parent.stat()
    except OSError:
        return False
    is_for_all = bool(folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH)
    return stat.S_ISLNK(link.st_mode) and is_for_all and link.st_uid not in (os.geteuid(), folder.st_uid)


def is_run_file(path: Path) -> bool:
    """Return whether ``path`` begins as a run file does; False where it cannot be read."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_RUN_FILE_BEGINS)) == _RUN_FILE_BEGINS
    except OSError:
        return False
