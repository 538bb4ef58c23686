"""Measure the time and memory of `nodes`, `show`, `report` and `check` on a folder with the runs of 10,000 machines.

python bench/cost/many_machines.py [MACHINES [RUN.jsonl]]      default: measure the plan quick and copy the run

One machine in a hundred has a memory that is 10 % slower. The files have digests and are in the page cache.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from run_copies import copy, end_in_order

NAMEPLATE = Path(sys.executable).with_name("nameplate")
SLOW_EVERY, SLOW_BY = 100, 1.1


def timed(*arguments: str) -> tuple[float, float, str]:
    """Run nameplate in a new process; return its time in s, its peak memory in MB, and its output."""
    start_s = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([NAMEPLATE, *arguments], stdout=output, stderr=output)
        _, _, usage = os.wait4(process.pid, 0)
        output.seek(0)
        return time.perf_counter() - start_s, usage.ru_maxrss / 1e3, output.read().decode()


def main() -> None:
    """Write the files and time each command once."""
    machines = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder_name:
        run = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder_name) / "measured.jsonl"
        if not run.exists():
            subprocess.run([NAMEPLATE, "run", "quick", "--quiet", "-o", run], check=True, stdout=subprocess.DEVNULL)
        lines = [line for line in run.read_bytes().splitlines(keepends=True) if b'"type":"figures"' not in line]
        folder, source = Path(folder_name) / "runs", random.Random(1)
        folder.mkdir()
        size = 0
        for number in range(machines):
            slower = SLOW_BY if number % SLOW_EVERY == 0 else 1.0
            content = copy(lines, f"node{number:05}", number / machines, slower, source)
            size += (folder / f"node{number:05}.jsonl").write_bytes(content)
        with ProcessPoolExecutor() as pool:
            list(pool.map(end_in_order, sorted(folder.iterdir()), chunksize=50))
        print(f"{machines} machines, {size / 1e9:.2f} GB")
        page = Path(folder_name, "report.html")
        for command in (["nodes", folder], ["show", folder], ["report", folder, "-o", page]):
            took_s, megabytes, text = timed(*map(str, command))
            print(f"{command[0]}: {took_s:.1f} s, {megabytes:.0f} MB; {text.strip().splitlines()[0][:90]}", flush=True)
        print(f"the report has {page.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
