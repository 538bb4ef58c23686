"""STREAM (McCalpin, https://www.cs.virginia.edu/stream/): a program that everybody compiles for himself.

Size and threads are what the binary was built with, and are taken from its output. ImageMagick has a program of the
same name; it does not say what STREAM says.
"""

from __future__ import annotations

import re
from functools import partial

from nameplate.errors import Unreadable
from nameplate.tools.references import ComparedMetric, ReferenceTool, ToolSetting, ToolWork, number

_ELEMENTS = r"^Array size = (\d+) \(elements\), Offset = 0 \(elements\)$"
_BYTES = r"^This system uses (\d+) bytes per array element\.$"


def _best(kernel: str, text: str) -> float:
    if "Solution Validates" not in text:
        raise Unreadable("STREAM did not say that its solution validates")
    return number(text, rf"^{kernel}:\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s*$", 1e6)


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = next(iter(setting.found.values()))
    counted = re.search(r"^Number of Threads counted = (\d+)$", program.text, re.MULTILINE)
    threads = int(counted[1]) if counted else 1
    size = int(number(program.text, _ELEMENTS) * number(program.text, _BYTES))
    figures = [
        ComparedMetric(op, "memory_stream",
               {"op": op, "stores": "plain", "threads": threads, "size": size, "precision": "fp64", "pages": "small"},
               "bandwidth", partial(_best, op.capitalize()), take="best")
        for op in ("copy", "scale", "add", "triad")
    ]  # fmt: skip
    words = f"arrays of {size / 1e6:.0f} MB, {threads} thread{'s' if threads > 1 else ''}"
    return [ToolWork(words, [program.path], figures, threads=threads)]


REFERENCE = ReferenceTool(
    name="stream",
    programs=("stream", "stream_c", "stream_c.exe", "stream.exe"),
    identify=(),
    version=re.compile(r"^STREAM version \$Revision: (\S+) \$$", re.MULTILINE),
    install="build https://www.cs.virginia.edu/stream/FTP/Code/stream.c as `stream`; apt install hpcc has one inside",
    works=_works,
    identify_s=5.0,
)
