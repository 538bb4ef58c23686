"""Time `nameplate history` on a folder of 10,000 runs: the first call, without and with digests, and later ones.

python bench/cost/history.py [RUNS [RUN.jsonl]]      default: measure the plan quick and copy the run 10,000 times

Each copy has a date, one of twenty machines, and times that vary by 1 %. The memory of one machine becomes 4 % slower
from a certain day on.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from nameplate.history.index import index_file

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from run_copies import copy, end_in_order

NAMEPLATE = Path(sys.executable).with_name("nameplate")
MACHINES = 20
SLOW, SLOW_FROM, SLOW_BY = 17, 0.7, 1.04


def fill(folder: Path, run: Path, runs: int) -> int:
    """Write ``runs`` copies of a run without digests, one per machine and day, and return their total size in bytes."""
    lines = [line for line in run.read_bytes().splitlines(keepends=True) if b'"type":"figures"' not in line]
    source = random.Random(1)
    size = 0
    for number in range(runs):
        machine = number % MACHINES
        is_slow = machine == SLOW and number > SLOW_FROM * runs
        content = copy(lines, f"node{machine:02}", number / MACHINES, SLOW_BY if is_slow else 1.0, source)
        size += (folder / f"{number:06}.jsonl").write_bytes(content)
    return size


def timed(*arguments: str) -> tuple[float, str]:
    """Run `nameplate history` in a new process and return its wall time in seconds and its output."""
    start_s = time.perf_counter()
    text = subprocess.run([NAMEPLATE, "history", *arguments], check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - start_s, text


def main() -> None:
    """Time the first call, later calls, and a call after one more run was added."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder_name:
        run = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder_name) / "measured.jsonl"
        if not run.exists():
            subprocess.run([NAMEPLATE, "run", "quick", "--quiet", "-o", run], check=True, stdout=subprocess.DEVNULL)
        folder = Path(folder_name) / "runs"
        folder.mkdir()
        size = fill(folder, run, runs)
        without_s, _ = timed(str(folder))
        print(f"{runs} runs, {size / 1e9:.2f} GB: first call without digests {without_s:.1f} s", flush=True)
        with ProcessPoolExecutor() as pool:
            list(pool.map(end_in_order, sorted(folder.iterdir()), chunksize=50))
        index_file(folder).unlink()
        first_s, _ = timed(str(folder))
        print(f"first call with digests {first_s:.1f} s", flush=True)
        later = sorted(timed(str(folder))[0] for _ in range(5))
        metric = ("memory_stream", "op=triad", "bandwidth", "--machine", f"node{SLOW:02}")
        followed = sorted(timed(str(folder), *metric)[0] for _ in range(5))
        print(f"later calls {later[2]:.2f} s, one metric {followed[2]:.2f} s (medians of 5)")
        (folder / "one-more.jsonl").write_bytes((folder / "000000.jsonl").read_bytes())
        more_s, text = timed(str(folder))
        print(f"with a new run {more_s:.2f} s; all files in the page cache")
        print("\n".join(line for line in text.splitlines() if line.startswith(("SLOWER", "FASTER"))))


if __name__ == "__main__":
    main()
