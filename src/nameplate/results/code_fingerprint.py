"""Identify the code, so that what other code computed is not taken for its own."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_CODE = {".py", ".toml", ".csv"}


@cache
def code_fingerprint() -> str:
    """Return the hash of nameplate's code as 16 hexadecimal digits.

    It is the beginning of the SHA-256 of all Python files of the package nameplate and of its tables, since any of them
    may influence the report of a run. It is computed once per process.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*")):
        if path.suffix in _CODE:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
