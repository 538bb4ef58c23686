"""Identify the code by a hash, so that results computed by another version are not reused."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_CODE = {".py", ".toml", ".csv"}


@cache
def code_fingerprint() -> str:
    """Return a hash of nameplate's code, 16 hexadecimal digits, which changes with every change of the code.

    It is the first 64 bits of the SHA-256 of all Python, TOML and CSV files of the package, since any of them may
    influence the report of a run. It is computed once per process.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*")):
        if path.suffix in _CODE:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
