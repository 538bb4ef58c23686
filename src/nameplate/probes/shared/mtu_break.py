"""Find the break of a message's cost that the MTU of a link explains, and the lines on both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nameplate.probes.shared.message_cost import LARGEST_HEADER, WIDEST, BoundedLine, Cost, bounded_lines, link_mtus
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity

# The most that TCP and IPv4 add in front of a packet's data (RFC 9293, RFC 791).
_PACKET_HEADERS = 80
# A sweep has a size within this factor of the true break, and a fit may place the break on either side of it.
NEAR = 1.25


@dataclass(frozen=True)
class MtuBreak:
    """The break of a fit that is nearest to a link's MTU, and the lines on both sides.

    ``link`` is the name of the interface. ``at`` is the position of the break in bytes with its 95 % interval.
    ``below`` is the line of smaller messages, ``above`` that of larger ones.
    """

    link: str
    mtu_bytes: float
    at: Quantity
    below: BoundedLine
    above: BoundedLine


@dataclass(frozen=True)
class NoMtuBreak:
    """The reason why no break of a curve can be attributed to an MTU, as a clause for a remark."""

    reason: str


def find_mtu_break(cost: Cost, machine: Machine) -> MtuBreak | NoMtuBreak:
    """Return the break of ``cost`` nearest to the MTU of one of the links of ``machine.job``, or why there is none.

    The largest message that one packet takes is smaller than the MTU by the headers of TCP/IP, 80 bytes at most, and of
    MPI, 128 bytes at most. A break counts as near when its 95 % interval comes within a factor of 1.25 of these sizes.
    Several near breaks are ordered by that factor, then by the distance of the break itself from the MTU on a
    logarithmic scale. A break whose interval spans more than a factor of two is not considered. No break is attributed
    if any pair of ranks shares a node, if the job's MTUs are not known, or if no break is near.
    """
    reason = _unusable(cost, machine)
    if reason:
        return NoMtuBreak(reason)
    mtus = link_mtus(machine)
    narrow = [index for index, (low, high) in enumerate(cost.bounds.breaks) if high <= WIDEST * low]
    tried = [(_distance(cost, index, mtu), index, link, mtu) for index in narrow for link, mtu in mtus.items()]
    near = [each for each in tried if each[0][0] <= math.log(NEAR)]
    if not near:
        limits = ", ".join(f"{link} = {mtu:,.0f} B" for link, mtu in mtus.items())
        return NoMtuBreak(f"no break of this curve is near an MTU ({limits})")
    _, index, link, mtu = min(near)
    lines = bounded_lines(cost)
    at = Quantity(cost.lines.breaks[index].at_bytes, "B", cost.bounds.breaks[index])
    return MtuBreak(link, mtu, at, lines[index], lines[index + 1])


def _unusable(cost: Cost, machine: Machine) -> str:
    """Return why no MTU can explain any break; empty if one may."""
    pairs = int(cost.params.get("pairs", 1))
    if cost.pairs_between_nodes == 0:
        return "the messages stay within one node and use no link"
    if cost.pairs_between_nodes < pairs:
        return f"only {cost.pairs_between_nodes} of {pairs} pairs send their messages over a link"
    if not link_mtus(machine):
        return "the MTU of the links is not known"
    return "" if cost.lines.breaks else "the curve has no break"


def _distance(cost: Cost, index: int, mtu: float) -> tuple[float, float]:
    """Return the distances of a break's interval from the sizes that fill one packet, and of the break from the MTU."""
    low, high = cost.bounds.breaks[index]
    fullest = mtu - _PACKET_HEADERS - LARGEST_HEADER
    outside = max(0.0, math.log(fullest / high), math.log(low / mtu))
    return outside, abs(math.log(cost.lines.breaks[index].at_bytes / mtu))
