"""Adapter for iperf 2 (https://sourceforge.net/projects/iperf2/): bulk TCP transfer, one thread per connection.

Over UDP its default is compared: datagrams of 1,470 B at 2²⁰ bit/s, which it prints as 1.05 Mbit/s.
"""

from __future__ import annotations

import re
from functools import partial

from nameplate.records.plan_record import Value
from nameplate.tools.output import number
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

_BLOCK = 128 << 10
_DATAGRAM, DEFAULT_RATE = 1470, 1 << 20
# The line below "Server Report", with what the server received.
_REPORT = r"^\[ *\d+\] +0\.0+-\d+\.\d+ sec +[\d.]+ [KMGT]?Bytes +{} +\d+/\s*\d+ \("


def _rate(connections: int, text: str) -> float:
    who = r"SUM(?:-\d+)?" if connections > 1 else r" *\d+"
    line = "line of the sum" if connections > 1 else "line of a stream"
    return number(text, rf"^\[{who}\] +0\.0+-\d+\.\d+ sec +[\d.]+ [KMGT]?Bytes +([\d.]+) Mbits/sec$", line, 1e6 / 8)


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = setting.programs["iperf"].path
    port = [*(["-V"] if ":" in setting.host else []), "-p", str(setting.port)]
    tcp = [
        ToolWork(
            f"tcp, 128 KiB, {count} connection{'s' if count > 1 else ''}",
            [program, "-c", setting.host, *port, "-t", str(setting.seconds), "-l", str(_BLOCK), "-P", str(count),
             "-f", "m"],
            [ComparedMetric("", "net_stream", {"protocol": "tcp", "block": _BLOCK, "connections": count}, "bandwidth",
                    partial(_rate, count), sample_s=float(setting.seconds))],
            server=[program, "-s", "-B", setting.host, *port, "-l", str(_BLOCK)],
        )
        for count in (1, 4)
    ]  # fmt: skip
    return [*tcp, _udp(setting, program, port)]


def _udp(setting: ToolSetting, program: str, port: list[str]) -> ToolWork:
    params: dict[str, Value] = {"protocol": "udp", "block": _DATAGRAM, "connections": 1, "rate": DEFAULT_RATE}
    return ToolWork(
        "udp, 1470 B, 1.05 Mbit/s",
        [program, "-u", "-c", setting.host, *port, "-t", str(setting.seconds), "-l", str(_DATAGRAM),
         "-b", str(DEFAULT_RATE), "-f", "m"],
        [
            ComparedMetric("bandwidth", "net_stream", params, "bandwidth",
                           partial(_of_report, r"([\d.]+) Mbits/sec +[\d.]+ ms", 1e6 / 8),
                           sample_s=float(setting.seconds)),
            ComparedMetric("jitter", "net_stream", params, "jitter",
                           partial(_of_report, r"[\d.]+ Mbits/sec +([\d.]+) ms", 1e-3),
                           sample_s=float(setting.seconds)),
        ],
        server=[program, "-u", "-s", "-B", setting.host, *port, "-l", str(_DATAGRAM)],
    )  # fmt: skip


def _of_report(pattern: str, factor: float, text: str) -> float:
    return number(text, _REPORT.format(pattern), "line of the server's report", factor)


REFERENCE = ReferenceTool(
    name="iperf",
    programs=("iperf",),
    identify=("--version",),
    version=re.compile(r"^iperf version (2\.\S+)"),
    install="apt install iperf",
    works=_works,
)
