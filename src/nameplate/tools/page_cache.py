"""Bring a tool's file into the page cache, and prove that it is there."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

from nameplate.errors import ToolFailed

_CHUNK = 1 << 20
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)


def warm(path: Path) -> None:
    """Read a whole file into the page cache, and check that the page cache then has all of its pages.

    Raises:
        ToolFailed: the file cannot be read, or not all of its pages are cached afterwards.
    """
    try:
        with path.open("rb", buffering=0) as file:
            while file.read(_CHUNK):
                pass
    except OSError as error:
        raise ToolFailed(f"cannot read {path.name}: {error.strerror}") from None
    check_cached(path, "before")


def check_cached(path: Path, when: str) -> None:
    """Check that the page cache has all pages of a file.

    ``when``, "before" or "after", says in the error message whether the check was made before or after the tool's run.

    Raises:
        ToolFailed: a page is not cached, or the system does not report which pages are.
    """
    share = cached_share(path)
    if share is None:
        raise ToolFailed(f"the system does not show whether {path.name} is in the page cache")
    if share < 1:
        raise ToolFailed(
            f"{share * 100:.3g} % of {path.name} are in the page cache {when} its run, but all of it must be: "
            "free some memory"
        )


def cached_share(path: Path) -> float | None:
    """Return the share (0 to 1) of a file's pages that are in the page cache, or None if the system does not report it.

    An empty file has a share of 1. Source: mincore(2).
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                return 1.0
            with mmap.mmap(file.fileno(), size, mmap.MAP_PRIVATE) as mapping:
                pages = -(-size // mmap.PAGESIZE)
                states = ctypes.create_string_buffer(pages)
                first = ctypes.c_char.from_buffer(mapping)
                failed = _libc.mincore(ctypes.addressof(first), size, states)
                del first  # a mapping that is used cannot be closed
    except OSError:
        return None
    # The lowest bit says that the page is resident; the others are reserved.
    return None if failed else sum(state & 1 for state in states.raw) / pages
