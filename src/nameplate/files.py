"""Writing a file whole or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path

from nameplate.errors import FileError


def write_whole(content: bytes, path: Path) -> None:
    """By a file beside it that takes its name at the end: readers see the old one or the new one. Raises FileError.

    Of several writers, on other hosts too, each has a file of its own, and the last one's stays.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise FileError(f"cannot write {path}: it is not a regular file")
    beside = target.with_name(f".nameplate-{secrets.token_hex(8)}.tmp")
    try:
        beside.write_bytes(content)
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise FileError(f"cannot write {path}: {error.strerror}") from None
