"""Keep an index of a folder of run files: the values of each run, in one file in the user's cache directory.

The run files are authoritative. An entry is valid while the size and the modification time of its file are unchanged;
otherwise the file is read again. The index is written to a temporary file and then renamed, so that the later of two
writers wins, even on a network file system; both have read the same files. A damaged index, or an index with another
version of the values, is ignored. After an update of nameplate, the values are kept and the changes are located again.
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

# For each value: the indices of the run, the metric and the machine, the value, and the ends of its 95 % interval.
VALUES = np.dtype([("run", "<i4"), ("metric", "<i4"), ("machine", "<i4"), ("value", "<f8"), ("low", "<f8"),
                   ("high", "<f8")])  # fmt: skip
# For each metric on each machine: the number of runs with a value, and the median of the values.
TYPICAL = np.dtype([("metric", "<i4"), ("machine", "<i4"), ("runs", "<i4"), ("value", "<f8")])
Rows = NDArray[np.void]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A file in the folder. It is a run, unless ``reason`` or ``copy_of`` says why it does not count as one.

    - ``path``: relative to the folder
    - ``modified_ns``: the time of the last change in nanoseconds since 1970, or -1 if the file must be read again at
      the next update
    - ``started``: the start of the run in ISO 8601; ``seed``: its seed, None if not recorded
    - ``machine``: the host name, the address of a host of a fleet, or the Slurm host list of a job's nodes
    - ``plan``: the name of the plan
    - ``unfinished``: the run was interrupted or is still running
    - ``slowed``: what slowed the run down, as a clause, so that its values are not used for changes and typical values;
      otherwise ""
    - ``reason``: why the file cannot be read as a run
    - ``copy_of``: the path of an entry with the same run, that is, the same machine, start and seed

    For a run, ``reason`` and ``copy_of`` are "". Otherwise ``started``, ``machine`` and ``plan`` are "".
    """

    path: str
    size_bytes: int
    modified_ns: int
    started: str = ""
    seed: int | None = None
    machine: str = ""
    plan: str = ""
    unfinished: bool = False
    slowed: str = ""
    reason: str = ""
    copy_of: str = ""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a metric on a machine: a change point ("step"), or a drift over all runs.

    - ``metric``, ``machine``: indices in ``Index.metrics`` and ``Index.machines``
    - ``until``, ``since``: the paths of the last run before and the first run after a change point, or of the first and
      the last run of a drift
    - ``before``, ``after``: the levels in the metric's SI base unit; for a drift, the fitted values at the first and
      the last run
    - ``probability``: the p-value, without a correction for the number of metrics
    - ``runs``: the number of runs since a change point, or of the whole drift
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
    typical: bytes = msgspec.field(name="usual")
    values: bytes


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """The values and changes of all runs in a folder.

    - ``entries``: the files; ``metrics``: the metrics with their parameters; ``machines``: hosts, jobs and nodes by
      name
    - ``values``: an array of ``VALUES`` with one row per run, metric and machine. ``run``, ``metric`` and ``machine``
      are indices in the three lists. ``value`` and its 95 % interval, ``low`` to ``high``, are in the SI base unit; the
      interval is nan if there is none. A run of a job has rows for the job and for each of its nodes.
    - ``typical``: an array of ``TYPICAL`` with one row per metric and machine of ``values``: the indices of both, the
      number of runs, and the median over the runs; runs that were slowed down do not count
    - ``changes``: the changes that were found in each metric alone, before the correction for the number of metrics
      that ``significant_changes`` makes
    - ``judged_by``: the ``code_fingerprint`` of the code that made the index; "" for an index without files
    """

    entries: list[Entry]
    metrics: list[MetricKey]
    machines: list[str]
    changes: list[Change]
    typical: Rows
    values: Rows
    judged_by: str


_decoder = msgspec.msgpack.Decoder(_Stored)


def index_file(folder: Path) -> Path:
    """Return the path of the index of a folder, in ``$XDG_CACHE_HOME/nameplate/history`` or below ``~/.cache``.

    The file name is a hash of the folder's path with symbolic links resolved, so that all paths of a folder have the
    same index. Nothing is created.

    Raises:
        FileError: the user has no home directory, or the path of the folder cannot be resolved.
    """
    try:
        name = hashlib.blake2b(os.fsencode(folder.resolve()), digest_size=16).hexdigest()
    except (OSError, RuntimeError) as error:
        raise FileError(f"cannot write an index of {folder}: {error}") from None
    return cache_folder("history") / f"{name}.index"


def empty_index() -> Index:
    """Return the index of a folder without files."""
    return Index(entries=[], metrics=[], machines=[], changes=[], typical=np.empty(0, TYPICAL),
                 values=np.empty(0, VALUES), judged_by="")  # fmt: skip


def load_index(folder: Path) -> Index:
    """Return the stored index of a folder, or an empty index if none is stored or the stored one cannot be used.

    An index cannot be used if it is damaged, unreadable, larger than 1 GiB, a symbolic link, or has another version of
    the values (``values_version``); none of these is an error. The index may be older than the files of the folder, or
    made by other code: call ``updated`` next. Its arrays may be read-only.
    """
    try:
        content = read_cached(index_file(folder), _MAX_BYTES, "index")
        if content is None:
            return empty_index()
        stored = _decoder.decode(content)
        values, typical = np.frombuffer(stored.values, VALUES), np.frombuffer(stored.typical, TYPICAL)
    except (FileError, ValueError, msgspec.DecodeError, RecursionError):
        return empty_index()
    if stored.by != values_version() or not _fits(stored, values, typical) or not _is_clean(stored):
        return empty_index()
    return Index(entries=stored.entries, metrics=stored.metrics, machines=stored.machines, changes=stored.changes,
                 typical=typical, values=values, judged_by=stored.judged_by)  # fmt: skip


def _is_clean(stored: _Stored) -> bool:
    """Return whether no text in the index has control characters; nameplate writes none."""
    texts = [
        text
        for entry in stored.entries
        for text in (entry.started, entry.machine, entry.plan, entry.slowed, entry.reason)
    ]
    texts += stored.machines
    texts += [str(text) for key in stored.metrics for text in (*key.params, *key.params.values())]
    return all(clean_text(text) == text for text in texts)


def _fits(stored: _Stored, values: Rows, typical: Rows) -> bool:
    """Return whether all indices are in range and nothing occurs twice."""
    sizes = {"run": len(stored.entries), "metric": len(stored.metrics), "machine": len(stored.machines)}
    paths = {entry.path for entry in stored.entries}
    keys = {msgspec.msgpack.encode(key, order="deterministic") for key in stored.metrics}
    distinct = {"run": len(paths), "metric": len(keys), "machine": len(set(stored.machines))}
    return (
        all(_are_places(values[name], size) for name, size in sizes.items())
        and all(_are_places(typical[name], sizes[name]) for name in ("metric", "machine"))
        and distinct == sizes
        and all(map(_has_moment, stored.entries))
        and all(stored.entries[run].started for run in np.unique(values["run"]))
        and all(
            0 <= change.metric < sizes["metric"] and 0 <= change.machine < sizes["machine"]
            and change.until in paths and change.since in paths
            for change in stored.changes
        )
    )  # fmt: skip


def _has_moment(entry: Entry) -> bool:
    try:
        check_moment(entry.started)
    except ValueError:
        return not entry.started
    return True


def _are_places(column: NDArray[np.int32], size: int) -> bool:
    return not len(column) or bool(column.min() >= 0 and column.max() < size)


def save_index(index: Index, folder: Path) -> None:
    """Write the index of a folder to its ``index_file``, replacing an earlier index; the cache directory is created.

    Raises:
        FileError: the file cannot be written, or it is a symbolic link.
    """
    stored = _Stored(
        by=values_version(), judged_by=index.judged_by, entries=index.entries, metrics=index.metrics,
        machines=index.machines, changes=index.changes, typical=index.typical.tobytes(), values=index.values.tobytes(),
    )  # fmt: skip
    try:
        write_cached(msgspec.msgpack.encode(stored), index_file(folder))
    except FileError as error:
        raise FileError(f"{error}; the runs are read again each time") from None
