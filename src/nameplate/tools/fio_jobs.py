"""Collect the jobs in fio's output with their options, and find which jobs ran at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

import msgspec

from nameplate.errors import Unreadable
from nameplate.tools.fio_options import SYNONYMS, is_on, overwritten, quantity
from nameplate.tools.fio_output import FioDirection, FioEntry, FioOutput
from nameplate.tools.output import decoded_object

# Jobs that ran one after the other may seem to overlap by up to this time, since times are rounded.
_CLOCK_MS = 2
# fio's group id of a job without statistics (stats=0): -1 as an unsigned number.
_NO_STATISTICS = (1 << 32) - 1


class _Group(msgspec.Struct):
    groupid: int = 0


@dataclass(frozen=True)
class FioJob:
    """A job in fio's output.

    - ``name``, ``groupid``: the job's name, and the number of its reporting group
    - ``version``: fio's version as (major, minor)
    - ``options``: the options of the job and of the global sections by name, without synonyms
    - ``unclear``: the options whose values fio does not report, because several global sections set them
    - ``entries``: one entry per process, or one for all processes with ``group_reporting``; empty if not decodable
    """

    name: str
    groupid: int
    version: tuple[int, int]
    options: Mapping[str, str]
    unclear: Set[str] = frozenset()
    entries: list[FioEntry] = field(default_factory=list)

    @property
    def sides(self) -> Mapping[str, Sequence[FioDirection]]:
        """Return the statistics of the directions that transferred data, with one item per entry.

        The keys are "read", "write", "trim" or "mixed" (with ``unified_rw_reporting``). The mapping is empty if nothing
        was transferred.
        """
        sides = {
            "read": [entry.read for entry in self.entries],
            "write": [entry.write for entry in self.entries],
            "trim": [entry.trim for entry in self.entries],
        }
        # With unified_rw_reporting=both, fio prints the other directions as well.
        mixed = [entry.mixed for entry in self.entries if entry.mixed]
        if mixed and not any(side.total_ios for side in (*sides["read"], *sides["write"])):
            sides["mixed"] = mixed
        return {name: of_entries for name, of_entries in sides.items() if any(side.total_ios for side in of_entries)}

    @property
    def start_ms(self) -> int:
        """Return the start time of the job's first process in ms, or 0 if the output does not report it."""
        return min((entry.job_start for entry in self.entries), default=0)

    @property
    def runtime_ms(self) -> int:
        """Return the runtime of the job's slowest process in ms, or 0 if the job transferred nothing."""
        return max((side.runtime for sides in self.sides.values() for side in sides), default=0)

    @property
    def total_runtime_ms(self) -> int:
        """Return the sum of the runtimes of all processes in ms, or 0 if the output does not report it."""
        return sum(entry.job_runtime for entry in self.entries)


def job_batches(output: FioOutput, version: tuple[int, int], skipped: list[str]) -> Sequence[list[FioJob]]:
    """Return the jobs in batches: the jobs of a batch ran at the same time, and the batches ran one after the other.

    ``output`` is the last object of a run, and ``version`` is fio's version as (major, minor). A job that cannot be
    decoded is in its batch without entries, and a sentence about it is appended to ``skipped``. Batches follow from the
    times of the jobs if fio reports them, because fio before 3.39 does not print the option ``new_group`` if it has no
    value.

    Raises:
        Unreadable: a job has no statistics (``stats=0``).
    """
    batches: list[list[FioJob]] = []
    for job in _jobs(output, version, skipped):
        if batches and (job.groupid == batches[-1][-1].groupid or _is_beside(job)):
            batches[-1].append(job)
        else:
            batches.append([job])
    active = [job for batch in batches for job in batch if job.sides]
    if all(job.start_ms for job in active):
        return _overlapping(batches)
    # Each entry has the time since fio started, in whole seconds, rounded up.
    elapsed_s = max((entry.elapsed for job in active for entry in job.entries), default=0)
    if elapsed_s and sum(max(job.runtime_ms for job in batch) for batch in batches) >= 1000 * elapsed_s:
        return [[job for batch in batches for job in batch]]
    return batches


def _is_beside(job: FioJob) -> bool:
    """Return whether a job with a reporting group of its own started without waiting for the jobs before it."""
    is_waiting = is_on(job.options, "stonewall") or is_on(job.options, "wait_for_previous")
    return is_on(job.options, "new_group") and not is_waiting


def _overlapping(batches: Sequence[list[FioJob]]) -> Sequence[list[FioJob]]:
    """Return the batches, after joining those that overlap according to the start times of their jobs."""
    joined: list[list[FioJob]] = []
    end_ms = 0
    for batch in batches:
        starts = [job.start_ms for job in batch if job.sides]
        if joined and starts and min(starts) < end_ms - _CLOCK_MS:
            joined[-1] += batch
        else:
            joined.append(batch)
        end_ms = max([end_ms, *(job.start_ms + job.runtime_ms for job in batch if job.sides)])
    return joined


def _jobs(output: FioOutput, version: tuple[int, int], skipped: list[str]) -> Iterable[FioJob]:
    """Return the jobs in the order of the output. A job that cannot be decoded has no entries.

    Raises Unreadable if a job has no statistics.
    """
    jobs: dict[tuple[int, str, tuple[tuple[str, str], ...]], FioJob] = {}
    global_options = output.global_options
    # A job has the options of the global sections before it, but fio prints the options of all sections together. With
    # a single group, the earlier of two values is from the command line, and a global section replaces it.
    groups = [decoded_object(raw, _Group).groupid for raw in output.jobs]
    if _NO_STATISTICS in groups:
        number = groups.index(_NO_STATISTICS) + 1
        raise Unreadable(
            f"job number {number} has no statistics (stats=0), and may have run at the same time as the others"
        )
    unclear = overwritten(global_options) if len(set(groups)) > 1 else set()
    for number, raw in enumerate(output.jobs, start=1):
        try:
            entry = decoded_object(raw, FioEntry)
        except Unreadable as error:
            skipped.append(f"job number {number}: {error}")
            # The job may have run at the same time as others.
            groupid = decoded_object(raw, _Group).groupid
            jobs[groupid, str(number), ()] = FioJob(f"number {number}", groupid, version, {})
            continue
        options: dict[str, str] = {}
        for name, text in (*global_options, *entry.options.items()):
            # If two options contradict each other, the later one counts.
            options.pop(SYNONYMS.get(name, name), None)
            options[SYNONYMS.get(name, name)] = text
        key = entry.groupid, entry.jobname, tuple(sorted(options.items()))
        job = FioJob(entry.jobname, entry.groupid, version, options, unclear - set(map(quantity, entry.options)))
        jobs.setdefault(key, job).entries.append(entry)
    return jobs.values()
