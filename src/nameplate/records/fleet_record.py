"""The machines of a fleet: the run of each, and the files that do not count."""

from __future__ import annotations

import msgspec


class FleetHost(msgspec.Struct, frozen=True, kw_only=True):
    """A machine of a fleet and the run that counts for it.

    - ``name``: the address that a controller used, otherwise the host name; several machines of one name have a number,
      as in "localhost (2)"
    - ``hostname``: the name that the machine gives itself; ``boot_id``: the kernel's random text of its last start, ""
      if it is unknown
    - ``path``: the run file; ``started``: the start of the run in ISO 8601
    - ``group``: the name of its group, such as a rack, "" if the controller knew none
    - ``slowed``: the CPU quota that slowed the whole run down, as a clause, "" without one
    """

    name: str
    hostname: str
    boot_id: str = ""
    path: str
    started: str
    group: str = ""
    slowed: str = ""


class LeftOut(msgspec.Struct, frozen=True):
    """A file or a host of a fleet that has no row, and the reason as a clause."""

    name: str
    reason: str


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """The machines of a fleet.

    ``hosts`` are in the order of ``Nodes.names`` of the same report. ``left_out`` are the run files that do not count,
    such as an older run of a machine or a run that other programs slowed down, and hosts that have no run file.
    """

    hosts: list[FleetHost]
    left_out: list[LeftOut] = []
