"""Define the expected ranges of a machine, with their origins."""

from __future__ import annotations

from typing import Literal

import msgspec

from nameplate.expectations.expected_range import ExpectedRange


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """The expected ranges of a machine.

    ``kind`` is the kind of the source. ``machine`` describes the class or type that the ranges are for, such as "AMD
    EPYC 7543, 64 cores, 256 GiB" or "aws c7i.large (from the DMI)". ``provisional`` is True if any range comes from too
    few machines. ``origins`` and ``peers`` have one text per range, in the order of ``ranges``: the origin, such as
    "site.toml, 42 machines with 212 runs", and a description of the typical value, such as "the median of 42 machines
    of this class". ``notes`` are sentences to show with the ranges.
    """

    kind: Literal["site", "catalogue"]
    machine: str
    provisional: bool
    ranges: list[ExpectedRange]
    origins: list[str]
    peers: list[str]
    notes: list[str] = []

    @property
    def sources(self) -> list[str]:
        """Return the origins without repetitions, followed by the notes."""
        return [*dict.fromkeys(self.origins), *self.notes]
