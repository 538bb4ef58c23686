"""Keep an index of a folder of run files: the values of each run, in one file in the user's cache directory.

The run files are authoritative. An entry is valid for a file of a certain size and modification time; other files are
read again. The index is written to a temporary file and then renamed, so that of two writers, even on a network file
system, the later one wins: both wrote the contents of the same files. A damaged index, or one with another version of
the values, is ignored. After an update of nameplate, the values stay and the changes are searched for again.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from nameplate.control_characters import clean_text
from nameplate.errors import FileError
from nameplate.records.numbers import Positive, Real
from nameplate.records.run_record import MetricKey, check_moment
from nameplate.records.user_cache import cache_folder, read_cached, write_cached
from nameplate.results.digest import values_version

# Enough for a hundred thousand runs of the plan full.
_MAX_BYTES = 1 << 30

# For each value: the indices of its run, its metric and its machine, then the value and its interval.
VALUES = np.dtype([("run", "<i4"), ("metric", "<i4"), ("machine", "<i4"), ("value", "<f8"), ("low", "<f8"),
                   ("high", "<f8")])  # fmt: skip
# For each metric on each machine: its median over the runs.
USUAL = np.dtype([("metric", "<i4"), ("machine", "<i4"), ("runs", "<i4"), ("value", "<f8")])
Rows = NDArray[np.void]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A file in the folder, which is a run unless ``reason`` or ``copy_of`` says why it does not count as one.

    ``path`` is relative to the folder. ``modified_ns`` is the time of its last change in nanoseconds since 1970, or -1
    if the file must be read again the next time. ``started`` is in ISO 8601. ``machine`` is the host, or the Slurm host
    list of a job's nodes, and ``plan`` the name of the plan. ``unfinished`` says that the run was interrupted, or is
    still running. ``reason`` says why the file cannot be read, and ``copy_of`` is the path of an entry with the same
    run, known by its machine, start and ``seed``. Both are "" for a run; otherwise ``started``, ``machine`` and
    ``plan`` are "".
    """

    path: str
    size_bytes: int
    modified_ns: int
    started: str = ""
    seed: int | None = None
    machine: str = ""
    plan: str = ""
    unfinished: bool = False
    reason: str = ""
    copy_of: str = ""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a metric on a machine: a change point, or a drift over all runs.

    ``metric`` and ``machine`` are indices in the ``Index``. ``until`` and ``since`` are the paths of two runs: the last
    run before and the first run after a change point, or the first and the last run of a drift. ``before`` and
    ``after`` are the levels in the metric's SI base unit. ``probability`` is the p-value. ``runs`` is the number of
    runs since a change point, or of the whole drift.
    """

    metric: int
    machine: int
    kind: Literal["step", "drift"]
    until: str
    since: str
    before: Positive
    after: Positive
    probability: Real
    runs: int


class _Stored(msgspec.Struct, frozen=True, kw_only=True):
    by: str
    judged_by: str
    entries: list[Entry]
    metrics: list[MetricKey]
    machines: list[str]
    changes: list[Change]
    usual: bytes
    values: bytes


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known about a folder of runs.

    ``values`` is an array of ``VALUES`` with one row per run, metric and machine, whose fields ``run``, ``metric`` and
    ``machine`` are indices in ``entries``, ``metrics`` and ``machines``. ``value`` and its 95 % interval, ``low`` to
    ``high``, are in the SI base unit; the interval is nan if there is none. A run of a job has rows for the job and for
    each of its nodes. ``usual`` is an array of ``USUAL`` with a row per metric and machine that occur together in
    ``values``: their indices, the number of runs, and the median. ``changes`` have every change that was found on its
    own; ``changes_found`` selects the changes that are significant among all metrics. ``judged_by`` is the fingerprint
    of the code that searched for changes and read the files that are no runs; "" for an index without files.
    """

    entries: list[Entry]
    metrics: list[MetricKey]
    machines: list[str]
    changes: list[Change]
    usual: Rows
    values: Rows
    judged_by: str


_decoder = msgspec.msgpack.Decoder(_Stored)


def index_file(folder: Path) -> Path:
    """Return the path of the index of a folder, in ``$XDG_CACHE_HOME/nameplate/history`` or below ``~/.cache``.

    Its name is a hash of the folder's path without links, so that a folder has one index however it is named. Nothing
    is created.

    Raises:
        FileError: the user has no home directory.
    """
    try:
        name = hashlib.blake2b(os.fsencode(folder.resolve()), digest_size=16).hexdigest()
    except (OSError, RuntimeError) as error:
        raise FileError(f"no place for the index of {folder}: {error}") from None
    return cache_folder("history") / f"{name}.index"


def empty_index() -> Index:
    """Return the index of a folder without files."""
    return Index(entries=[], metrics=[], machines=[], changes=[], usual=np.empty(0, USUAL),
                 values=np.empty(0, VALUES), judged_by="")  # fmt: skip


def load_index(folder: Path) -> Index:
    """Return the stored index of a folder, or an empty one if there is none or it cannot be used.

    It cannot be used if it is damaged, unreadable, larger than 1 GiB, a symbolic link, or has another version of the
    values (``values_version``); none of these is an error. Its arrays may be read-only. It may be older than the files:
    ``updated`` compares it with them, and searches for changes again if other code did.
    """
    try:
        content = read_cached(index_file(folder), _MAX_BYTES, "index")
        if content is None:
            return empty_index()
        stored = _decoder.decode(content)
        values, usual = np.frombuffer(stored.values, VALUES), np.frombuffer(stored.usual, USUAL)
    except (FileError, ValueError, msgspec.DecodeError, RecursionError):
        return empty_index()
    if stored.by != values_version() or not _fits(stored, values, usual) or not _is_clean(stored):
        return empty_index()
    return Index(entries=stored.entries, metrics=stored.metrics, machines=stored.machines, changes=stored.changes,
                 usual=usual, values=values, judged_by=stored.judged_by)  # fmt: skip


def _is_clean(stored: _Stored) -> bool:
    """Return whether the index has no control characters in its texts; nameplate writes none."""
    texts = [text for entry in stored.entries for text in (entry.started, entry.machine, entry.plan, entry.reason)]
    texts += stored.machines
    texts += [str(text) for key in stored.metrics for text in (*key.params, *key.params.values())]
    return all(clean_text(text) == text for text in texts)


def _fits(stored: _Stored, values: Rows, usual: Rows) -> bool:
    """Return whether all indices are in range and nothing occurs twice."""
    sizes = {"run": len(stored.entries), "metric": len(stored.metrics), "machine": len(stored.machines)}
    paths = {entry.path for entry in stored.entries}
    return (
        all(_are_places(values[name], size) for name, size in sizes.items())
        and all(_are_places(usual[name], sizes[name]) for name in ("metric", "machine"))
        and _are_distinct(stored)
        and all(map(_has_moment, stored.entries))
        and all(stored.entries[run].started for run in np.unique(values["run"]))
        and all(
            0 <= change.metric < sizes["metric"] and 0 <= change.machine < sizes["machine"]
            and change.until in paths and change.since in paths
            for change in stored.changes
        )
    )  # fmt: skip


def _are_distinct(stored: _Stored) -> bool:
    keys = {msgspec.msgpack.encode(key, order="deterministic") for key in stored.metrics}
    paths = {entry.path for entry in stored.entries}
    sizes = [len(stored.metrics), len(stored.machines), len(stored.entries)]
    return [len(keys), len(set(stored.machines)), len(paths)] == sizes


def _has_moment(entry: Entry) -> bool:
    try:
        check_moment(entry.started)
    except ValueError:
        return not entry.started
    return True


def _are_places(column: NDArray[np.int32], size: int) -> bool:
    return not len(column) or bool(column.min() >= 0 and column.max() < size)


def save_index(index: Index, folder: Path) -> None:
    """Write the index of a folder to its ``index_file``, replacing an earlier one; the cache directory is created.

    Raises:
        FileError: the file cannot be written, or it is a symbolic link.
    """
    stored = _Stored(
        by=values_version(), judged_by=index.judged_by, entries=index.entries, metrics=index.metrics,
        machines=index.machines, changes=index.changes, usual=index.usual.tobytes(), values=index.values.tobytes(),
    )  # fmt: skip
    try:
        write_cached(msgspec.msgpack.encode(stored), index_file(folder))
    except FileError as error:
        raise FileError(f"{error}; runs are read again each time") from None
