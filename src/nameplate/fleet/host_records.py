"""Check the records that were collected from hosts, and give each run its digest."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from nameplate.errors import FileError
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome, core_outcome
from nameplate.records.machine_record import binding_quota_cpus
from nameplate.results.digest import digest_of_report, values_version
from nameplate.results.measurements import RunFile
from nameplate.results.run_file import append_digest, read_digest, read_run
from nameplate.results.summarise import summarise


class CollectedRecords(msgspec.Struct, frozen=True):
    """The records of a host: the file that has them, ``path`` for its name as a run, and how the core ended."""

    address: str
    part: Path
    path: Path
    end: CoreEnd


def checked_hosts(hosts: Sequence[CollectedRecords]) -> list[HostOutcome]:
    """Return the outcome of each host. Records that are a run get a digest and are then renamed to ``path``.

    ``HostOutcome.file`` is ``path`` below the directory of its parent. Records that are not a run stay in ``part``. If
    ``part`` does not exist, ``path`` was checked by a command that was killed.
    """
    return [core_outcome(_checked(host), host.end) for host in hosts]


def _checked(host: CollectedRecords) -> HostOutcome:
    file = host.part if host.part.exists() else host.path
    try:
        run = read_run(file)
    except FileError as error:
        return HostOutcome(address=host.address, outcome="invalid", reason=str(error).removeprefix(f"{file}: "),
                           advice=f"look at {file}")  # fmt: skip
    name = f"{host.path.parent.name}/{host.path.name}"
    is_complete = run.stop is not None and not run.stop.interrupted
    slowed = _with_digest(run) if is_complete else ""
    try:
        file.replace(host.path)
    except OSError as error:
        raise FileError(f"cannot rename {file}: {error.strerror}") from None
    if not is_complete:
        return HostOutcome(address=host.address, outcome="stopped", file=name, reason="the run is incomplete")
    if slowed:
        return HostOutcome(address=host.address, outcome="busy", file=name, reason=slowed,
                           advice="measure it again when they have ended")  # fmt: skip
    return HostOutcome(address=host.address, outcome="measured", file=name)


def _with_digest(run: RunFile) -> str:
    """Append its digest to a run, and return what slowed the run down, "" for nothing or a quota."""
    try:
        digest = read_digest(Path(run.path), values_version())  # that of a command that was killed
        if digest is None:
            digest = digest_of_report(summarise(run))
            with suppress(FileError):  # a run without a digest is read from its records
                append_digest(run, digest)
    except (ArithmeticError, FileError, KeyError, TypeError, ValueError):
        return ""  # valid records may still be impossible together; whoever reads the run says so
    return "" if run.machine and binding_quota_cpus(run.machine) is not None else digest.slowed
