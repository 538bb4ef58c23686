"""The JSON objects that fio prints, and the last one of a run with --status-interval."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.numbers import Count, Real
from nameplate.tools.output import decoded_object

# The whole seconds of two timestamps, and the rounding of times.
_TIMESTAMP_MS = 1500


class _Latency(msgspec.Struct):
    mean: Real = 0.0
    percentile: dict[str, Real] = {}


class FioDirection(msgspec.Struct):
    """One direction of a job: B/s, bytes, milliseconds, operations, and their latencies in ns."""

    iops: Real = 0.0
    bw_bytes: Real = 0.0
    io_bytes: Count = 0
    runtime: Count = 0
    total_ios: Count = 0
    lat_ns: _Latency = msgspec.field(default_factory=_Latency)
    clat_ns: _Latency = msgspec.field(default_factory=_Latency)


class FioEntry(msgspec.Struct):
    """A process, or with group_reporting a group of them. ``mixed`` has reads and writes of unified_rw_reporting."""

    jobname: str
    error: int
    groupid: int = 0
    total_err: int = 0
    job_start: Count = 0
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
        """Return the number of operations in all directions."""
        return sum(side.total_ios for side in (self.read, self.write, self.trim, self.mixed or FioDirection()))


class FioOutput(msgspec.Struct):
    """One object of an output: the jobs, and the options of the global sections."""

    version: str = msgspec.field(default="", name="fio version")
    timestamp: Count = 0
    jobs: list[msgspec.Raw] = []
    client_stats: Any = None
    globals: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"{}"), name="global options")

    @property
    def global_options(self) -> Sequence[tuple[str, str]]:
        """Return the options of all global sections, in one list, in which fio prints an option as often as it is set.

        Raises Unreadable if they are not text.
        """
        decoded_object(self.globals, dict[str, str])
        # A dict keeps the last of equal names only.
        pairs: list[tuple[str, str]] = json.loads(bytes(self.globals), object_pairs_hook=list)
        return pairs


def last_output(outputs: Sequence[FioOutput]) -> FioOutput:
    """Return the last of the outputs that one run wrote with --status-interval.

    Raises Unreadable if there are none, or they are of several runs.
    """
    if not outputs:
        raise Unreadable("no complete JSON object with fio's version: the output is cut off")
    if not all(_goes_on(earlier, later) for earlier, later in pairwise(outputs)):
        raise Unreadable("the file has outputs of several runs: put each into a file of its own")
    return outputs[-1]


def _goes_on(earlier: FioOutput, later: FioOutput) -> bool:
    """Return whether an output is of the same run as an earlier one: its jobs began at the same time and did more."""
    before, after = ([decoded_object(job, FioEntry) for job in output.jobs] for output in (earlier, later))
    passed_ms = 1000 * (later.timestamp - earlier.timestamp)
    return len(before) <= len(after) and all(
        (old.jobname, old.groupid, old.job_start) == (new.jobname, new.groupid, new.job_start)
        and old.operations <= new.operations
        and (new.job_start > 0 or abs(passed_ms - (new.job_runtime - old.job_runtime)) <= _TIMESTAMP_MS)
        for old, new in zip(before, after, strict=False)
    )
