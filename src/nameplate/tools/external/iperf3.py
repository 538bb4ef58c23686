"""Adapter for iperf3 (https://software.es.net/iperf/): bulk transfer, single-threaded before version 3.16.

What the receiver counted is read from the output of ``iperf3 --json``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.numbers import AtLeastOne, Count, Real
from nameplate.tools.output import Imported, decoded, positive
from nameplate.tools.reference_tool import LOOPBACK, ComparedMetric, ReferenceTool, ToolSetting, ToolWork

_TCP_BLOCK, _UDP_BLOCK = 128 << 10, 1024


class _Test(msgspec.Struct):
    protocol: str
    num_streams: AtLeastOne
    blksize: AtLeastOne
    reverse: int = 0
    bidir: int = 0


class _Start(msgspec.Struct):
    test_start: _Test


class _Udp(msgspec.Struct):
    bits_per_second: Real
    lost_packets: Count = 0
    packets: Count = 0


class _Stream(msgspec.Struct):
    udp: _Udp | None = None


class _Sum(msgspec.Struct):
    bits_per_second: Real
    lost_packets: Count = 0
    packets: Count = 0


class _End(msgspec.Struct):
    streams: list[_Stream] = []
    sum_received: _Sum | None = None
    sum: _Sum | None = None


class _Output(msgspec.Struct):
    start: _Start
    end: _End


def _tcp_of_run(text: str) -> float:
    received = decoded(text, _Output).end.sum_received
    if received is None:
        raise Unreadable("no sum_received")
    return positive(received.bits_per_second, 1 / 8)


def _udp_of_run(text: str) -> float:
    streams = decoded(text, _Output).end.streams
    udp = streams[0].udp if streams else None
    if udp is None or udp.packets <= 0:
        raise Unreadable("no datagrams of a stream")
    return positive(udp.bits_per_second * (1 - udp.lost_packets / udp.packets), 1 / 8)


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = setting.found["iperf3"].path
    # One sample, as iperf3 makes one transfer: a congestion control that paces (BBR) starts again after each pause.
    length_s = float(setting.seconds)
    port = ["-p", str(setting.port)]
    client = [program, "-c", LOOPBACK, *port, "-t", str(setting.seconds), "-J"]
    server = [program, "-s", "-B", LOOPBACK, *port]
    tcp = ComparedMetric(
        "", "net_stream", {"protocol": "tcp", "block": _TCP_BLOCK}, "bandwidth", _tcp_of_run, sample_s=length_s
    )
    udp = ComparedMetric(
        "", "net_stream", {"protocol": "udp", "block": _UDP_BLOCK}, "bandwidth", _udp_of_run, sample_s=length_s
    )
    return [
        ToolWork("tcp, 128 KiB, 1 connection", [*client, "-l", str(_TCP_BLOCK)], [tcp], server=server),
        ToolWork("udp, 1 KiB, as fast as possible", [*client, "-l", str(_UDP_BLOCK), "-u", "-b", "0"], [udp],
             server=server),
    ]  # fmt: skip


REFERENCE = ReferenceTool(
    name="iperf3",
    programs=("iperf3",),
    identify=("--version",),
    version=re.compile(r"^iperf (3\.\S+)"),
    install="apt install iperf3",
    works=_works,
)


def recognises(text: str) -> bool:
    """Return whether a text is the JSON output of iperf3, judged by its first 8 KiB."""
    head = text[:8192]
    return '"version"' in head and "iperf 3" in head and '"connected"' in head


def read(text: str) -> Sequence[Imported]:
    """Return one value: the bandwidth of all streams together in B/s, without lost datagrams.

    It is of the probe net_stream with the parameters ``protocol`` ("tcp" or "udp"), ``direction`` ("down" with
    --reverse, else "up"), ``connections`` and ``block`` in bytes.

    Raises:
        Unreadable: the output has changed, is of a bidirectional test, or has no data that arrived.
    """
    output = decoded(text, _Output)
    test = output.start.test_start
    if test.bidir:
        raise Unreadable("--bidir: the output has two bandwidths; measure each direction by itself")
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
    """Return the bandwidth without lost datagrams, which iperf3 counts as sent."""
    if end.sum is None or end.sum.packets <= 0:
        raise Unreadable("no datagrams")
    return end.sum.bits_per_second * (1 - end.sum.lost_packets / end.sum.packets)
