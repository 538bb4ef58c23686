"""Read mutated files of every kind and show each distinct traceback once; only nameplate's own errors are allowed.

python bench/readers/fuzz_readers.py [CASES [FIRST]]      default: 20,000 cases from case 0; exit code 1 after a
    traceback

A case depends on its number alone, so ``python bench/readers/fuzz_readers.py 1 NUMBER`` reproduces it. The files and
commands are in ``tests/support/mutated_files.py``."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from mutated_files import Rejected, read_case

# A process is replaced after this number of cases, because each report that it reads leaves some memory allocated.
CASES_OF_PROCESS = 500


def read_cases(first: int, cases: int) -> list[tuple[int, Rejected]]:
    """Return the cases that ended with a traceback, with their numbers."""
    read = []
    for number in range(first, first + cases):
        with tempfile.TemporaryDirectory() as folder:
            one = read_case(random.Random(number), Path(folder))
        if one is not None:
            read.append((number, one))
    return read


def main(cases: int = 20_000, first: int = 0) -> int:
    """Read the cases on all CPUs, print each distinct traceback once and return the exit code."""
    began = time.monotonic()
    starts = range(first, first + cases, CASES_OF_PROCESS)
    counts = [min(CASES_OF_PROCESS, first + cases - start) for start in starts]
    seen: Counter[str] = Counter()
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), max_tasks_per_child=1) as pool:
        for start, count, read in zip(starts, counts, pool.map(read_cases, starts, counts), strict=True):
            for number, one in read:
                seen[one.where] += 1
                if seen[one.where] == 1:
                    print(f"case {number}: {one.title}: {' '.join(map(repr, one.command))}\n{one.text}")
            print(f"{start + count - first} cases, {seen.total()} tracebacks", flush=True)
    for where, times in seen.most_common():
        print(f"{times:6} {where}")
    print(f"{cases} cases from {first} in {time.monotonic() - began:.0f} s: {seen.total()} tracebacks")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
