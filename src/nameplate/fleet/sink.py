"""The interface through which an engine tells what it learns about hosts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from nameplate.fleet.host_outcome import HostOutcome


class Sink(Protocol):
    """Receives what the engine learns about hosts."""

    def started(self, address: str, deadline_s: float) -> None:
        """Note that the core runs on a host, so that its records can be collected later.

        ``deadline_s`` is the time in seconds after which the core is ended.
        """

    def records(self, address: str, lines: Iterable[bytes]) -> HostOutcome:
        """Keep the records of a host, and return its outcome."""

    def ended(self, outcome: HostOutcome) -> None:
        """Note the outcome of a host."""

    def not_removed(self, address: str, reason: str) -> None:
        """Note that the core could not be removed from a host."""
