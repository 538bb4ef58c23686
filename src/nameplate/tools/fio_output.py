"""Decode the JSON objects that fio prints, and choose the last object of a run with --status-interval."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.numbers import Count, Real
from nameplate.tools.output import decoded_object

# Two times of a run that should be equal may differ by this.
_CLOCK_MS = 100
# The value of eta before fio has an estimate.
_NO_ESTIMATE = (1 << 31) - 1
# The last operations of a job may be faster than the earlier ones by this factor.
_MAX_SPEED_UP = 10


class _Latency(msgspec.Struct):
    mean: Real = 0.0
    percentile: dict[str, Real] = {}


class FioDirection(msgspec.Struct):
    """The statistics of one direction of a job.

    ``iops`` is in operations/s, ``bw_bytes`` in B/s, ``io_bytes`` in bytes and ``runtime`` in ms. ``total_ios`` is the
    number of operations. ``lat_ns`` has total latencies and ``clat_ns`` completion latencies, in ns.
    """

    iops: Real = 0.0
    bw_bytes: Real = 0.0
    io_bytes: Count = 0
    runtime: Count = 0
    total_ios: Count = 0
    lat_ns: _Latency = msgspec.field(default_factory=_Latency)
    clat_ns: _Latency = msgspec.field(default_factory=_Latency)


class FioEntry(msgspec.Struct):
    """One process of a job, or all processes of a reporting group with ``group_reporting``, as fio prints it.

    ``error`` is the error number of the job and ``total_err`` the number of its errors, both 0 without an error.
    ``groupid`` is the number of its reporting group. ``read``, ``write`` and ``trim`` have the statistics by direction;
    ``mixed`` has their sum if ``unified_rw_reporting`` is set. ``job_start`` and ``job_runtime`` are in ms, ``eta`` and
    ``elapsed`` in s; 0 if fio does not print them. ``iodepth_level`` has percentages by queue depth. ``options`` are
    the job's own options.
    """

    jobname: str
    error: int
    groupid: int = 0
    total_err: int = 0
    job_start: Count = 0
    eta: Count = 0
    elapsed: Count = 0
    job_runtime: Count = 0
    iodepth_level: dict[str, Real] = {}
    read: FioDirection = msgspec.field(default_factory=FioDirection)
    write: FioDirection = msgspec.field(default_factory=FioDirection)
    trim: FioDirection = msgspec.field(default_factory=FioDirection)
    mixed: FioDirection | None = None
    options: dict[str, str] = msgspec.field(default_factory=dict, name="job options")

    @property
    def operations(self) -> int:
        """Return the total number of operations in all directions."""
        return sum(side.total_ios for side in self.directions)

    @property
    def is_of_end(self) -> bool:
        """Return whether the run had no time left when fio printed this object.

        The result is also true if fio had no estimate of the time left, as in the first seconds of a run.
        """
        return self.eta in (0, _NO_ESTIMATE)

    @property
    def runtime_ms(self) -> int:
        """Return the runtime in ms of the direction that took the longest."""
        return max(side.runtime for side in self.directions)

    @property
    def directions(self) -> Sequence[FioDirection]:
        """Return the statistics of reads, writes and trims, and of all three together (empty without ``mixed``)."""
        return self.read, self.write, self.trim, self.mixed or FioDirection()


class FioOutput(msgspec.Struct):
    """One JSON object of fio's output.

    ``jobs`` and ``globals`` (the options of the global sections) are not decoded. ``timestamp_ms`` is the time at which
    fio printed the object, in ms since 1970, or 0. ``client_stats`` is set if the jobs ran on remote hosts.
    """

    version: str = msgspec.field(default="", name="fio version")
    timestamp_ms: Count = 0
    jobs: list[msgspec.Raw] = []
    client_stats: Any = None
    globals: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"{}"), name="global options")

    @property
    def global_options(self) -> Sequence[tuple[str, str]]:
        """Return the options of all global sections as (name, value) pairs; an option that is set twice occurs twice.

        The pairs are in the order of the output.

        Raises:
            Unreadable: a value is not a string.
        """
        decoded_object(self.globals, dict[str, str])
        # A dict would keep only the last of equal names.
        pairs: list[tuple[str, str]] = json.loads(bytes(self.globals), object_pairs_hook=list)
        return pairs


def last_output(outputs: Sequence[FioOutput]) -> FioOutput:
    """Return the last of the objects that one run printed with --status-interval, in the order of the file.

    Raises:
        Unreadable: ``outputs`` is empty, or its objects are from several runs.
    """
    if not outputs:
        raise Unreadable("no complete JSON object with fio's version: the output is cut off")
    if len(outputs) > 1 and not _is_one_run([_Snapshot(output) for output in outputs]):
        raise Unreadable("the file has outputs of several runs: put each into a separate file")
    return outputs[-1]


class _Snapshot:
    """The state of a run when fio printed an object: jobs, the time, and the seconds since the start, rounded up.

    ``has_ramp`` says whether the run has a global ``ramp_time``.
    """

    def __init__(self, output: FioOutput) -> None:
        self.entries = [decoded_object(job, FioEntry) for job in output.jobs]
        self.time_ms = output.timestamp_ms
        self.elapsed_s = max((entry.elapsed for entry in self.entries), default=0)
        self.has_ramp = "ramp_time" in dict(output.global_options)


def _is_one_run(snapshots: Sequence[_Snapshot]) -> bool:
    latest_start = max(snapshot.time_ms - 1000 * snapshot.elapsed_s for snapshot in snapshots)
    earliest_start = min(snapshot.time_ms - 1000 * (snapshot.elapsed_s - 1) for snapshot in snapshots)
    return latest_start <= earliest_start + _CLOCK_MS and all(
        _goes_on(earlier, later) for earlier, later in pairwise(snapshots)
    )


def _goes_on(earlier: _Snapshot, later: _Snapshot) -> bool:
    """Return whether ``later`` can be a later state of the run whose earlier state is ``earlier``."""
    passed_ms = later.time_ms - earlier.time_ms
    return len(earlier.entries) <= len(later.entries) and all(
        (old.jobname, old.groupid) == (new.jobname, new.groupid)
        and _is_same_job(old, new, passed_ms, later.has_ramp or "ramp_time" in new.options)
        for old, new in zip(earlier.entries, later.entries, strict=False)
    )


def _is_same_job(old: FioEntry, new: FioEntry, passed_ms: int, has_ramp: bool) -> bool:
    """Return whether ``new`` can be the state of the job ``old`` after ``passed_ms``.

    The job may have waited, run or ended meanwhile, or, with ``has_ramp``, had its counts reset after ``ramp_time``.
    """
    may_start = has_ramp or not old.operations or not old.runtime_ms
    if old.job_start and (old.job_start == new.job_start or not may_start):
        return old.job_start == new.job_start
    ran_ms, operations = new.runtime_ms - old.runtime_ms, new.operations - old.operations
    is_running = operations >= 0 and abs(passed_ms - ran_ms) <= _CLOCK_MS
    has_ended = 0 < ran_ms <= passed_ms and (0 < operations * old.runtime_ms <= _MAX_SPEED_UP * old.operations * ran_ms)
    may_have_begun = may_start and new.runtime_ms <= passed_ms + _CLOCK_MS
    return new.directions == old.directions or is_running or has_ended or may_have_begun
