"""Read the results of a run file, which are kept in the user's cache, so that a run is summarised only once.

The run file is authoritative: results are found by the hash of its whole content and of nameplate's code.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from nameplate.errors import FileError
from nameplate.records.inputs import open_input
from nameplate.records.result import Report
from nameplate.records.user_cache import cache_folder, read_cached, write_cached
from nameplate.results.code_fingerprint import code_fingerprint

# Forty times the size of the results of the plan full; users look repeatedly at their latest runs only.
_MAX_TOTAL_BYTES = 128 << 20
# Ten times the size of the results of the plan full.
_MAX_CACHED_BYTES = 32 << 20
_CHUNK = 1 << 20
# Libraries that influence results.
_LIBRARIES = ("numpy", "scipy")
_KEY = re.compile(f"[0-9a-f]{{{2 * hashlib.sha256().digest_size}}}")
_SEAL_BYTES = hashlib.sha256().digest_size

_decoder = msgspec.msgpack.Decoder(Report)


def report_of(path: Path) -> Report:
    """Return the results of a run file, as ``summarise(read_run(path))`` does, from a cache if possible.

    The user's cache keeps the results of the complete runs that were used last, at most 128 MiB, under a hash of the
    file's content and of nameplate's code. If the cache cannot be read or written, each call computes the results.

    Raises:
        ReadError: the file does not exist, cannot be read, or is not a regular file.
        FileError: the file is not a run file of this schema, or has a wrong record.
    """
    key = _key_of(path)
    cached = _read(key) if key else None
    if cached is not None:
        return cached
    # Importing these modules, with numpy, takes a fifth of a second.
    from nameplate.results.run_file import read_run  # noqa: PLC0415
    from nameplate.results.summarise import summarise  # noqa: PLC0415

    report = summarise(read_run(path))
    if key == _key_of(path):  # a run that is being written has changed in the meantime
        _keep(key, report)
    return report


def keep_report(path: Path, report: Report) -> None:
    """Keep ``report`` in the cache, so that ``report_of(path)`` returns it.

    ``report`` must be the results of the present content of the file ``path``. Nothing is kept, without an error, if
    the run is incomplete, the results exceed 32 MiB, or the file or the cache cannot be used.
    """
    _keep(_key_of(path), report)


def _keep(key: str, report: Report) -> None:
    if not key or report.truncated:
        return
    content = msgspec.msgpack.encode(report)
    if len(content) > _MAX_CACHED_BYTES:
        return
    with suppress(FileError, OSError):  # without a cache, the next call computes the results
        if write_cached(hashlib.sha256(content).digest() + content, _folder() / key):
            _remove_old()


def _key_of(path: Path) -> str:
    """Return the name of a file's results in the cache, a hash of its content and the code; "" if it cannot be read."""
    try:
        with open_input(path) as file:
            digest = hashlib.sha256(_code().encode())
            while part := file.read(_CHUNK):
                digest.update(part)
    except (FileError, OSError):  # read_run reports the reason
        return ""
    return digest.hexdigest()


@cache
def _code() -> str:
    return " ".join([code_fingerprint(), *map(_version, _LIBRARIES)])


def _version(library: str) -> str:
    """Return the text of the file with the version of numpy or scipy, "" if the library is not installed.

    Parsing the metadata of the package would take ten times as long.
    """
    spec = find_spec(library)
    return Path(spec.origin).with_name("version.py").read_text() if spec and spec.origin else ""


def _read(key: str) -> Report | None:
    try:
        path = _folder() / key
        sealed = read_cached(path, _MAX_CACHED_BYTES + _SEAL_BYTES, "results") or b""
        seal, content = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
        if hashlib.sha256(content).digest() != seal:
            return None
        report = _decoder.decode(content)
    except (FileError, ValueError, RecursionError):  # no cache, or a damaged one: compute the results
        return None
    with suppress(OSError):  # the results used last are kept
        os.utime(path)
    return report


def _folder() -> Path:
    return cache_folder("results")


def _remove_old() -> None:
    """Remove the cached results that were not used for the longest time, until the others have the allowed size.

    Another process may remove files at the same time.
    """
    files: dict[Path, os.stat_result] = {}
    for path in _folder().iterdir():
        if not _KEY.fullmatch(path.name):  # not written by nameplate
            continue
        with suppress(OSError):
            files[path] = path.stat()
    total_bytes = 0
    for path, status in sorted(files.items(), key=lambda item: item[1].st_mtime_ns, reverse=True):
        total_bytes += status.st_size
        if total_bytes > _MAX_TOTAL_BYTES:
            with suppress(OSError):
                path.unlink()
