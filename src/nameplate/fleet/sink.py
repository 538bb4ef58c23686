"""The interface through which an engine tells what it learns about hosts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from nameplate.errors import FileError
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome

# Records of one host above this size are not collected: a run of a minute has about 10 MB.
MAX_RECORDS_BYTES = 64 << 20


class Sink(Protocol):
    """Receives what the engine learns about hosts."""

    def started(self, address: str, deadline_s: float) -> None:
        """Note that the core runs on a host, so that its records can be collected later.

        ``deadline_s`` is the time in seconds after which the core is ended.
        """

    def part(self, address: str) -> Path:
        """Return the path of the file to which the records of a host are to be written."""

    def collected(self, address: str, end: CoreEnd) -> None:
        """Note that the core of a host has ended, and that its records are complete in the file ``part``.

        Its outcome is found later from the records.
        """

    def ended(self, outcome: HostOutcome) -> None:
        """Note the outcome of a host whose records were not collected."""

    def not_removed(self, address: str, reason: str) -> None:
        """Note that the core could not be removed from a host."""


def write_part(path: Path, records: Iterable[bytes]) -> None:
    """Write the records of a host to the file ``part``. Raises FileError if that is not possible."""
    try:
        with path.open("wb") as file:
            file.writelines(records)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from None


def too_large(address: str) -> HostOutcome:
    """Return the outcome of a host that sends more than ``MAX_RECORDS_BYTES``."""
    return HostOutcome(address=address, outcome="invalid", reason=f"it sent more than {MAX_RECORDS_BYTES >> 20} MiB",
                       advice="check the host")  # fmt: skip
