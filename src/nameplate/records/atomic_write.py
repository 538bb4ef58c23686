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
    """Write a file completely or not at all: readers see the old or the new content, never a part.

    ``content`` replaces that of ``path``; the permissions of an existing file are kept, and a symbolic link is
    followed. The directory must exist. The content is written to a temporary file in it, synced to disk and renamed.
    Several writers, also on other hosts, use different temporary files, and the last one wins.

    Raises:
        FileError: the file cannot be written, is not a regular file, is a run file, which is never replaced, or is a
            link that another user made in a shared directory.
    """
    if _is_foreign_link(path):
        raise FileError(f"cannot write {path}: it is a link made by another user in a shared directory; remove it")
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise FileError(f"cannot write {path}: it is not a regular file")
    if is_run_file(target):
        raise FileError(f"cannot write {path}: it is a run file, which is not overwritten; name another file")
    temporary = target.with_name(f".nameplate-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise FileError(f"cannot write {path}: {error.strerror}") from None


def _is_foreign_link(path: Path) -> bool:
    """Return whether ``path`` is a link in a sticky directory, made by neither this user nor the directory's owner.

    The kernel refuses to follow such a link where ``fs.protected_symlinks`` is set.
    """
    try:
        link, folder = path.lstat(), path.parent.stat()
    except OSError:
        return False
    is_for_all = bool(folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH)
    return stat.S_ISLNK(link.st_mode) and is_for_all and link.st_uid not in (os.geteuid(), folder.st_uid)


def is_run_file(path: Path) -> bool:
    """Return whether the content of a file begins like a run file, with ``{"type":"run"``. Links are followed.

    The result is False if the file does not exist, cannot be read or is not a regular file. Nothing is checked beyond
    these bytes.
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_RUN_FILE_BEGINS)) == _RUN_FILE_BEGINS
    except OSError:
        return False
