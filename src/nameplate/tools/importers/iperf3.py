"""iperf3 --json: what the receiver counted."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.model import AtLeastOne, Count, Real
from nameplate.tools.importers import Imported
from nameplate.tools.references import decoded, positive


class _Test(msgspec.Struct):
    protocol: str
    num_streams: AtLeastOne
    blksize: AtLeastOne
    reverse: int = 0
    bidir: int = 0


class _Start(msgspec.Struct):
    test_start: _Test


class _Sum(msgspec.Struct):
    bits_per_second: Real
    lost_packets: Count = 0
    packets: Count = 0


class _End(msgspec.Struct):
    sum_received: _Sum | None = None
    sum: _Sum | None = None


class _Output(msgspec.Struct):
    start: _Start
    end: _End


def recognises(text: str) -> bool:
    """By what its first part holds."""
    head = text[:8192]
    return '"version"' in head and "iperf 3" in head and '"connected"' in head


def read(text: str) -> Sequence[Imported]:
    """The bandwidth of all streams together. Raises Unreadable."""
    output = decoded(text, _Output)
    test = output.start.test_start
    if test.bidir:
        raise Unreadable("--bidir: its two directions are not one figure")
    params = {
        "protocol": test.protocol.lower(),
        "direction": "down" if test.reverse else "up",
        "connections": test.num_streams,
        "block": test.blksize,
    }
    bits = _tcp(output.end) if params["protocol"] == "tcp" else _udp(output.end)
    return [Imported("net_stream", params, "bandwidth", positive(bits, 1 / 8))]


def _tcp(end: _End) -> float:
    if end.sum_received is None:
        raise Unreadable("no sum_received")
    return end.sum_received.bits_per_second


def _udp(end: _End) -> float:
    """Without what was lost: iperf3 counts that as sent."""
    if end.sum is None or end.sum.packets <= 0:
        raise Unreadable("no datagrams")
    return end.sum.bits_per_second * (1 - end.sum.lost_packets / end.sum.packets)
