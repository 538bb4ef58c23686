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
    """Return the path of nameplate's folder ``part`` in the user's cache directory. Nothing is created.

    The cache directory is ``XDG_CACHE_HOME`` if that is an absolute path, otherwise ``~/.cache``.

    Raises:
        FileError: ``~/.cache`` is needed, but the user has no home directory, or HOME is not its full path.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The standard says that a relative path is to be ignored.
    if given.is_absolute():
        return given / "nameplate" / part
    try:
        home = Path.home()
    except (OSError, RuntimeError) as error:
        raise FileError(f"cannot use a cache: {error}") from None
    if not (home.is_absolute() and home.is_dir()):
        raise FileError(f"cannot use a cache: HOME is {home}, which is not the full path of a directory")
    return home / ".cache" / "nameplate" / part


def read_cached(path: Path, max_bytes: int, kind: str) -> bytes | None:
    """Return the content of a cached file, or None if it cannot be used.

    The result is None if the file does not exist, is a link, is unreadable or larger than ``max_bytes``, or if other
    users can have written it. ``kind`` is a noun for the kind of file, as in ``read_input``. The content is not
    checked.
    """
    try:
        return read_input(path, max_bytes, kind) if not path.is_symlink() and is_private(path) else None
    except FileError:
        return None


def write_cached(content: bytes, path: Path) -> bool:
    """Write a cached file completely, replacing an earlier one, and return whether it was written.

    If its folder does not exist, it is created for this user alone. Nothing is written, and the result is False, if
    other users can write to the folder.

    Raises:
        FileError: the file cannot be written, or it is a symbolic link.
    """
    if path.is_symlink():
        raise FileError(f"{path} is a link and is not overwritten: remove it")
    try:
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        if not is_private(path.parent):
            return False
        write_private(content, path)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from None
    return True
