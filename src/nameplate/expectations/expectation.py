"""State what is expected of a machine, and from where that is known."""

from __future__ import annotations

import msgspec

from nameplate.expectations.expected_range import ExpectedRange


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """The expected ranges of a machine.

    ``machine`` says what the machine is taken for, such as "AMD EPYC 7543, 64 cores, 256 GiB" or "aws c7i.large (from
    the DMI)". ``sources`` has a line for each source, such as "site.toml, 42 machines with 212 runs". The ranges are
    ``provisional`` if they come from few machines.
    """

    machine: str
    sources: list[str]
    provisional: bool
    ranges: list[ExpectedRange]
