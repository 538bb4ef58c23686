"""The folder of a fleet: the run file of each host, and a file with the hosts and how their measurement ended.

The file ``fleet.hosts`` is only appended to, so that an interrupted fleet can be continued.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from nameplate.errors import FileError, UsageError
from nameplate.fleet.fleet_plan import FleetPlan
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome
from nameplate.fleet.host_records import CollectedRecords, checked_hosts
from nameplate.process_pool import map_batches
from nameplate.records.inputs import read_input

FLEET_FILE = "fleet.hosts"
# The version of the format of this file, and the earlier ones that can be read.
SCHEMA = 3
_EARLIER = (2,)
_RUNS = "runs"
_MAX_BYTES = 256 << 20
_UNSAFE = re.compile(r"[^A-Za-z0-9._:@-]")
# A run of a minute takes 0.3 s to check.
_BATCH = 5


Engine: TypeAlias = Literal["ssh", "srun", "launcher", "kubernetes"]


class FleetStart(msgspec.Struct, frozen=True, kw_only=True, tag="fleet", tag_field="type"):
    """The first line of the file: the hosts that are to be measured, and the names by which their runs are found.

    ``id``, ``token``, ``arguments`` and ``installed`` are those of ``RemoteRun``. ``expected_s`` is the time in seconds
    that a host probably takes. ``at_once`` is the number of hosts that measure at the same time, None for all, and
    ``cores`` are the paths of the cores to send, empty for those of nameplate-cores or of the installation. ``plan`` is
    None if the hosts measure the core's plan quick. ``groups`` has the group of each host if one host of a group
    measures at a time, otherwise it is empty. ``engine`` is how hosts are reached, and ``launcher`` the command of a
    launcher; with one that is not srun, ``hosts`` is empty if the user did not name them. ``image`` is the container
    image of a fleet in Kubernetes, whose ``arguments`` begin with a program.
    """

    schema: int
    id: str
    token: str
    arguments: list[str]
    hosts: list[str]
    expected_s: float = 60.0
    installed: str = ""
    at_once: int | None = None
    cores: list[str] = []
    plan: FleetPlan | None = None
    groups: dict[str, str] = {}
    engine: Engine = "ssh"
    launcher: list[str] = []
    image: str = ""


class _Started(msgspec.Struct, frozen=True, tag="started", tag_field="type"):
    address: str
    deadline_s: float


class _Collected(msgspec.Struct, frozen=True, tag="collected", tag_field="type"):
    address: str
    end: CoreEnd


class _Ended(msgspec.Struct, frozen=True, tag="ended", tag_field="type"):
    outcome: HostOutcome


_decoder = msgspec.json.Decoder(FleetStart | _Started | _Collected | _Ended)


class FleetFolder:
    """A fleet's folder that is being written or read.

    ``outcomes`` has the outcome of each host that was measured or failed, by its address, the latest one; ``running``
    the hosts whose core was started and whose records were not collected, with the time in seconds after which the core
    is ended. ``collected`` has the hosts whose records were collected and not checked yet, with the end of their core.
    """

    def __init__(self, path: Path, start: FleetStart) -> None:
        self.path, self.start = path, start
        self.outcomes: dict[str, HostOutcome] = {}
        self.running: dict[str, float] = {}
        self.collected: dict[str, CoreEnd] = {}
        self._complete_bytes = 0
        self._locked: int | None = None

    @classmethod
    def create(cls, path: Path, start: FleetStart) -> FleetFolder:
        """Create the folder, which must not have a fleet, and write its first line.

        Raises:
            UsageError: the folder has a fleet.
            FileError: it cannot be written.
        """
        folder = cls(path, start)
        try:
            (path / _RUNS).mkdir(parents=True, exist_ok=True)
            (path / FLEET_FILE).touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            raise UsageError(f"{path} has a fleet: continue it with --resume, or name another folder with -o") from None
        except OSError as error:
            raise FileError(f"cannot write to {path}: {error.strerror}") from None
        folder._locked = _locked(path / FLEET_FILE)
        folder._write(start)
        return folder

    @classmethod
    def resume(cls, path: Path) -> FleetFolder:
        """Read the folder of a fleet to measure what is missing; until this process ends, no other command does.

        Raises:
            UsageError: another command is measuring this fleet.
            FileError: the folder has no fleet, or its file is damaged.
        """
        locked = _locked(path / FLEET_FILE)
        folder = cls.open(path)
        folder._locked = locked
        return folder

    @classmethod
    def open(cls, path: Path) -> FleetFolder:
        """Read the folder of a fleet. A last line that was cut off is ignored.

        Raises:
            FileError: the folder has no fleet, or its file is damaged.
        """
        file = path / FLEET_FILE
        content = read_input(file, _MAX_BYTES, "fleet")
        lines = content.split(b"\n")[:-1]
        folder: FleetFolder | None = None
        for number, line in enumerate(lines, start=1):
            try:
                record = _decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise FileError(f"{file}: line {number} is not a record of a fleet: {error}") from None
            if isinstance(record, FleetStart) and folder is None:
                folder = cls(path, _checked(record, file))
            elif folder is None:
                break
            elif not isinstance(record, FleetStart):
                folder._note(record)
        if folder is None:
            raise FileError(f"{file}: its first line does not begin a fleet")
        folder._complete_bytes = content.rfind(b"\n") + 1
        return folder

    @property
    def hosts(self) -> list[str]:
        """Return the hosts to measure; if only a launcher knows them, the hosts that it has started so far."""
        return self.start.hosts or sorted({*self.outcomes, *self.running, *self.collected})

    @property
    def addresses(self) -> dict[Path, str]:
        """Return the address of the host of each run file that counts."""
        measured = [outcome for outcome in self.outcomes.values() if outcome.outcome == "measured"]
        return {self.path / outcome.file: outcome.address for outcome in measured}

    @property
    def failed(self) -> list[HostOutcome]:
        """Return the outcomes of the hosts that were not measured completely; some have a run file."""
        return [outcome for outcome in self.outcomes.values() if outcome.outcome != "measured"]

    def missing(self) -> list[str]:
        """Return the hosts that have no run and are not running, in the order in which they were given."""
        done = {address for address, outcome in self.outcomes.items() if outcome.outcome == "measured"}
        done |= self.running.keys() | self.collected.keys()
        return [host for host in self.start.hosts if host not in done]

    def started(self, address: str, deadline_s: float) -> None:
        """Note that the core runs on a host; ``deadline_s`` is the time in seconds after which it is ended."""
        self._append(_Started(address, deadline_s))

    def part(self, address: str) -> Path:
        """Return the path of the file for the records of a host until they have been checked.

        Records that are not a run stay under this name, which is not read as a run.
        """
        return self.path / _RUNS / f"{_UNSAFE.sub('_', address)}.part"

    def note_collected(self, address: str, end: CoreEnd) -> None:
        """Note that the core of a host has ended, and that the file ``part`` has its records."""
        self._append(_Collected(address, end))

    def check_collected(self, on_hosts: Callable[[int, int], None] = lambda _, __: None) -> None:
        """Check the records that were collected, append the digest to each run, and note the outcomes.

        Many are checked by several processes. ``on_hosts`` is called with the number of hosts checked so far and their
        number.
        """
        parts = {address: self.part(address) for address in self.collected}
        hosts = [
            CollectedRecords(address, part, part.with_suffix(".jsonl"), self.collected[address])
            for address, part in parts.items()
        ]
        done = 0
        for outcomes in map_batches(checked_hosts, hosts, _BATCH):
            for outcome in outcomes:
                self.ended(outcome)
            done += len(outcomes)
            on_hosts(done, len(hosts))

    def ended(self, outcome: HostOutcome) -> None:
        """Note the outcome of a host."""
        self._append(_Ended(outcome))

    def _append(self, record: _Started | _Collected | _Ended) -> None:
        self._note(record)
        self._write(record)

    def _note(self, record: _Started | _Collected | _Ended) -> None:
        if isinstance(record, _Started):
            self.running[record.address] = record.deadline_s
        elif isinstance(record, _Collected):
            self.running.pop(record.address, None)
            self.collected[record.address] = record.end
        else:
            address, outcome = record.outcome.address, record.outcome
            self.running.pop(address, None)
            self.collected.pop(address, None)
            # An earlier file is still there, and does not count.
            if not outcome.file and address in self.outcomes:
                outcome = msgspec.structs.replace(outcome, file=self.outcomes[address].file)
            self.outcomes[address] = outcome

    def _write(self, record: FleetStart | _Started | _Collected | _Ended) -> None:
        line = msgspec.json.encode(record) + b"\n"
        try:
            with (self.path / FLEET_FILE).open("r+b") as file:
                file.truncate(self._complete_bytes)  # a line that an earlier command could not complete
                file.seek(self._complete_bytes)
                file.write(line)
            self._complete_bytes += len(line)
        except OSError as error:
            raise FileError(f"cannot write {self.path / FLEET_FILE}: {error.strerror}") from None


def _checked(start: FleetStart, file: Path) -> FleetStart:
    if start.schema not in (SCHEMA, *_EARLIER):
        raise FileError(f"{file}: its format is {start.schema}, and this version reads {SCHEMA}")
    return start


def _locked(path: Path) -> int | None:
    """Return the descriptor of a file that this process locks until it ends, None if its file system has no locks.

    Raises UsageError if another process has locked it, and FileError if it cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise UsageError(f"{path.parent}: another command is measuring this fleet; wait until it ends") from None
        return None
    return descriptor
