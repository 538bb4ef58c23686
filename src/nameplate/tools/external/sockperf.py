"""Adapter for sockperf (https://github.com/Mellanox/sockperf): round trips; sockperf prints half of their time."""

from __future__ import annotations

import re

from nameplate.tools.output import number
from nameplate.tools.reference_tool import ComparedMetric, NotMeasurable, ReferenceTool, ToolSetting, ToolWork

_BYTES = 64


def _median(text: str) -> float:
    return number(text, r"^sockperf: ---> percentile 50\.000 =\s+([\d.]+)$", "line percentile 50", 2e-6)


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = setting.programs["sockperf"].path
    where = ["-i", setting.host, "-p", str(setting.port)]
    works = []
    for protocol in ("tcp", "udp"):
        options = ["--tcp"] if protocol == "tcp" else []
        ours = {"protocol": protocol, "payload": _BYTES, "wait": "block"}
        works.append(
            ToolWork(
                f"{protocol} round trip, 64 B, median",
                [program, "ping-pong", *where, "-m", str(_BYTES), "-t", str(setting.seconds), *options],
                [ComparedMetric("", "net_pingpong", ours, "latency_p50", _median, sample_s=0.25)],
                server=[program, "server", *where, *options],
            )
        )
    return works


REFERENCE = ReferenceTool(
    name="sockperf",
    programs=("sockperf",),
    identify=("--version",),
    version=re.compile(r"^sockperf, version (\S+)", re.MULTILINE),
    install="apt install sockperf",
    works=_works,
    cannot=(NotMeasurable("net_pingpong", "payload=1", "its smallest message is 14 B"),),
)
