"""Read the results of a run file, which are kept in the user's cache, so that a large run is summarised only once.

The run file is authoritative: results are found by the hash of its whole content and of nameplate's code.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from nameplate.errors import FileError
from nameplate.records.inputs import open_input
from nameplate.records.result import Report
from nameplate.records.user_cache import cache_folder, read_cached, write_cached
from nameplate.results.code_fingerprint import code_fingerprint
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

# Results of smaller files are computed in a tenth of a second.
_MIN_BYTES = 1 << 20
# The runs that are looked at again and again are the last ones.
_MAX_KEPT = 32
# Ten times the results of the plan full.
_MAX_CACHED_BYTES = 32 << 20
_CHUNK = 1 << 20
# The code that results depend on beside nameplate's own.
_LIBRARIES = ("numpy", "scipy")
_KEY = re.compile(f"[0-9a-f]{{{2 * hashlib.sha256().digest_size}}}")
_SEAL_BYTES = hashlib.sha256().digest_size

_decoder = msgspec.msgpack.Decoder(Report)


def report_of(path: Path) -> Report:
    """Return the results of a run file, as ``summarise(read_run(path))`` does.

    Results of a file of 1 MiB or more with a complete run are kept in the user's cache, those of the 32 files that were
    looked at last. Without a cache that can be read and written, they are computed each time.

    Raises:
        ReadError: the file does not exist, cannot be read, or is not a regular file.
        FileError: the file is not a run file of this schema, or has a wrong record.
    """
    key = _key_of(path)
    kept = _read(key) if key else None
    if kept is not None:
        return kept
    report = summarise(read_run(path))
    if key == _key_of(path):  # a run that is being written has changed in the meantime
        _keep(key, report)
    return report


def keep_report(path: Path, report: Report) -> None:
    """Keep results in the cache, so that ``report_of(path)`` finds them. They must be those of the file as it is."""
    _keep(_key_of(path), report)


def _keep(key: str, report: Report) -> None:
    if not key or report.truncated:
        return
    content = msgspec.msgpack.encode(report)
    if len(content) > _MAX_CACHED_BYTES:
        return
    with suppress(FileError, OSError):  # without a cache they are computed again next time
        if write_cached(_sealed(content), _folder() / key):
            _remove_old()


def _key_of(path: Path) -> str:
    """Return the name of a file's results in the cache; "" for a small file, or one that cannot be read."""
    try:
        with open_input(path) as file:
            if file.seek(0, os.SEEK_END) < _MIN_BYTES:
                return ""
            file.seek(0)
            digest = hashlib.sha256(_code().encode())
            while part := file.read(_CHUNK):
                digest.update(part)
    except (FileError, OSError):  # whoever reads the file next says why
        return ""
    return digest.hexdigest()


@cache
def _code() -> str:
    return " ".join([code_fingerprint(), *map(_version, _LIBRARIES)])


def _version(library: str) -> str:
    """Return the version of a library; "" if it was installed without its metadata, as a container may have it."""
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _read(key: str) -> Report | None:
    try:
        path = _folder() / key
        content = read_cached(path, _MAX_CACHED_BYTES + _SEAL_BYTES, "results")
        report = _decoder.decode(_unsealed(content)) if content else None
    except (FileError, ValueError, RecursionError):  # no cache, or damaged: they are computed again
        return None
    if report:
        with suppress(OSError):  # so that results in use stay
            os.utime(path)
    return report


def _sealed(content: bytes) -> bytes:
    return hashlib.sha256(content).digest() + content


def _unsealed(content: bytes) -> bytes:
    """Return the content without its hash. Raises ValueError if it is damaged."""
    if hashlib.sha256(content[_SEAL_BYTES:]).digest() != content[:_SEAL_BYTES]:
        raise ValueError("damaged")
    return content[_SEAL_BYTES:]


def _folder() -> Path:
    return cache_folder("results")


def _remove_old() -> None:
    """Remove all but the files that were written or looked at last. Another process may remove them, too."""
    used: dict[Path, int] = {}
    for path in _folder().iterdir():
        if not _KEY.fullmatch(path.name):  # a file of somebody else
            continue
        with suppress(OSError):
            used[path] = path.stat().st_mtime_ns
    for path in sorted(used, key=used.__getitem__, reverse=True)[_MAX_KEPT:]:
        with suppress(OSError):
            path.unlink()
