"""iperf3 (https://software.es.net/iperf/): bulk transfer, as its receiver counts. Before 3.16 it has one thread."""

from __future__ import annotations

import re

import msgspec

from nameplate.errors import Unreadable
from nameplate.tools.references import LOOPBACK, ComparedMetric, ReferenceTool, ToolSetting, ToolWork, decoded, positive

_TCP_BLOCK, _UDP_BLOCK = 128 << 10, 1024


class _Udp(msgspec.Struct):
    bits_per_second: float
    lost_packets: int
    packets: int


class _Stream(msgspec.Struct):
    udp: _Udp | None = None


class _Sum(msgspec.Struct):
    bits_per_second: float


class _End(msgspec.Struct):
    streams: list[_Stream]
    sum_received: _Sum | None = None


class _Output(msgspec.Struct):
    end: _End


def _tcp(text: str) -> float:
    received = decoded(text, _Output).end.sum_received
    if received is None:
        raise Unreadable("no sum_received")
    return positive(received.bits_per_second, 1 / 8)


def _udp(text: str) -> float:
    streams = decoded(text, _Output).end.streams
    udp = streams[0].udp if streams else None
    if udp is None or udp.packets <= 0:
        raise Unreadable("no datagrams of a stream")
    return positive(udp.bits_per_second * (1 - udp.lost_packets / udp.packets), 1 / 8)


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = setting.found["iperf3"].path
    # One sample, as it is one transfer: a congestion control that paces (BBR) begins anew after each pause.
    length_s = float(setting.seconds)
    port = ["-p", str(setting.port)]
    client = [program, "-c", LOOPBACK, *port, "-t", str(setting.seconds), "-J"]
    server = [program, "-s", "-B", LOOPBACK, *port]
    tcp = ComparedMetric(
        "", "net_stream", {"protocol": "tcp", "block": _TCP_BLOCK}, "bandwidth", _tcp, sample_s=length_s
    )
    udp = ComparedMetric(
        "", "net_stream", {"protocol": "udp", "block": _UDP_BLOCK}, "bandwidth", _udp, sample_s=length_s
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
