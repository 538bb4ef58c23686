"""Measure what using nameplate costs: wall and CPU time and peak memory of its commands, in a new process each.

    bench/cost/commands.py [RUN.jsonl ...]     default: measures the plans quick and full first

The commands that read a run are measured with each of the given runs, which are named by their plans. "run" is a run of
one sample of 1 ms, from its start to its end, so the first sample is there earlier. "First" is a call without the
results that an earlier command kept in the user's cache. Each line has the medians of 31 calls, or of seven for the
reports, and their ratio to those of "python -c pass", with which the calls alternate. On a busy machine the CPU time
repeats better. As in an installed package, all bytecode is compiled before. The memory is at least that of this script,
since the system counts that of the parent, too.
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

from nameplate.results.run_file import read_header

NAMEPLATE = Path(sys.executable).with_name("nameplate")
PASS = (sys.executable, "-c", "pass")
CALLS, CALLS_OF_REPORT = 31, 7
ONE_SAMPLE = ("run", "null", "--rounds", "1", "--samples", "1", "--time", "1ms", "--quiet")


@dataclass(frozen=True)
class Cost:
    """The wall time and the CPU time of a process in seconds, and the largest memory of it or one of its children."""

    elapsed_s: float
    cpu_s: float
    memory_bytes: int


def cost(command: Sequence[str | Path], folder: Path) -> Cost:
    """Run a command in a folder and return what it cost. Ends the program if the command fails.

    Exit code 4 is no failure: the other work of a shared machine may have slowed down a run, which is then not judged.

    The user's cache is the folder ``cache`` in it, and Python's bytecode is in ``bytecode``.
    """
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start_s = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed_s = time.perf_counter() - start_s
    if os.waitstatus_to_exitcode(status) not in {0, 4}:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(elapsed_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def print_cost(
    name: str, command: Sequence[str | Path], folder: Path, calls: int = CALLS, is_first: bool = False
) -> None:
    """Print the medians of several calls of a command, each without kept results if ``is_first``."""
    cost(command, folder)  # compiles the bytecode
    costs, costs_of_pass = [], []
    for _ in range(calls):
        if is_first:
            shutil.rmtree(folder / "cache" / "nameplate" / "results", ignore_errors=True)
        costs_of_pass.append(cost(PASS, folder))
        costs.append(cost(command, folder))
    wall = [statistics.median(call.elapsed_s for call in group) for group in (costs, costs_of_pass)]
    cpu = [statistics.median(call.cpu_s for call in group) for group in (costs, costs_of_pass)]
    memory_bytes = statistics.median(call.memory_bytes for call in costs)
    print(
        f"  {name:22} {wall[0]:6.3f} s ({min(call.elapsed_s for call in costs):.3f} or more), "
        f"{wall[0] / wall[1]:5.1f} ×, CPU {cpu[0]:6.3f} s, {cpu[0] / cpu[1]:5.1f} ×, {memory_bytes / 1e6:4.0f} MB",
        flush=True,
    )


def measured(plan: str, folder: Path) -> Path:
    """Measure a plan and return the run file."""
    path = folder / f"{plan}.jsonl"
    cost([NAMEPLATE, "run", plan, "--quiet", "-o", path], folder)
    return path


def main() -> None:
    """Print a line for each command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("medians, and their ratios to those of python -c pass")
        print_cost("python -c pass", PASS, folder)
        for option in ("--version", "--help"):
            print_cost(option, [NAMEPLATE, option], folder)
        for command in ("show", "run"):
            print_cost(f"{command} --help", [NAMEPLATE, command, "--help"], folder)
        print_cost("run, one sample", [NAMEPLATE, *ONE_SAMPLE], folder)
        runs = [Path(argument).resolve() for argument in sys.argv[1:]]
        runs = runs or [measured(plan, folder) for plan in ("quick", "full")]
        for run in runs:
            plan = read_header(run)[0].plan.name
            print(f"{plan}: {run.stat().st_size / 1e6:.1f} MB")
            print_cost(f"show {plan}, first", [NAMEPLATE, "show", run], folder, CALLS_OF_REPORT, is_first=True)
            print_cost(f"show {plan}", [NAMEPLATE, "show", run], folder)
            print_cost(f"report {plan}", [NAMEPLATE, "report", run, "-o", f"{plan}.html"], folder, CALLS_OF_REPORT)
            print_cost(f"compare {plan}", [NAMEPLATE, "compare", run, run], folder, CALLS_OF_REPORT)


if __name__ == "__main__":
    main()
