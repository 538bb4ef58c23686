"""State what is expected of a machine, and from where that is known."""

from __future__ import annotations

from typing import Literal

import msgspec

from nameplate.expectations.expected_range import ExpectedRange


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """The expected ranges of a machine.

    ``machine`` says what the machine is taken for, such as "AMD EPYC 7543, 64 cores, 256 GiB" or "aws c7i.large (from
    the DMI)". ``ranges`` are ``provisional`` if they come from few machines; ``origins`` says of each from where it
    comes, such as "site.toml, 42 machines with 212 runs". ``notes`` are sentences on what a reader must know.
    """

    kind: Literal["site", "catalogue"]
    machine: str
    provisional: bool
    ranges: list[ExpectedRange]
    origins: list[str]
    notes: list[str] = []

    @property
    def sources(self) -> list[str]:
        """Return the origins, each once, and the notes."""
        return [*dict.fromkeys(self.origins), *self.notes]
