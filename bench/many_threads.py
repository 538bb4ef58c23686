"""Measure what a sample costs beside its work, from 1 to 1,024 threads: start, reductions, and the records of threads.

    bench/many_threads.py [SECONDS]     default: 5 s for each number of threads

More threads than CPUs take turns, and a sample lasts 10 ms or longer. "Between" is the median time from the end of a
sample to the start of the next one, in which the coordinator collects the threads' times, encodes them, reads what
disturbed the sample, times the clock's burst, and waits until all threads are ready. "Of 10 ms" is its share of a
sample of the usual length. "Record" is the length of a sample as JSON.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from statistics import median

import msgspec

from _pairs import measure
from nameplate.records.plan_record import Value

THREADS = (1, 2, 16, 64, 256, 1024)
WORK_S = 10e-3


def main() -> None:
    """Print a line for each number of threads."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    print("memory_stream reading 16 KiB on each thread, samples of 10 ms or longer")
    per_thread = []
    for threads in THREADS:
        # Loads in the L1 cache: cpu_flops lets the clock settle between samples, which takes 0.3 ms.
        params: dict[str, Value] = {"op": "read", "threads": threads, "size": threads * (16 << 10)}
        _, samples, _ = measure("memory_stream", params, seconds, WORK_S)
        if len(samples) < 2:
            raise SystemExit(f"{threads} threads took fewer than two samples in {seconds:g} s: give more seconds")
        gaps = [after.start_s - before.start_s - before.elapsed_s for before, after in pairwise(samples)]
        between_s = median(gaps)
        length_s = median(sample.elapsed_s for sample in samples)
        size = len(msgspec.json.encode(samples[-1]))
        per_thread.append(between_s / threads)
        print(
            f"  {threads:5} threads: {len(samples):4} samples of {length_s * 1e3:7.1f} ms, between "
            f"{between_s * 1e6:8.0f} µs ({between_s / length_s:6.2%} of a sample, {between_s / WORK_S:6.1%} of 10 ms), "
            f"record {size:,} B",
            flush=True,
        )
    print(f"  per thread: {', '.join(f'{each * 1e6:.1f}' for each in per_thread)} µs")


if __name__ == "__main__":
    main()
