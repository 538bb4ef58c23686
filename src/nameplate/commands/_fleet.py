"""Read run files of several machines as a fleet, for the commands that show runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nameplate.errors import FileError, UsageError
from nameplate.records.fleet_record import LeftOut
from nameplate.records.inputs import files_in, is_folder
from nameplate.records.result import Report

if TYPE_CHECKING:
    from nameplate.fleet.host_values import FleetValues


def read_fleet_report(paths: Sequence[Path]) -> Report:
    """Return the report of a fleet, each machine of which was measured in a run of its own.

    ``paths`` are run files, and folders for all run files in them and in their subfolders. Progress is shown if
    standard error is a terminal.

    Raises:
        UsageError: the folders have no run files.
        FileError: a folder cannot be read, or none of the files is a run of a machine.
    """
    # Importing numpy and scipy takes half a second.
    from nameplate.fleet.fleet_report import fleet_report  # noqa: PLC0415

    return fleet_report(read_machines(paths))


def read_machines(paths: Sequence[Path]) -> FleetValues:
    """Return the machines of run files and folders with their values, at least one machine.

    ``paths`` and the errors are those of ``read_fleet_report``.
    """
    from nameplate.fleet.fleet_folder import FLEET_FILE, FleetFolder  # noqa: PLC0415
    from nameplate.fleet.host_outcome import failed_text  # noqa: PLC0415
    from nameplate.fleet.host_values import read_fleet  # noqa: PLC0415
    from nameplate.history.update import run_files_of  # noqa: PLC0415

    files = run_files_of(paths)
    if not files:
        raise UsageError(f"{paths[0]} has no run files (.jsonl): write one with nameplate run -o {paths[0]}/NAME.jsonl")
    folders = [FleetFolder.open(path) for path in paths if (path / FLEET_FILE).exists()]
    addresses = {path: address for folder in folders for path, address in folder.addresses.items()}
    failed = [(folder.path, outcome) for folder in folders for outcome in folder.failed]
    for path, outcome in failed:
        files.pop(path / outcome.file, None)
    fleet = read_fleet(files, addresses, show_files_read)
    if not fleet.hosts:
        first = next(iter(fleet.left_out), None)
        why = f"{first.name}: {first.reason}" if first else failed_text(failed[0][1])
        raise FileError(f"{why}; none of {len(files)} run files is a run of one machine")
    groups = {address: group for folder in folders for address, group in folder.start.groups.items()}
    hosts = [
        msgspec.structs.replace(host, group=groups.get(addresses.get(Path(host.path), ""), "")) for host in fleet.hosts
    ]
    fleet = msgspec.structs.replace(fleet, hosts=hosts)
    fleet.left_out.extend(LeftOut(outcome.address, failed_text(outcome)) for _, outcome in failed)
    return fleet


def addresses_below(folder: Path) -> dict[Path, str]:
    """Return the address of the host of each run file of the fleets in a folder and in its subfolders.

    A damaged file of a fleet counts as none: its runs have the names that the hosts give themselves.
    """
    from nameplate.fleet.fleet_folder import FLEET_FILE, FleetFolder  # noqa: PLC0415

    addresses: dict[Path, str] = {}
    for file in folder.rglob(FLEET_FILE):
        with suppress(FileError):
            fleet = FleetFolder.open(file.parent)
            addresses |= {fleet.path / end.file: end.address for end in fleet.outcomes.values() if end.file}
    return addresses


def is_fleet(path: Path) -> bool:
    """Return whether a path is a folder of a fleet, or has run files of machines with different names.

    Subfolders do not count.

    Raises:
        FileError: the folder cannot be read.
    """
    if not is_folder(path):
        return False
    # Importing numpy takes a tenth of a second.
    from nameplate.fleet.fleet_folder import FLEET_FILE  # noqa: PLC0415
    from nameplate.results.run_file import read_header  # noqa: PLC0415

    if (path / FLEET_FILE).exists():
        return True

    names = set()
    for file in files_in(path):
        if file.suffix != ".jsonl" or file.name.startswith("."):
            continue
        try:
            _, machine = read_header(file)
        except FileError:  # whoever reads the file says why
            continue
        names.add(machine.hostname if machine else None)
        if len(names - {None}) > 1:
            return True
    return False


def show_files_read(done: int, files: int) -> None:
    """Show how many of ``files`` run files have been read, on one line, if standard error is a terminal."""
    if sys.stderr.isatty():
        end = "\n" if done == files else ""
        print(f"\rreading runs: {done} of {files}", end=end, file=sys.stderr, flush=True)
