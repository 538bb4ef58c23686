"""The jobs of a fio output with their options, and which of them ran at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

import msgspec

from nameplate.errors import Unreadable
from nameplate.tools.fio_options import SYNONYMS, is_on, overwritten, quantity
from nameplate.tools.fio_output import FioDirection, FioEntry, FioOutput
from nameplate.tools.output import decoded_object

# Jobs that follow each other may seem to overlap by this time, since their times are rounded.
_CLOCK_MS = 2
# The group of an entry whose job wrote no statistics (stats=0), as the unsigned number that -1 becomes.
_NO_STATISTICS = (1 << 32) - 1


class _Group(msgspec.Struct):
    groupid: int = 0


@dataclass(frozen=True)
class FioJob:
    """A job with its options and the entries of its processes: one for each, or one for all with group_reporting.

    ``unclear`` are options whose value fio does not tell, since several global sections set them.
    """

    name: str
    groupid: int
    version: tuple[int, int]
    options: Mapping[str, str]
    unclear: Set[str] = frozenset()
    entries: list[FioEntry] = field(default_factory=list)

    @property
    def sides(self) -> Mapping[str, Sequence[FioDirection]]:
        """Return the sides that transferred anything, by direction: read, write, trim or mixed."""
        sides = {
            "read": [entry.read for entry in self.entries],
            "write": [entry.write for entry in self.entries],
            "trim": [entry.trim for entry in self.entries],
        }
        # With unified_rw_reporting=both, the other directions are there as well.
        mixed = [entry.mixed for entry in self.entries if entry.mixed]
        if mixed and not any(side.total_ios for side in (*sides["read"], *sides["write"])):
            sides["mixed"] = mixed
        return {name: of_entries for name, of_entries in sides.items() if any(side.total_ios for side in of_entries)}

    @property
    def start_ms(self) -> int:
        """Return the time at which the first of its processes began, 0 if the output does not tell it."""
        return min((entry.job_start for entry in self.entries), default=0)

    @property
    def runtime_ms(self) -> int:
        """Return the time that the process ran that took the longest."""
        return max((side.runtime for sides in self.sides.values() for side in sides), default=0)

    @property
    def total_runtime_ms(self) -> int:
        """Return the sum of the times of all processes, 0 if the output does not tell it."""
        return sum(entry.job_runtime for entry in self.entries)


def job_batches(output: FioOutput, version: tuple[int, int], skipped: list[str]) -> Sequence[list[FioJob]]:
    """Return the jobs that ran at the same time, batch after batch; entries that cannot be decoded are skipped.

    Their times tell which ones did, since versions before 3.39 do not print ``new_group`` if it is written as a flag.
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
    # Every entry has the time since fio began, in whole seconds, rounded up.
    elapsed_s = max((entry.elapsed for job in active for entry in job.entries), default=0)
    if elapsed_s and sum(max(job.runtime_ms for job in batch) for batch in batches) >= 1000 * elapsed_s:
        return [[job for batch in batches for job in batch]]
    return batches


def _is_beside(job: FioJob) -> bool:
    """Return whether a job with a group of its own did not wait for the jobs before it."""
    is_waiting = is_on(job.options, "stonewall") or is_on(job.options, "wait_for_previous")
    return is_on(job.options, "new_group") and not is_waiting


def _overlapping(batches: Sequence[list[FioJob]]) -> Sequence[list[FioJob]]:
    """Return the batches, of which those are joined that ran at the same time by the times at which jobs began."""
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

    Raises Unreadable if one has no statistics.
    """
    jobs: dict[tuple[int, str, tuple[tuple[str, str], ...]], FioJob] = {}
    global_options = output.global_options
    # A job has the global options of the sections before it, and fio prints those of all sections together. Of a
    # single group, one of several values is that of the command line, which a job file's global section replaces.
    groups = [decoded_object(raw, _Group).groupid for raw in output.jobs]
    if _NO_STATISTICS in groups:
        number = groups.index(_NO_STATISTICS) + 1
        raise Unreadable(f"job number {number} has no statistics (stats=0), and may have run beside the others")
    unclear = overwritten(global_options) if len(set(groups)) > 1 else set()
    for number, raw in enumerate(output.jobs, start=1):
        try:
            entry = decoded_object(raw, FioEntry)
        except Unreadable as error:
            skipped.append(f"job number {number}: {error}")
            # It may have run beside others.
            groupid = decoded_object(raw, _Group).groupid
            jobs[groupid, str(number), ()] = FioJob(f"number {number}", groupid, version, {})
            continue
        options: dict[str, str] = {}
        for name, text in (*global_options, *entry.options.items()):
            # Of two options that contradict each other the latter counts.
            options.pop(SYNONYMS.get(name, name), None)
            options[SYNONYMS.get(name, name)] = text
        key = entry.groupid, entry.jobname, tuple(sorted(options.items()))
        job = FioJob(entry.jobname, entry.groupid, version, options, unclear - set(map(quantity, entry.options)))
        jobs.setdefault(key, job).entries.append(entry)
    return jobs.values()
