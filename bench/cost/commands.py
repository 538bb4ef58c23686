"""Measure what using nameplate costs: seconds and peak memory of its commands, in a new process each.

    bench/cost/commands.py [RUN.jsonl ...]     default: measures the plans quick and full first

The commands that read a run are measured with each of the given runs, which are named by their plans. "run" is a run of
one sample of 1 ms, from its start to its end, so the first sample is there earlier. "First" is a call without the
results that an earlier command kept in the user's cache. Each line has the medians of seven calls. The memory is at
least that of this script, since the system counts that of the parent, too.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nameplate.results.run_file import read_beginning

NAMEPLATE = Path(sys.executable).with_name("nameplate")
CALLS = 7
ONE_SAMPLE = ("run", "null", "--rounds", "1", "--samples", "1", "--time", "1ms", "--quiet")


@dataclass(frozen=True)
class Cost:
    """The wall time of a process in seconds, and the largest memory of it or one of its children in bytes."""

    elapsed_s: float
    memory_bytes: int


def cost(command: Sequence[str | Path], folder: Path) -> Cost:
    """Run a command in a folder and return what it cost. Ends the program if the command fails.

    The user's cache is the folder ``cache`` in it.
    """
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    begin_s = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed_s = time.perf_counter() - begin_s
    if status:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(elapsed_s, usage.ru_maxrss << 10)


def print_cost(name: str, command: Sequence[str | Path], folder: Path, is_first: bool = False) -> None:
    """Print the medians of several calls of a command, each without kept results if ``is_first``."""
    costs = []
    for _ in range(CALLS):
        if is_first:
            shutil.rmtree(folder / "cache" / "nameplate" / "results", ignore_errors=True)
        costs.append(cost(command, folder))
    times = sorted(each.elapsed_s for each in costs)
    memory_bytes = statistics.median(each.memory_bytes for each in costs)
    print(f"  {name:22} {times[CALLS // 2]:5.2f} s ({times[0]:.2f} to {times[-1]:.2f}), {memory_bytes / 1e6:4.0f} MB",
          flush=True)  # fmt: skip


def measured(plan: str, folder: Path) -> Path:
    """Measure a plan and return the run file."""
    path = folder / f"{plan}.jsonl"
    cost([NAMEPLATE, "run", plan, "--quiet", "-o", path], folder)
    return path


def main() -> None:
    """Print a line for each command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = [Path(word).resolve() for word in sys.argv[1:]]
        runs = runs or [measured(plan, folder) for plan in ("quick", "full")]
        print(f"medians of {CALLS} calls (all calls)")
        print_cost("python -c pass", [sys.executable, "-c", "pass"], folder)
        print_cost("run, one sample", [NAMEPLATE, *ONE_SAMPLE], folder)
        for run in runs:
            plan = read_beginning(run)[0].plan.name
            print(f"{plan}: {run.stat().st_size / 1e6:.1f} MB")
            print_cost(f"show {plan}, first", [NAMEPLATE, "show", run], folder, is_first=True)
            print_cost(f"show {plan}", [NAMEPLATE, "show", run], folder)
            print_cost(f"report {plan}", [NAMEPLATE, "report", run, "-o", f"{plan}.html"], folder)
            print_cost(f"compare {plan}", [NAMEPLATE, "compare", run, run], folder)


if __name__ == "__main__":
    main()
