"""The jobs of a fio output with their options, and which of them ran at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

import msgspec

from nameplate.errors import Unreadable
from nameplate.tools.fio_options import SYNONYMS, is_on, overwritten, quantity
from nameplate.tools.fio_output import FioDirection, FioEntry, FioOutput
from nameplate.tools.output import decoded_object


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
    def runtime_ratio(self) -> float | None:
        """Return the sum of the processes' times as a multiple of the job's; None if the output does not tell it."""
        runtime = max((side.runtime for sides in self.sides.values() for side in sides), default=0)
        total = sum(entry.job_runtime for entry in self.entries)
        return total / runtime if runtime and total else None


def job_batches(output: FioOutput, version: tuple[int, int], skipped: list[str]) -> Iterator[list[FioJob]]:
    """Yield the jobs that ran at the same time, batch after batch; entries that cannot be decoded are skipped."""
    batch: list[FioJob] = []
    for job in _jobs(output, version, skipped):
        is_beside = is_on(job.options, "new_group") and not (
            is_on(job.options, "stonewall") or is_on(job.options, "wait_for_previous")
        )
        if batch and job.groupid != batch[-1].groupid and not is_beside:
            yield batch
            batch = []
        batch.append(job)
    if batch:
        yield batch


def _jobs(output: FioOutput, version: tuple[int, int], skipped: list[str]) -> Iterable[FioJob]:
    """Return the jobs in their order; those that cannot be decoded have no entries."""
    jobs: dict[tuple[int, str, tuple[tuple[str, str], ...]], FioJob] = {}
    global_options = output.global_options
    # A job has the global options of the sections before it, and fio prints those of all sections together. Of a
    # single group, one of several values is that of the command line, which a job file's global section replaces.
    groups = {decoded_object(raw, _Group).groupid for raw in output.jobs}
    unclear = overwritten(global_options) if len(groups) > 1 else set()
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
