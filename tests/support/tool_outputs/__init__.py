"""Outputs of other tools with known values: a generator for each tool, in a module with its name.

A generator returns an output as some version of the tool prints it, with what is known about it. It takes all its
choices from a random number generator, so the same seed returns the same output.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from tool_outputs import fio, imb, iperf3, osu, stream
from tool_outputs.truth import Reading, ToolOutput

GENERATORS: Mapping[str, Callable[[random.Random], ToolOutput]] = {
    "fio": fio.generate,
    "iperf3": iperf3.generate,
    "osu": osu.generate,
    "imb": imb.generate,
    "stream": stream.generate,
}


# Half of what can go wrong is among the options of fio.
_ORDER = ("fio", "iperf3", "fio", "osu", "imb", "stream")


def tool_of(number: int) -> str:
    """Return the tool that prints the output with a number."""
    return _ORDER[number % len(_ORDER)]


def generate(number: int) -> ToolOutput:
    """Return the output with a number, which decides its tool and all choices."""
    rng = random.Random(number)
    return _encoded(rng, GENERATORS[tool_of(number)](rng))


def _encoded(rng: random.Random, output: ToolOutput) -> ToolOutput:
    """Return an output sometimes as PowerShell and editors of Windows save it."""
    if rng.random() >= 0.03 or output.content.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return output
    encoding = rng.choice(["utf-16", "utf-8-sig"])
    text = output.content.decode().replace("\r\n", "\n").replace("\n", "\r\n")
    reading = Reading.MAY if output.reading is Reading.MUST else output.reading
    return replace(output, content=text.encode(encoding), reading=reading, kinds=[*output.kinds, encoding], quoted="")
