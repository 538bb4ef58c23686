"""The index of a folder of run files: what each run says, in one file beside them.

The run files are the truth. An entry stands for a file of a certain size and time of change; whatever does not fit any
longer is read again. The index is written whole under a name of its own and then renamed, so that of two writers, on a
network file system too, the later one's is there: both wrote what the files say. One that is damaged, or that
other code made, is as good as none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from nameplate.control_characters import clean_text
from nameplate.errors import FileError
from nameplate.records.atomic_write import write_whole
from nameplate.records.inputs import read_input
from nameplate.records.model import Figure, Positive, Real, check_moment
from nameplate.results.digest import code_fingerprint

NAME = ".nameplate-history"
# A hundred thousand runs of the plan full fit.
_MAX_BYTES = 1 << 30

# Of each value: its run, its figure and its machine by place, then the value and its interval.
VALUES = np.dtype([("run", "<i4"), ("figure", "<i4"), ("machine", "<i4"), ("value", "<f8"), ("low", "<f8"),
                   ("high", "<f8")])  # fmt: skip
# Of each figure on each machine: its median over the runs.
USUAL = np.dtype([("figure", "<i4"), ("machine", "<i4"), ("runs", "<i4"), ("value", "<f8")])
Rows = NDArray[np.void]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A file, by its path below the folder. ``reason``: why it is no run; ``started`` is empty then.

    ``machine`` is the host, or the nodes of a job. ``unfinished``: the run was cut off, or is still going on.
    """

    path: str
    size_bytes: int
    modified_ns: int
    started: str = ""
    machine: str = ""
    plan: str = ""
    unfinished: bool = False
    reason: str = ""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a figure did on a machine, both by their place: a step from the run ``until`` to ``since``, or a drift
    between them.

    Runs are named by their paths. ``runs``: how many there were since a step, or of a drift altogether.
    """

    figure: int
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
    entries: list[Entry]
    figures: list[Figure]
    machines: list[str]
    changes: list[Change]
    usual: bytes
    values: bytes


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known of a folder: ``values`` by run, and what follows from them, ``usual`` and ``changes``."""

    entries: list[Entry]
    figures: list[Figure]
    machines: list[str]
    changes: list[Change]
    usual: Rows
    values: Rows


_decoder = msgspec.msgpack.Decoder(_Stored)


def empty_index() -> Index:
    """Of an empty folder."""
    return Index(entries=[], figures=[], machines=[], changes=[], usual=np.empty(0, USUAL),
                 values=np.empty(0, VALUES))  # fmt: skip


def load_index(folder: Path) -> Index:
    """The empty one where there is none that can be used."""
    if (folder / NAME).is_symlink():
        return empty_index()
    try:
        stored = _decoder.decode(read_input(folder / NAME, _MAX_BYTES, "index"))
        values, usual = np.frombuffer(stored.values, VALUES), np.frombuffer(stored.usual, USUAL)
    except (FileError, ValueError, msgspec.DecodeError, RecursionError):
        return empty_index()
    if stored.by != code_fingerprint() or not _fits(stored, values, usual) or not _is_clean(stored):
        return empty_index()
    return Index(entries=stored.entries, figures=stored.figures, machines=stored.machines, changes=stored.changes,
                 usual=usual, values=values)  # fmt: skip


def _is_clean(stored: _Stored) -> bool:
    """Return whether no text of the index has control characters, which it has not where nameplate wrote it."""
    texts = [text for entry in stored.entries for text in (entry.started, entry.machine, entry.plan, entry.reason)]
    texts += stored.machines
    texts += [str(text) for figure in stored.figures for text in (*figure.params, *figure.params.values())]
    return all(clean_text(text) == text for text in texts)


def _fits(stored: _Stored, values: Rows, usual: Rows) -> bool:
    """Return whether every place is one, and nothing is there twice."""
    sizes = {"run": len(stored.entries), "figure": len(stored.figures), "machine": len(stored.machines)}
    paths = {entry.path for entry in stored.entries}
    return (
        all(_are_places(values[name], size) for name, size in sizes.items())
        and all(_are_places(usual[name], sizes[name]) for name in ("figure", "machine"))
        and _are_distinct(stored)
        and all(map(_has_moment, stored.entries))
        and all(stored.entries[run].started for run in np.unique(values["run"]))
        and all(
            0 <= change.figure < sizes["figure"] and 0 <= change.machine < sizes["machine"]
            and change.until in paths and change.since in paths
            for change in stored.changes
        )
    )  # fmt: skip


def _are_distinct(stored: _Stored) -> bool:
    figures = {msgspec.msgpack.encode(figure, order="deterministic") for figure in stored.figures}
    paths = {entry.path for entry in stored.entries}
    sizes = [len(stored.figures), len(stored.machines), len(stored.entries)]
    return [len(figures), len(set(stored.machines)), len(paths)] == sizes


def _has_moment(entry: Entry) -> bool:
    try:
        check_moment(entry.started)
    except ValueError:
        return not entry.started
    return True


def _are_places(column: NDArray[np.int32], size: int) -> bool:
    return not len(column) or bool(column.min() >= 0 and column.max() < size)


def save_index(index: Index, folder: Path) -> None:
    """Raises FileError where the folder does not take it."""
    stored = _Stored(by=code_fingerprint(), entries=index.entries, figures=index.figures, machines=index.machines,
                     changes=index.changes, usual=index.usual.tobytes(), values=index.values.tobytes())  # fmt: skip
    if (folder / NAME).is_symlink():
        raise FileError(f"{folder / NAME} is a link and is left alone: the runs are read again each time")
    try:
        write_whole(msgspec.msgpack.encode(stored), folder / NAME)
    except FileError as error:
        raise FileError(f"{error}: the runs are read again each time") from None
