"""Read the results of a run file, which are kept in the user's cache, so that a large run is summarised only once.

The run file is authoritative: results are found by the hash of its whole content and of nameplate's code.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import msgspec

from nameplate.errors import FileError
from nameplate.records.inputs import open_input
from nameplate.records.result import Report
from nameplate.records.user_cache import cache_folder, read_cached, write_cached
from nameplate.results.digest import code_fingerprint
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

# Results of smaller files are computed in a tenth of a second.
_MIN_BYTES = 1 << 20
# The runs that are looked at again and again are the last ones.
_MAX_KEPT = 32
_MAX_CACHED_BYTES = 1 << 30
_CHUNK = 1 << 20

_decoder = msgspec.msgpack.Decoder(Report)


def report_of(path: Path) -> Report:
    """Return the results of a run file, as ``summarise(read_run(path))`` does.

    Results of a file of 1 MiB or more with a complete run are kept in the cache, those of the last 32 files. Without a
    cache that can be read and written, they are computed each time.

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
    """Keep the results of a run file in the cache, so that ``report_of`` finds them. ``path`` must not change later."""
    _keep(_key_of(path), report)


def _keep(key: str, report: Report) -> None:
    if not key or report.truncated:
        return
    with suppress(FileError, OSError):  # without a cache they are computed again next time
        write_cached(_sealed(msgspec.msgpack.encode(report)), _folder() / key)
        _remove_old()


def _key_of(path: Path) -> str:
    """Return the name of a file's results in the cache; "" for a small file, or one that cannot be read."""
    digest = hashlib.sha256(code_fingerprint().encode())
    try:
        with open_input(path) as file:
            if file.seek(0, 2) < _MIN_BYTES:
                return ""
            file.seek(0)
            while part := file.read(_CHUNK):
                digest.update(part)
    except (FileError, OSError):  # whoever reads the file next says why
        return ""
    return digest.hexdigest()


def _read(key: str) -> Report | None:
    try:
        content = read_cached(_folder() / key, _MAX_CACHED_BYTES, "results")
        return _decoder.decode(_unsealed(content)) if content else None
    except (FileError, ValueError, RecursionError):
        return None


def _sealed(content: bytes) -> bytes:
    return hashlib.sha256(content).digest() + content


def _unsealed(content: bytes) -> bytes:
    """Return the content without its hash. Raises ValueError if it is damaged."""
    size = hashlib.sha256().digest_size
    if hashlib.sha256(content[size:]).digest() != content[:size]:
        raise ValueError("damaged")
    return content[size:]


def _folder() -> Path:
    return cache_folder("results")


def _remove_old() -> None:
    """Remove all but the files that were written last. Another process may remove them at the same time."""
    written: dict[Path, int] = {}
    for path in _folder().iterdir():
        with suppress(OSError):
            written[path] = path.stat().st_mtime_ns
    for path in sorted(written, key=written.__getitem__, reverse=True)[_MAX_KEPT:]:
        path.unlink(missing_ok=True)
