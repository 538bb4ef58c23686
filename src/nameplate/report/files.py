"""Writing a file whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from nameplate.errors import FileError


def write_whole(content: bytes, path: Path) -> None:
    """By a file beside it that takes its name at the end: readers see the old one or the new one. Raises FileError."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise FileError(f"cannot write {path}: it is not a regular file")
    beside = target.with_name(f".nameplate-{os.getpid()}.tmp")
    try:
        beside.write_bytes(content)
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise FileError(f"cannot write {path}: {error.strerror}") from None
