"""Measure what a sample costs besides its work, from 1 to 1,024 threads: start, reductions, and thread records.

    bench/cost/many_threads.py [SECONDS]     default: 5 s for each number of threads

More threads than CPUs take turns, and a sample lasts 10 ms or longer. "Between" is the median time from the end of a
sample to the start of the next one, in which the coordinator collects the threads' times, encodes them, reads what
disturbed the sample, times the clock's burst, and waits until all threads are ready. "Of 10 ms" is its share of a
sample of the usual length. "Record" is the length of a sample as JSON.

If build/release/nameplate-core-simulated is built, the same is measured with workers that only the results have: this
is the coordinator's part alone, without that of waking threads which have no CPU of their own here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

import msgspec

from nameplate.records.plan_record import Value
from nameplate.records.run_record import Sample

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import measure

THREADS = (1, 2, 16, 64, 256, 1024)
WORK_S = 10e-3
SIMULATED = Path(__file__).parents[2] / "build" / "release" / "nameplate-core-simulated"


def line_of(threads: int, samples: Sequence[Sample]) -> str:
    """Return what the samples of a number of threads cost, as a line."""
    if len(samples) < 2:
        raise SystemExit(f"{threads} threads took fewer than two samples: give more seconds")
    between_s = median(after.start_s - before.start_s - before.elapsed_s for before, after in pairwise(samples))
    length_s = median(sample.elapsed_s for sample in samples)
    return (
        f"  {threads:5} threads: {len(samples):4} samples of {length_s * 1e3:7.1f} ms, "
        f"between {between_s * 1e6:8.0f} µs ({between_s / length_s:6.2%} of a sample, "
        f"{between_s / WORK_S:6.1%} of 10 ms, "
        f"{between_s / threads * 1e6:.2f} µs per thread), record {len(msgspec.json.encode(samples[-1])):,} B"
    )


def main() -> None:
    """Print a line for each number of threads."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    print("memory_stream reading 16 KiB on each thread, samples of 10 ms or longer")
    for threads in THREADS:
        # Loads in the L1 cache: cpu_flops lets the clock settle between samples, which takes 0.3 ms.
        params: dict[str, Value] = {"op": "read", "threads": threads, "size": threads * (16 << 10)}
        print(line_of(threads, measure("memory_stream", params, seconds, WORK_S)[1]), flush=True)
    if SIMULATED.is_file():
        os.environ["NAMEPLATE_CORE"] = str(SIMULATED)
        print("simulated workers, samples of 10 ms")
        for threads in THREADS:
            print(line_of(threads, measure("simulated_team", {"threads": threads}, seconds, WORK_S)[1]), flush=True)


if __name__ == "__main__":
    main()
