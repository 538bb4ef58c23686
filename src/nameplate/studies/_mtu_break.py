"""Find the break of a message's cost that the MTU of a link explains, and the lines on both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nameplate.probes.shared.message_cost import LARGEST_HEADER, WIDEST, BoundedLine, Cost, bounded_lines, link_mtus
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity

# The maximum size of the TCP and IPv4 headers of a packet, in bytes (RFC 9293, RFC 791).
_PACKET_HEADERS = 80
# A sweep has a size within this factor of the true break, and a fit may place the break on either side of it.
NEAR = 1.25


@dataclass(frozen=True)
class MtuBreak:
    """The break of a fitted curve that is nearest to a link's MTU, and the lines on both sides.

    ``link`` is the name of the network interface, and ``mtu_bytes`` its MTU. ``at`` is the position of the break in
    bytes with its 95 % interval. ``below`` is the line of smaller messages, ``above`` the line of larger messages.
    """

    link: str
    mtu_bytes: float
    at: Quantity
    below: BoundedLine
    above: BoundedLine


@dataclass(frozen=True)
class NoMtuBreak:
    """The reason why no break of a curve is attributed to an MTU, as a clause for a remark."""

    reason: str


def find_mtu_break(cost: Cost, machine: Machine) -> MtuBreak | NoMtuBreak:
    """Return the break of a curve that an MTU of the job's links explains, or the reason why there is none.

    ``cost`` is the fitted cost of a message against its size, and ``machine`` has the links in ``machine.job``. The
    largest message in one packet is smaller than the MTU by the headers of TCP/IP (at most 80 bytes) and of MPI (at
    most 128 bytes). A break matches if its 95 % interval is within a factor of 1.25 of a size in this range. Of several
    matches, the one with the smallest factor is returned, and of equal ones the one nearest to the MTU on a logarithmic
    scale. A break whose interval spans more than a factor of 2 is ignored. There is no match if any pair of ranks
    shares a node, or if the MTUs are not known.
    """
    reason = _unusable(cost, machine)
    if reason:
        return NoMtuBreak(reason)
    mtus = link_mtus(machine)
    narrow = [index for index, (low, high) in enumerate(cost.bounds.breaks) if high <= WIDEST * low]
    tried = [(_distance(cost, index, mtu), index, link, mtu) for index in narrow for link, mtu in mtus.items()]
    near = [candidate for candidate in tried if candidate[0][0] <= math.log(NEAR)]
    if not near:
        limits = ", ".join(f"{link} = {mtu:,.0f} B" for link, mtu in mtus.items())
        return NoMtuBreak(f"no break of this curve is near an MTU ({limits})")
    _, index, link, mtu = min(near)
    lines = bounded_lines(cost)
    at = Quantity(cost.lines.breaks[index].at_bytes, "B", cost.bounds.breaks[index])
    return MtuBreak(link, mtu, at, lines[index], lines[index + 1])


def _unusable(cost: Cost, machine: Machine) -> str:
    """Return why no MTU can explain any break of the curve, as a clause; "" if one can."""
    pairs = int(cost.params.get("pairs", 1))
    if cost.pairs_between_nodes == 0:
        return "the messages stay within one node and use no link"
    if cost.pairs_between_nodes < pairs:
        return f"only {cost.pairs_between_nodes} of {pairs} pairs send their messages over a link"
    if not link_mtus(machine):
        return "the MTU of the links is not known"
    return "" if cost.lines.breaks else "the curve has no break"


def _distance(cost: Cost, index: int, mtu: float) -> tuple[float, float]:
    """Return how far a break is from an MTU, as two natural logarithms of ratios.

    The first ratio is between the break's interval and the sizes that fill one packet; its logarithm is 0 if they
    overlap. The second ratio is between the break and the MTU.
    """
    low, high = cost.bounds.breaks[index]
    fullest = mtu - _PACKET_HEADERS - LARGEST_HEADER
    outside = max(0.0, math.log(fullest / high), math.log(low / mtu))
    return outside, abs(math.log(cost.lines.breaks[index].at_bytes / mtu))
