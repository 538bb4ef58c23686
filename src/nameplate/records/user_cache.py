"""Keep files that can be made again in the user's cache directory, as the XDG Base Directory Specification says.

They are used only if nobody else can have written them: the directory may be in a shared ``/tmp``.
"""

from __future__ import annotations

import os
from pathlib import Path

from nameplate.errors import FileError
from nameplate.records.atomic_write import write_private
from nameplate.records.inputs import read_input
from nameplate.records.trusted_files import is_private


def cache_folder(part: str) -> Path:
    """Return nameplate's folder ``part`` in ``$XDG_CACHE_HOME``, or below ``~/.cache``. Nothing is created.

    Raises:
        FileError: the user has no home directory, or HOME names none.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The standard says that a relative path is to be ignored.
    if given.is_absolute():
        return given / "nameplate" / part
    try:
        home = Path.home()
    except (OSError, RuntimeError) as error:
        raise FileError(f"no place for a cache: {error}") from None
    if not (home.is_absolute() and home.is_dir()):
        raise FileError(f"no place for a cache: HOME is {home}, which is not the full path of a directory")
    return home / ".cache" / "nameplate" / part


def read_cached(path: Path, max_bytes: int, what: str) -> bytes | None:
    """Return the content of a cached file, None if there is none, or if it is a link, unreadable, or too large.

    It is also None if others can have written it. ``what`` is a noun for the kind of file, as in ``read_input``. The
    content may be damaged.
    """
    try:
        return read_input(path, max_bytes, what) if not path.is_symlink() and is_private(path) else None
    except FileError:
        return None


def write_cached(content: bytes, path: Path) -> bool:
    """Write a cached file as a whole, replacing an earlier one, and return whether it was written.

    Its folder is created for this user alone. Nothing is written to a folder that others can change.

    Raises:
        FileError: the file cannot be written, or it is a symbolic link.
    """
    if path.is_symlink():
        raise FileError(f"{path} is a link and is not overwritten")
    try:
        _make_private(path.parent)
        if not is_private(path.parent):
            return False
        write_private(content, path)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from None
    return True


def _make_private(folder: Path) -> None:
    """Create a folder and those above it, as far as they are missing, for this user alone."""
    for each in reversed([folder, *folder.parents]):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
