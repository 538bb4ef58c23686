"""Compare the cache sizes that many runs of memory_latency find with the sizes that the system lists for one core.

Arguments: the number of runs (default 20) and the budget of each (default 60s).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from nameplate.execution.core_process import read_machine
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.units import size_text

RUNS = 20
BUDGET = "60s"


def levels(budget: str) -> dict[str, tuple[float, tuple[float, float]]]:
    """Measure memory_latency once and return the size of each cache level, with its interval, by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        subprocess.run(
            [sys.executable, "-m", "nameplate", "run", "memory_latency", "--budget", budget, "-o", path, "--quiet"],
            check=True,
        )
        rows = [result.summary for result in summarise(read_run(path)).results]
    return {
        row.metric.removesuffix("_size"): (row.value, row.ci)
        for row in rows
        if row.stop == "derived" and row.metric.endswith("_size") and row.value and row.ci
    }


def main() -> None:
    """Print a line per run, and how often the interval of each level contains the listed size."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    budget = sys.argv[2] if len(sys.argv) > 2 else BUDGET
    caches = [c for c in read_machine().topology.caches if c.type != "instruction"]
    listed = {("l1d" if c.level == 1 else f"l{c.level}"): c.size_bytes for c in caches}
    rows = []
    for number in range(runs):
        one = levels(budget)
        rows.append(one)
        arguments = [
            f"{name} {size_text(size)} ({size_text(ci[0])} to {size_text(ci[1])})" for name, (size, ci) in one.items()
        ]
        print(f"  run {number + 1}: {', '.join(arguments)}", flush=True)
    for name, size in listed.items():
        with_it = [one[name] for one in rows if name in one]
        inside = sum(ci[0] <= size <= ci[1] for _, ci in with_it)
        widths = [(ci[1] - ci[0]) / 2 / value for value, ci in with_it]
        width = (
            f"median half width {statistics.median(widths):.1%}, at most {max(widths):.1%}" if widths else "never found"
        )
        print(f"{name}: listed {size_text(size)}, inside the interval in {inside} of {runs}; {width}")


if __name__ == "__main__":
    main()
