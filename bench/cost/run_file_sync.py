"""Measure the share of a run's time that it spends in fsync for its run file, which may be at most 0.1 %.

Every fsync of the process is timed during one run of each plan. The run files are in the current directory.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from nameplate.command_line import run

PLANS = (
    ["quick"],
    ["null", "--rounds", "6", "--time", "200ms", "--samples", "100"],
    ["cpu_flops", "--series", "60s/1s"],
)
LIMIT = 0.001


def main() -> int:
    """Print a line per plan; return 1 if a share is above the limit."""
    shares = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        for number, arguments in enumerate(PLANS):
            calls, sync_s, total_s = _timed([*arguments, "--quiet", "-o", str(Path(folder) / f"{number}.jsonl")])
            shares.append(sync_s / total_s)
            print(f"{' '.join(arguments)}: {calls} syncs, {sync_s * 1e3:.1f} ms of {total_s:.1f} s: {shares[-1]:.4%}")
    return int(max(shares) > LIMIT)


def _timed(arguments: list[str]) -> tuple[int, float, float]:
    """Run nameplate and return the number of fsync calls, their total time and the time of the run, in seconds."""
    real = os.fsync
    spent: list[float] = []

    def timed(fd: Any) -> None:
        began = time.monotonic()
        real(fd)
        spent.append(time.monotonic() - began)

    os.fsync = timed
    began = time.monotonic()
    try:
        code = run(["run", *arguments])
    finally:
        os.fsync = real
    if code != 0:
        sys.exit(f"nameplate run {' '.join(arguments)} ended with {code}")
    return len(spent), sum(spent), time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
