"""Adapter for iperf 2 (https://sourceforge.net/projects/iperf2/): bulk TCP transfer, one thread per connection."""

from __future__ import annotations

import re
from functools import partial

from nameplate.tools.output import number
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

_BLOCK = 128 << 10


def _rate(connections: int, text: str) -> float:
    who = r"SUM(?:-\d+)?" if connections > 1 else r" *\d+"
    line = "line of the sum" if connections > 1 else "line of a stream"
    return number(text, rf"^\[{who}\] +0\.0+-\d+\.\d+ sec +[\d.]+ [KMGT]?Bytes +([\d.]+) Mbits/sec$", line, 1e6 / 8)


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = setting.programs["iperf"].path
    port = [*(["-V"] if ":" in setting.host else []), "-p", str(setting.port)]
    return [
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


REFERENCE = ReferenceTool(
    name="iperf",
    programs=("iperf",),
    identify=("--version",),
    version=re.compile(r"^iperf version (2\.\S+)"),
    install="apt install iperf",
    works=_works,
)
