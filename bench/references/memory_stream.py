"""Compare memory_stream with likwid-bench and with the STREAM of hpcc: same loop, array size and cores.

The two programs of a pair run one after the other, in alternating order. The comparison with likwid-bench uses the
bandwidth over all passes of 1 s; the comparison with STREAM uses the best pass of each process. Pass the number of
pairs as the first argument (default 7). The option ``--without-hpcc`` leaves out the slowest part.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nameplate.records.plan_record import Value
from nameplate.records.run_record import Sample
from nameplate.tools.pairing import measure_pairs, middle_pair

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import asked_pairs, likwid, measure, ratio_of

SECONDS = 1.0
UNSURE_S = 0.1
ARRAY_BYTES = 128 << 20
WIDEST = "avx512" if "avx512f" in Path("/proc/cpuinfo").read_text() else "avx"
# memory_stream's operation and stores, the likwid-bench kernel with the same traffic, and its number of arrays.
EXPERIMENTS = (
    ("copy", "plain", "copy", 2),
    ("triad", "plain", "stream", 3),
    ("copy", "plain", f"copy_{WIDEST}", 2),
    ("triad", "plain", f"stream_{WIDEST}_fma", 3),
    ("copy", "nontemporal", f"copy_mem_{WIDEST}", 2),
    ("copy", "best", f"copy_mem_{WIDEST}", 2),
    ("triad", "nontemporal", f"stream_mem_{WIDEST}", 3),
    ("write", "nontemporal", f"store_mem_{WIDEST}", 1),
    ("read", "plain", f"load_{WIDEST}", 1),
)
THREADS = (1, 2)
HPCC_ORDER = 7100
# The size of each vector that hpcc allocates for a matrix of this order and two processes.
HPCC_VECTOR_BYTES = 8 * (HPCC_ORDER**2 // 6) // 64 * 64


def rate(op: str, stores: str, threads: int) -> float:
    """Return the bandwidth in B/s of one sample of 1 s.

    It is a single sample because the threads of likwid-bench do not wait for each other between passes either.
    """
    params: dict[str, Value] = {"op": op, "stores": stores, "threads": threads, "size": ARRAY_BYTES}
    _, samples, _ = measure("memory_stream", params, SECONDS, SECONDS)
    return sum(s.work.bytes for s in samples) / sum(s.elapsed_s for s in samples)


@dataclass(frozen=True)
class Passes:
    """The passes of one process without the first one; ``ended_s`` is on the clock that all processes share."""

    samples: list[Sample]
    ended_s: float

    @property
    def began_s(self) -> float:
        """Return when the first pass began, on the shared clock."""
        return self.ended_s - (self.samples[-1].start_s + self.samples[-1].elapsed_s - self.samples[0].start_s)

    def best(self, start_s: float, end_s: float) -> float:
        """Return the bandwidth in B/s of the best pass within a span of the shared clock."""
        zero_s = self.began_s - self.samples[0].start_s
        within = [
            s for s in self.samples if start_s <= zero_s + s.start_s and zero_s + s.start_s + s.elapsed_s <= end_s
        ]
        return max(s.work.bytes / s.elapsed_s for s in within)


def passes(op: str, pages: str, cpu: int) -> Passes:
    """Measure the passes of one thread on a CPU."""
    os.sched_setaffinity(0, {cpu})  # binds this thread only; the core inherits its mask
    params: dict[str, Value] = {"op": op, "stores": "plain", "threads": 1, "size": HPCC_VECTOR_BYTES, "pages": pages}
    _, samples, _ = measure("memory_stream", params, SECONDS)
    return Passes(samples[1:], time.monotonic())


def best_passes(op: str, pages: str, processes: int) -> float:
    """Run several processes at once and return the sum in B/s of the best pass of each, while all of them ran.

    The processes do not wait for each other between passes, like those of StarSTREAM.
    """
    cpus = sorted(os.sched_getaffinity(0))[:processes]
    with ThreadPoolExecutor(processes) as pool:
        passes_of_cpus = list(pool.map(partial(passes, op, pages), cpus))
    start_s, end_s = (
        max(passes_of_cpu.began_s for passes_of_cpu in passes_of_cpus),
        min(passes_of_cpu.ended_s for passes_of_cpu in passes_of_cpus),
    )
    if end_s - start_s < SECONDS / 2:  # one process began when another had nearly ended
        return best_passes(op, pages, processes)
    # The time between a process's last pass and its end is unknown, about 0.1 s.
    return sum(passes_of_cpu.best(start_s + UNSURE_S, end_s - UNSURE_S) for passes_of_cpu in passes_of_cpus)


def compare_with_likwid(pairs: int) -> None:
    """Print a line per likwid-bench kernel and number of threads."""
    for op, stores, kernel, arrays in EXPERIMENTS:
        for threads in THREADS:
            other = partial(likwid, kernel, arrays * ARRAY_BYTES, threads, SECONDS, "MByte")
            mine, theirs = measure_pairs(pairs, partial(rate, op, stores, threads), other)
            nameplate_rate, likwid_rate = (value / 1e9 for value in middle_pair(mine, theirs))
            print(f"  {op} {stores} threads={threads}: {nameplate_rate:.2f} GB/s, likwid {kernel} {likwid_rate:.2f}, "
                  f"ratio {ratio_of(mine, theirs)}", flush=True)  # fmt: skip


def compare_stores(pairs: int) -> None:
    """Print the ratio of triad's bandwidth with non-temporal stores to that with plain stores."""
    for threads in THREADS:
        both = measure_pairs(pairs, *(partial(rate, "triad", stores, threads) for stores in ("nontemporal", "plain")))
        print(f"  triad threads={threads}: non-temporal to plain {ratio_of(*both)}", flush=True)


def hpcc() -> dict[str, float]:
    """Run hpcc's STREAM and return its bandwidths in B/s: one process alone (Single), and the sum of two (Star)."""
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text(encoding="latin-1")
    # The example is for four processes; with fewer, hpcc reduces the order of the matrix and the size of the vectors.
    text = re.sub(r"^2( +Ps)", r"1\1", example, flags=re.MULTILINE)
    text = re.sub(r"^1000( +Ns)", rf"{HPCC_ORDER}\1", text, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hpccinf.txt").write_text(text, encoding="latin-1")
        command = ["mpirun", "--allow-run-as-root", "-n", "2", "hpcc"]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as running:
            output = until_streams_ended(Path(folder, "hpccoutf.txt"), running)
            running.terminate()
    elements = re.search(r"^Array size = (\d+)", output, re.MULTILINE)
    if elements is None or int(elements[1]) // 8 * 64 != HPCC_VECTOR_BYTES:
        raise SystemExit(f"hpcc's STREAM must have {HPCC_VECTOR_BYTES // 8} elements, as memory_stream has: {elements}")
    rates = re.findall(r"^(Single STREAM|Average) (\w+) GB/s ([\d.]+)$", output, re.MULTILINE)
    kinds = {"Single STREAM": ("SingleSTREAM", 1), "Average": ("StarSTREAM", 2)}
    return {f"{kinds[kind][0]}_{op}": float(rate) * 1e9 * kinds[kind][1] for kind, op, rate in rates}


def until_streams_ended(file: Path, running: subprocess.Popen[bytes]) -> str:
    """Return what hpcc has written when its STREAM has ended, without waiting for the benchmarks that follow (30 s)."""
    while running.poll() is None:
        output = file.read_text(encoding="latin-1") if file.exists() else ""
        if "End of SingleSTREAM section." in output and "End of StarSTREAM section." in output:
            return output
        time.sleep(0.2)
    raise SystemExit(f"hpcc exited with {running.returncode} before STREAM had ended")


def compare_with_hpcc(pairs: int) -> None:
    """Print the best passes of STREAM and of memory_stream, the latter on small and on huge pages."""
    experiments = [
        (op, key, threads, pages)
        for op in ("copy", "triad")
        for key, threads in (("SingleSTREAM", 1), ("StarSTREAM", 2))
        for pages in ("small", "huge")
    ]
    bests, references = measure_pairs(
        pairs,
        lambda: {experiment: best_passes(experiment[0], experiment[3], experiment[2]) for experiment in experiments},
        hpcc,
    )
    for op, key, processes, pages in experiments:
        mine = [best[op, key, processes, pages] for best in bests]
        theirs = [reference[f"{key}_{op.capitalize()}"] for reference in references]
        best, other = (value / 1e9 for value in middle_pair(mine, theirs))
        print(f"  {op} processes={processes} pages={pages}: best {best:.2f} GB/s, {key} {other:.2f}, "
              f"ratio {ratio_of(mine, theirs)}", flush=True)  # fmt: skip


def main() -> None:
    """Print a line per comparison."""
    pairs = asked_pairs()
    print(f"memory_stream and likwid-bench, arrays of {ARRAY_BYTES >> 20} MiB, {pairs} pairs of {SECONDS:g} s each")
    compare_with_likwid(pairs)
    print("non-temporal and plain stores")
    compare_stores(pairs)
    if "--without-hpcc" not in sys.argv:
        print(f"memory_stream and hpcc's STREAM, {HPCC_VECTOR_BYTES / 1e6:.0f} MB per process, {pairs} pairs")
        compare_with_hpcc(pairs)


if __name__ == "__main__":
    main()
