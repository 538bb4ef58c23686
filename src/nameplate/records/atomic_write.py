"""Write a file whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nameplate.errors import FileError
from nameplate.records.inputs import open_input
from nameplate.records.replaceable import why_content_not_replaceable

# Each attempt fails only because another process made or replaced the file at the same time.
_ATTEMPTS = 100


def write_atomically(content: bytes, path: Path, force: bool = False) -> None:
    """Write ``content`` to ``path`` completely or not at all: readers see the old or the new content, never a part.

    An existing file is replaced, and its permissions are kept, if the file is empty, nameplate wrote all of it, or it
    already has this content (see ``replaceable``). With ``force``, any file except a run file is replaced. A symbolic
    link is followed. The directory must exist. The content is written to a temporary file in this directory, synced to
    disk and renamed. If several processes or hosts write the same file, the last one wins. A file that another program
    creates at ``path`` in the meantime is checked in the same way.

    Raises:
        FileError: the file cannot be written, may not be replaced, is not a regular file, or is a link that another
            user made in a shared directory.
    """
    if _is_foreign_link(path):
        raise FileError(f"cannot write {path}: it is a link made by another user in a shared directory; remove it")
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise FileError(f"cannot write {path}: it is not a regular file; name another file")
    try:
        with _temporary_file(content, target) as temporary:
            for _ in range(_ATTEMPTS):
                if _put(temporary, target, path, content, force):
                    return
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from None
    raise FileError(f"cannot write {path}: other processes keep replacing it; name another file")


def write_private(content: bytes, path: Path) -> None:
    """Write ``content`` to ``path`` completely or not at all, readable and writable only by its owner.

    An existing file is replaced; a symbolic link is replaced as well, and not followed. The directory must exist.

    Raises:
        OSError: the file cannot be written.
    """
    with _temporary_file(content, path, 0o600) as temporary:
        temporary.replace(path)


@contextmanager
def _temporary_file(content: bytes, target: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield a file next to ``target`` with this content, synced to disk; it is removed if it was not renamed."""
    temporary = target.with_name(f".nameplate-{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink()


def _put(temporary: Path, target: Path, path: Path, content: bytes, force: bool) -> bool:
    """Rename the temporary file, and return False if another process has just used the new name.

    Raises FileError if the file ``path``, which is ``target`` without links, may not be replaced.
    """
    before = _checked(target, path, content, force)
    if before is None:
        return _put_new(temporary, target)
    temporary.chmod(stat.S_IMODE(before.st_mode))
    if not _is_unchanged(target, before):
        return False
    temporary.replace(target)
    return True


def _checked(target: Path, path: Path, content: bytes, force: bool) -> os.stat_result | None:
    """Return the status of an existing file that may be replaced, None if the file does not exist."""
    if not os.path.lexists(target):
        return None
    try:
        with open_input(target) as file:
            status = os.fstat(file.fileno())
            problem = why_content_not_replaceable(file, force, content)
    except FileError as error:
        if not force:
            raise FileError(f"cannot write {path}: {error}; use --force to overwrite it") from None
        return target.stat()
    if problem:
        raise FileError(f"cannot write {path}: it {problem}")
    return status


def _put_new(temporary: Path, target: Path) -> bool:
    try:
        target.hardlink_to(temporary)  # unlike a rename, it fails if the name is in use
    except OSError:
        if os.path.lexists(target):
            return False
        temporary.replace(target)  # a file system without hard links
    return True


def _is_unchanged(target: Path, before: os.stat_result) -> bool:
    try:
        now = target.stat()
    except FileNotFoundError:
        return False
    return all(getattr(now, name) == getattr(before, name) for name in ("st_dev", "st_ino", "st_size", "st_mtime_ns"))


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
