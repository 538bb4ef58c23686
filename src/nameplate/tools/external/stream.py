"""Adapter for STREAM (McCalpin, https://www.cs.virginia.edu/stream/), a program that its users compile themselves.

The array size and the number of threads are compiled in; they are read from the output. ImageMagick has a program of
the same name, which the output tells apart.

The average time is read, which is comparable with a median; STREAM's "best rate" is the best of all repeats.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from nameplate.errors import Unreadable
from nameplate.tools.output import Imported, number, only, whole
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

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
    metrics = [
        ComparedMetric(op, "memory_stream",
               {"op": op, "stores": "plain", "threads": threads, "size": size, "precision": "fp64", "pages": "small"},
               "bandwidth", partial(_best, op.capitalize()), take="best")
        for op in ("copy", "scale", "add", "triad")
    ]  # fmt: skip
    words = f"arrays of {size / 1e6:.0f} MB, {threads} thread{'s' if threads > 1 else ''}"
    return [ToolWork(words, [program.path], metrics, threads=threads)]


REFERENCE = ReferenceTool(
    name="stream",
    programs=("stream", "stream_c", "stream_c.exe", "stream.exe"),
    identify=(),
    version=re.compile(r"^STREAM version \$Revision: (\S+) \$$", re.MULTILINE),
    install=(
        "build https://www.cs.virginia.edu/stream/FTP/Code/stream.c as `stream`; apt install hpcc contains a variant"
    ),
    works=_works,
    identify_s=5.0,
)


# The arrays that each kernel reads or writes, as STREAM counts them.
_ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}


def recognises(text: str) -> bool:
    """Return whether an output has the line with STREAM's version."""
    return re.search(r"^STREAM version \$Revision: \S+ \$$", text, re.MULTILINE) is not None


def read(text: str) -> Sequence[Imported]:
    """Return the bandwidths of copy, scale, add and triad in B/s, in this order, computed from the average times.

    They are of the probe memory_stream with the parameters ``op``, ``threads`` (1 if the output has no number),
    ``size`` in bytes of one array, and ``precision``: fp64 for elements of 8 bytes, else fp32.

    Raises:
        Unreadable: the output has changed, or the solution did not validate.
    """
    if "Solution Validates" not in text:
        raise Unreadable("STREAM did not say that its solution validates")
    element = int(number(text, r"^This system uses (\d{1,3}) bytes per array element\.$"))
    size = int(number(text, r"^Array size = (\d{1,15}) \(elements\)")) * element
    threads = re.search(r"^Number of Threads counted = (\d+)$", text, re.MULTILINE)
    common = {
        "threads": whole(threads[1], "the number of threads") if threads else 1,
        "size": size,
        "precision": "fp64" if element == 8 else "fp32",
    }
    return only(
        [
            Imported("memory_stream", {"op": op, **common}, "bandwidth", arrays * size / _average_s(op, text))
            for op, arrays in _ARRAYS.items()
        ],
        "kernels",
    )


def _average_s(op: str, text: str) -> float:
    return number(text, rf"^{op.capitalize()}:\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s*$")
