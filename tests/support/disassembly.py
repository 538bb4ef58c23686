"""Disassemble nameplate-core, for tests that check the generated code of a kernel."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The installed core is stripped, so it has no function names.
BUILT_CORE = ROOT / "build" / "release" / "nameplate-core"


@cache
def disassembly(core: Path) -> dict[str, list[str]]:
    """Return the instructions of each function, by its demangled name."""
    text = subprocess.run(
        ["objdump", "-d", "-C", "--no-show-raw-insn", core], capture_output=True, text=True, check=True
    ).stdout
    functions: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if match := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            current = functions.setdefault(match[1], [])
        elif line.startswith(" "):
            current.append(line.strip())
    return functions


def inner_loop(instructions: list[str]) -> list[str]:
    """Return the instructions from the target of the last backward jump to that jump."""
    actual = loops(instructions)
    assert actual, "no loop"
    return actual[-1]


def loops(instructions: list[str]) -> list[list[str]]:
    """Return the instructions of each loop, from the target of a backward jump to that jump, in the order of the jumps.

    A loop around others is one of them.
    """
    addresses = [int(line.split(":")[0], 16) for line in instructions]
    bodies = []
    for index, line in enumerate(instructions):
        jump = re.search(r"\tj\w+\s+([0-9a-f]+)", line)
        if jump and int(jump[1], 16) in addresses[:index]:
            bodies.append(instructions[addresses.index(int(jump[1], 16)) : index + 1])
    return bodies
