"""Update a folder's index: read new and changed run files, and search the values for changes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from nameplate.errors import FileError, ReadError
from nameplate.history.index import TYPICAL, VALUES, Change, Entry, Index, Rows
from nameplate.process_pool import map_batches, uncollected
from nameplate.records.inputs import is_folder
from nameplate.records.run_record import Digest, MetricKey
from nameplate.results.code_fingerprint import code_fingerprint
from nameplate.results.digest import digest_of, values_version
from nameplate.results.run_file import read_digest, read_run
from nameplate.statistics.trends import Drift, find_trend

_SUFFIX = ".jsonl"
# The number of files of a batch.
_BATCH = 50
_DAY_S = 86400.0
_MAX_NAMED = 10

OnFiles = Callable[[int, int], None]


class FileStatus(msgspec.Struct, frozen=True):
    """A run file that was found in the folder, without its content.

    ``path`` is relative to the folder, and ``modified_ns`` is the time of the last change in nanoseconds since 1970. If
    the file cannot be read, ``reason`` says why, and ``size_bytes`` and ``modified_ns`` are 0; otherwise ``reason`` is
    "". ``machine`` is the name of the machine that was measured, "" if the run itself says it.
    """

    path: str
    size_bytes: int = 0
    modified_ns: int = 0
    reason: str = ""
    machine: str = ""


class _Batch(msgspec.Struct, frozen=True):
    """The contents of some files.

    ``values`` are the bytes of an array of ``VALUES`` with indices in ``entries``, ``metrics`` (keys encoded as
    MessagePack) and ``machines``.
    """

    entries: list[Entry]
    metrics: list[bytes]
    machines: list[str]
    values: bytes


def run_files(folder: Path) -> list[FileStatus]:
    """Return every file ``*.jsonl`` in a folder and its subfolders, sorted by name; a folder precedes its subfolders.

    Files are not opened. Hidden files and folders are left out, and symbolic links to folders are not followed. A
    subfolder that cannot be read, and a file whose name is not UTF-8, are returned as files with a ``reason``. The
    result is empty if there are no such files.

    Raises:
        FileError: ``folder`` is not a folder or cannot be read.
    """
    if not is_folder(folder):
        if not folder.exists():
            raise FileError(f"cannot read {folder}: there is no such directory")
        raise FileError(f"{folder}: not a folder; nameplate history takes a folder with run files ({_SUFFIX})")
    files: list[FileStatus] = []

    def note(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise FileError(f"cannot read {folder}: {error.strerror}")
        files.append(_unreadable(folder, Path(error.filename).relative_to(folder), error.strerror or "error"))

    for folder_path, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(folder_path).relative_to(folder)
        for name in sorted(names):
            if name.endswith(_SUFFIX) and not name.startswith("."):
                files += _looked_at(folder, below / name)
    return files


def run_files_of(paths: Iterable[Path]) -> dict[Path, str]:
    """Return run files, and every file ``*.jsonl`` in folders (``run_files``), with the reason why it cannot be read.

    ``paths`` are files and folders. The reason is "" if it is not known yet. A file that is named several times is
    returned once.

    Raises:
        FileError: a folder cannot be read.
    """
    files: dict[Path, str] = {}
    for path in paths:
        if is_folder(path):
            files |= {path / file.path: file.reason for file in run_files(path)}
        else:
            files.setdefault(path, "")
    return files


def _looked_at(folder: Path, path: Path) -> list[FileStatus]:
    try:
        status = (folder / path).stat()
    except FileNotFoundError:  # the file was removed, or is a dangling link
        return []
    except OSError as error:
        return [_unreadable(folder, path, error.strerror or "error")]
    if _in_utf_8(path) != str(path):
        return [_unreadable(folder, path, "its name is not UTF-8; rename it")]
    return [FileStatus(str(path), status.st_size, status.st_mtime_ns)]


def _unreadable(folder: Path, path: Path, why: str) -> FileStatus:
    return FileStatus(_in_utf_8(path), reason=f"cannot read {_in_utf_8(folder / path)}: {why}")


def _in_utf_8(path: Path) -> str:
    """Return a path with every byte that is not UTF-8 as an escape sequence."""
    return os.fsencode(path).decode(errors="backslashreplace")


def updated(index: Index, folder: Path, files: Sequence[FileStatus], on_files: OnFiles = lambda _, __: None) -> Index:
    """Return the index of the files in a folder, for which only new and changed files are read.

    ``index`` is the previous index of ``folder``, and ``files`` is the present result of ``run_files``. A file has
    changed if its size or its modification time differs. ``on_files`` is called after each batch with the number of
    files read so far and the number of files to read, and not at all if no file must be read. Many files are read by
    several processes.

    A file that cannot be read as a run has an entry with the reason, and a copy of a run has an entry with the path of
    that run; neither has values. Files that no longer exist are left out. If other code made ``index``, the values are
    kept, changes are located again, and files that could not be read as runs are read again. If nothing changed,
    ``index`` itself is returned. ``index`` is not modified, and the result is not saved.
    """
    there = {(file.path, file.size_bytes, file.modified_ns) for file in files}
    machines = {file.path: file.machine for file in files if file.machine}
    is_current = index.judged_by == code_fingerprint()
    unchanged = {"", *(entry.path for entry in index.entries if _key(entry) in there)}
    # If the original of a copy was removed, the copy is read again and counts as a run.
    stays = np.array(
        [
            _key(entry) in there
            and entry.copy_of in unchanged
            and (is_current or not entry.reason)
            and machines.get(entry.path, "") in ("", entry.machine)
            for entry in index.entries
        ],
        dtype=bool,
    )
    current = {_key(entry) for entry, keep in zip(index.entries, stays, strict=True) if keep}
    missing = [file for file in files if (file.path, file.size_bytes, file.modified_ns) not in current]
    if is_current and not missing and len(current) == len(index.entries):
        return index
    merge = _Merge(index, stays)
    done = 0
    for batch in map_batches(partial(_read_batch, str(folder)), missing, _BATCH):
        merge.add(batch)
        done += len(batch.entries)
        on_files(done, len(missing))
    return merge.result()


def _key(entry: Entry) -> tuple[str, int, int]:
    return entry.path, entry.size_bytes, entry.modified_ns


def _identity(entry: Entry) -> tuple[str, datetime, int | None]:
    return entry.machine, datetime.fromisoformat(entry.started), entry.seed


def _read_batch(folder: str, files: Sequence[FileStatus]) -> _Batch:
    entries: list[Entry] = []
    metrics: dict[bytes, int] = {}
    machines: dict[str, int] = {}
    rows: list[tuple[int, int, int, float, float, float]] = []
    with uncollected():
        for index, (entry, points) in enumerate(_read(Path(folder), file) for file in files):
            entries.append(entry)
            for key, machine, value, low, high in points:
                which = metrics.setdefault(key, len(metrics)), machines.setdefault(machine, len(machines))
                rows.append((index, *which, value, low, high))
    return _Batch(entries, list(metrics), list(machines), np.array(rows, VALUES).tobytes())


_Value = tuple[bytes, str, float, float, float]
_Read = tuple[Entry, list[_Value]]


def _read(folder: Path, file: FileStatus) -> _Read:
    """Return the entry and the values of a file, from its digest if that is current, otherwise from its records."""
    entry = Entry(path=file.path, size_bytes=file.size_bytes, modified_ns=file.modified_ns, reason=file.reason)
    if file.reason:
        return entry, []
    path = folder / file.path
    try:
        if digest := read_digest(path, values_version()):
            return _entered(entry, digest, file.machine, unfinished=False)
        run = read_run(path)
        return _entered(entry, digest_of(run), file.machine, unfinished=run.stop is None)
    except ReadError as error:
        reason = str(error)
        # Read it again the next time: permissions and devices change without a trace in the file.
        entry = msgspec.structs.replace(entry, modified_ns=-1)
    except FileError as error:
        reason = str(error)
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        # Valid records may still be impossible together: a machine without a name, or an invalid time.
        reason = f"{path}: its records cannot be summarised: {error!r}"
    return msgspec.structs.replace(entry, reason=reason), []


def _entered(entry: Entry, digest: Digest, machine: str, unfinished: bool) -> _Read:
    machine = machine or digest.machine
    began = datetime.fromisoformat(digest.started).astimezone()
    entry = msgspec.structs.replace(
        entry,
        started=began.isoformat(),
        seed=digest.seed,
        machine=machine,
        plan=digest.plan,
        unfinished=unfinished,
        slowed=digest.slowed,
    )
    values: list[_Value] = []
    for metric_value in digest.values:
        key = msgspec.msgpack.encode(metric_value.key, order="deterministic")
        values.append((key, machine, metric_value.value, *(metric_value.ci or (math.nan, math.nan))))
        values += [(key, name, value, math.nan, math.nan) for name, value in metric_value.nodes.items()]
    return entry, values


class _Merge:
    """The unchanged entries of an index, together with batches of newly read entries."""

    def __init__(self, index: Index, is_current_entry: NDArray[np.bool_]) -> None:
        self._entries = [entry for entry, keep in zip(index.entries, is_current_entry, strict=True) if keep]
        self._metrics = {msgspec.msgpack.encode(key, order="deterministic"): i for i, key in enumerate(index.metrics)}
        self._machines = {name: i for i, name in enumerate(index.machines)}
        stays = is_current_entry[index.values["run"]] if len(index.entries) else np.zeros(0, dtype=bool)
        current = index.values[stays]
        current["run"] = (np.cumsum(is_current_entry) - 1)[current["run"]]
        self._values = [current]
        is_current = index.judged_by == code_fingerprint()
        changed = index.values["machine"][~stays if is_current else slice(None)]
        self._touched = set(np.unique(changed).tolist())
        self._paths = {_identity(entry): entry.path for entry in self._entries if entry.started}
        self._before = index

    def add(self, batch: _Batch) -> None:
        entries = [self._as_copy_or_run(entry) for entry in batch.entries]
        is_copy = np.array([bool(entry.copy_of) for entry in entries], dtype=bool)
        values = np.frombuffer(batch.values, VALUES)
        values = values[~is_copy[values["run"]]]
        values["run"] += len(self._entries)
        self._entries += entries
        metrics = [self._metrics.setdefault(key, len(self._metrics)) for key in batch.metrics]
        machines = [self._machines.setdefault(name, len(self._machines)) for name in batch.machines]
        values["metric"] = np.asarray(metrics, dtype=np.int32)[values["metric"]]
        values["machine"] = np.asarray(machines, dtype=np.int32)[values["machine"]]
        self._values.append(values)
        self._touched |= set(machines)

    def _as_copy_or_run(self, entry: Entry) -> Entry:
        """Return an entry; if another entry has the same run, it has only the path of that entry as ``copy_of``."""
        path = self._paths.setdefault(_identity(entry), entry.path) if entry.started else entry.path
        if path == entry.path:
            return entry
        return Entry(path=entry.path, size_bytes=entry.size_bytes, modified_ns=entry.modified_ns, copy_of=path)

    def result(self) -> Index:
        values = np.concatenate(self._values)
        is_touched = np.zeros(len(self._machines), dtype=bool)
        is_touched[sorted(self._touched)] = True
        changes, typical = _looked_over(values[is_touched[values["machine"]]], self._entries)
        before = self._before
        return Index(
            entries=self._entries,
            metrics=[msgspec.msgpack.decode(key, type=MetricKey) for key in self._metrics],
            machines=list(self._machines),
            changes=[change for change in before.changes if not is_touched[change.machine]] + changes,
            typical=np.concatenate([before.typical[~is_touched[before.typical["machine"]]], typical]),
            values=values,
            judged_by=code_fingerprint(),
        )


def _looked_over(values: Rows, entries: Sequence[Entry]) -> tuple[list[Change], Rows]:
    """Return the changes of each metric on each machine, and the typical values as an array of ``TYPICAL``.

    Runs that were slowed down do not count.
    """
    days = days_of(entries)
    is_slowed = np.array([bool(entry.slowed) for entry in entries], dtype=bool)
    values = values[~is_slowed[values["run"]]] if len(values) else values
    changes: list[Change] = []
    typical = []
    for rows in in_time(values, days):
        metric, machine = int(rows["metric"][0]), int(rows["machine"][0])
        typical.append((metric, machine, len(rows), np.median(rows["value"])))
        if rows["value"].min() > 0 and np.isfinite(rows["value"]).all():
            changes += _changes(rows, days, entries)
    return changes, np.array(typical, TYPICAL)


def in_time(values: Rows, days: NDArray[np.float64]) -> Iterator[Rows]:
    """Yield one array for each pair of a metric and a machine: its rows, in the order of the runs' starts.

    ``values`` are rows of ``VALUES``, and ``days`` has the start of each run by its index (``days_of``). The arrays are
    ordered by the index of the metric, then of the machine; none is empty.
    """
    if not len(values):
        return
    ordered = values[np.lexsort((days[values["run"]], values["machine"], values["metric"]))]
    is_first = np.flatnonzero((np.diff(ordered["metric"]) != 0) | (np.diff(ordered["machine"]) != 0)) + 1
    yield from np.split(ordered, is_first)


def days_of(entries: Sequence[Entry]) -> NDArray[np.float64]:
    """Return the start of each run in days since 1970-01-01 UTC, in the order of ``entries``; nan for other files."""
    return np.array([datetime.fromisoformat(e.started).timestamp() / _DAY_S if e.started else math.nan
                     for e in entries])  # fmt: skip


def _changes(rows: Rows, days: NDArray[np.float64], entries: Sequence[Entry]) -> Iterator[Change]:
    runs = rows["run"].tolist()
    trend = find_trend(rows["value"], days[runs])
    metric, machine = int(rows["metric"][0]), int(rows["machine"][0])
    if isinstance(trend, Drift):
        yield Change(
            metric=metric, machine=machine, kind="drift", until=entries[runs[0]].path, since=entries[runs[-1]].path,
            before=trend.before, after=trend.after, probability=trend.probability, runs=len(runs),
        )  # fmt: skip
        return
    for step in trend:
        yield Change(
            metric=metric, machine=machine, kind="step", until=entries[runs[step.at - 1]].path,
            since=entries[runs[step.at]].path, before=step.before, after=step.after, probability=step.probability,
            runs=len(runs) - step.at,
        )  # fmt: skip
