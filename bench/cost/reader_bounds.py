"""Measure the time and memory that each reader takes for a hostile file of about 1 MB, in a process per command.

python bench/cost/reader_bounds.py        print the table; exit code 1 if a command takes more than 2 s or 200 MB

Time and memory include the start of the command. The first row is a small valid run, for comparison.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from hostile_files import HEAVY, HOSTILE, SLOW_CALLS
from recorded_runs import unpacked

MAX_S, MAX_MB = 2.0, 200.0
FILES = (*HOSTILE, *HEAVY)


def measure(command: Sequence[str], folder: Path) -> tuple[float, float, int]:
    """Run a command and return its wall time in seconds, its peak resident memory in MB and its exit code."""
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - began, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def show(title: str, command: Sequence[str], folder: Path) -> bool:
    """Measure a command, print its row and return whether it stayed within both limits."""
    elapsed_s, memory_mb, code = measure(command, folder)
    is_within = elapsed_s <= MAX_S and memory_mb <= MAX_MB
    print(f"{title:45}{elapsed_s:8.2f} s{memory_mb:8.0f} MB   exit {code}{'' if is_within else '   above the limit'}")
    return is_within


def main() -> int:
    """Measure every file, print the table and return the exit code."""
    nameplate = [sys.executable, "-m", "nameplate"]
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    within = []
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "x.jsonl").write_bytes(unpacked("mpi_stream"))
        show("(a valid run of 18 kB)", [*nameplate, "show", "x.jsonl"], Path(name))
    for index, file in enumerate(FILES):
        with tempfile.TemporaryDirectory() as name:
            # The peak memory of a new process starts at that of its parent, so another process makes the file.
            made = subprocess.run([sys.executable, __file__, str(index), name], capture_output=True, check=True)
            within.append(show(file.title, [*nameplate, *json.loads(made.stdout)], Path(name)))
    for title, (code, _) in SLOW_CALLS.items():
        within.append(show(title, [sys.executable, "-c", code], Path()))
    return 0 if all(within) else 1


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps([*FILES[int(sys.argv[1])].make(Path(sys.argv[2]))]))
    else:
        sys.exit(main())
