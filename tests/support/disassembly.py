"""The generated code of nameplate-core, for tests that look at what a kernel became."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The installed one has no function names left.
BUILT_CORE = ROOT / "build" / "release" / "nameplate-core"


@cache
def disassembly(core: Path) -> dict[str, list[str]]:
    """Instructions by demangled function name."""
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
    """From the target of the last backward jump up to it."""
    addresses = [int(line.split(":")[0], 16) for line in instructions]
    for index in range(len(instructions) - 1, -1, -1):
        jump = re.search(r"\tj\w+\s+([0-9a-f]+)", instructions[index])
        if jump and int(jump[1], 16) in addresses and addresses.index(int(jump[1], 16)) < index:
            return instructions[addresses.index(int(jump[1], 16)) : index + 1]
    raise AssertionError("no loop")
