"""memory_stream beside likwid-bench and hpcc's STREAM: the same loop, array size and cores, one after the other.

Each pair runs in an order that alternates. In the comparison with likwid a value is the work of a second's passes over
their time; in that with STREAM it is the best pass of each process. Pass the number of pairs as the first argument
(default 7); with ``--without-hpcc`` the slowest part is left out.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from _pairs import asked_pairs, likwid, measure, ratio_of
from nameplate.records.model import Sample, Value
from nameplate.tools.pairing import measure_pairs

SECONDS = 1.0
UNSURE_S = 0.1
ARRAY_BYTES = 128 << 20
# Our loop, our stores, likwid's kernel of the same traffic, and how many arrays that has.
EXPERIMENTS = (
    ("copy", "plain", "copy", 2),
    ("triad", "plain", "stream", 3),
    ("copy", "plain", "copy_avx512", 2),
    ("triad", "plain", "stream_avx512_fma", 3),
    ("copy", "nontemporal", "copy_mem_avx512", 2),
    ("triad", "nontemporal", "stream_mem_avx512", 3),
    ("write", "nontemporal", "store_mem_avx512", 1),
    ("read", "plain", "load_avx512", 1),
)
THREADS = (1, 2)
# Of each of hpcc's vectors at this order of its matrix and two processes.
HPCC_ORDER = 7100
HPCC_VECTOR_BYTES = 8 * (HPCC_ORDER**2 // 6) // 64 * 64


def rate(op: str, stores: str, threads: int) -> float:
    """B/s over one sample of a second: likwid's threads do not wait for each other between passes either."""
    params: dict[str, Value] = {"op": op, "stores": stores, "threads": threads, "size": ARRAY_BYTES}
    _, samples, _ = measure("memory_stream", params, SECONDS, SECONDS)
    return sum(s.work.bytes for s in samples) / sum(s.elapsed_s for s in samples)


@dataclass(frozen=True)
class Passes:
    """Of one process, one after the other, without the first; ``ended_s`` by the clock that all processes share."""

    samples: list[Sample]
    ended_s: float

    @property
    def began_s(self) -> float:
        """When the first one did, by that clock."""
        return self.ended_s - (self.samples[-1].start_s + self.samples[-1].elapsed_s - self.samples[0].start_s)

    def best(self, begin_s: float, end_s: float) -> float:
        """B/s of the best one within a span of that clock."""
        zero_s = self.began_s - self.samples[0].start_s
        within = [
            s for s in self.samples if begin_s <= zero_s + s.start_s and zero_s + s.start_s + s.elapsed_s <= end_s
        ]
        return max(s.work.bytes / s.elapsed_s for s in within)


def passes(op: str, pages: str, cpu: int) -> Passes:
    """Of one thread on a CPU."""
    os.sched_setaffinity(0, {cpu})  # of this thread, which the core inherits
    params: dict[str, Value] = {"op": op, "stores": "plain", "threads": 1, "size": HPCC_VECTOR_BYTES, "pages": pages}
    _, samples, _ = measure("memory_stream", params, SECONDS)
    return Passes(samples[1:], time.monotonic())


def best_passes(op: str, pages: str, processes: int) -> float:
    """B/s of the best pass of each of so many processes at once, summed: of those while all were at it.

    They do not wait for each other between passes, as StarSTREAM's do not.
    """
    cpus = sorted(os.sched_getaffinity(0))[:processes]
    with ThreadPoolExecutor(processes) as pool:
        found = list(pool.map(partial(passes, op, pages), cpus))
    begin_s, end_s = max(own.began_s for own in found), min(own.ended_s for own in found)
    if end_s - begin_s < SECONDS / 2:  # one began when another had nearly ended
        return best_passes(op, pages, processes)
    # What a process does after its last pass, some 0.1 s, is not known of each apart.
    return sum(own.best(begin_s + UNSURE_S, end_s - UNSURE_S) for own in found)


def beside_likwid(pairs: int) -> None:
    """A line per kernel and number of threads."""
    for op, stores, kernel, arrays in EXPERIMENTS:
        for threads in THREADS:
            other = partial(likwid, kernel, arrays * ARRAY_BYTES, threads, SECONDS, "MByte")
            mine, theirs = measure_pairs(pairs, partial(rate, op, stores, threads), other)
            print(f"  {op} {stores} threads={threads}: {statistics.median(mine) / 1e9:.2f} GB/s, likwid {kernel} "
                  f"{statistics.median(theirs) / 1e9:.2f}, ratio {ratio_of(mine, theirs)}", flush=True)  # fmt: skip


def nontemporal_beside_plain(pairs: int) -> None:
    """The user's bytes of triad with each kind of stores."""
    for threads in THREADS:
        both = measure_pairs(pairs, *(partial(rate, "triad", stores, threads) for stores in ("nontemporal", "plain")))
        print(f"  triad threads={threads}: non-temporal to plain {ratio_of(*both)}", flush=True)


def hpcc() -> dict[str, float]:
    """B/s of hpcc's STREAM: one process alone (Single), and both at once, together (Star)."""
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text(encoding="latin-1")
    # By default of four processes; with fewer it takes a smaller matrix than it is told, and vectors with it.
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
        raise SystemExit(f"hpcc's STREAM has not the size of ours, {HPCC_VECTOR_BYTES // 8} elements: {elements}")
    rates = re.findall(r"^(Single STREAM|Average) (\w+) GB/s ([\d.]+)$", output, re.MULTILINE)
    kinds = {"Single STREAM": ("SingleSTREAM", 1), "Average": ("StarSTREAM", 2)}
    return {f"{kinds[kind][0]}_{op}": float(rate) * 1e9 * kinds[kind][1] for kind, op, rate in rates}


def until_streams_ended(file: Path, running: subprocess.Popen[bytes]) -> str:
    """What hpcc has written by then; the half minute of other benchmarks behind it is not waited for."""
    while running.poll() is None:
        output = file.read_text(encoding="latin-1") if file.exists() else ""
        if "End of SingleSTREAM section." in output and "End of StarSTREAM section." in output:
            return output
        time.sleep(0.2)
    raise SystemExit(f"hpcc ended with {running.returncode} before its STREAM had")


def beside_hpcc(pairs: int) -> None:
    """STREAM's best pass beside ours, on the same kind of pages and on huge ones."""
    experiments = [
        (op, key, threads, pages)
        for op in ("copy", "triad")
        for key, threads in (("SingleSTREAM", 1), ("StarSTREAM", 2))
        for pages in ("small", "huge")
    ]
    bests, references = measure_pairs(
        pairs, lambda: {each: best_passes(each[0], each[3], each[2]) for each in experiments}, hpcc
    )
    for each in experiments:
        op, key, threads, pages = each
        mine = [best[each] for best in bests]
        theirs = [reference[f"{key}_{op.capitalize()}"] for reference in references]
        best, other = (statistics.median(side) / 1e9 for side in (mine, theirs))
        print(f"  {op} processes={threads} pages={pages}: best {best:.2f} GB/s, {key} {other:.2f}, "
              f"ratio {ratio_of(mine, theirs)}", flush=True)  # fmt: skip


def main() -> None:
    """Print a line per experiment."""
    pairs = asked_pairs()
    print(f"memory_stream beside likwid-bench, arrays of {ARRAY_BYTES >> 20} MiB, {pairs} pairs of {SECONDS:g} s each")
    beside_likwid(pairs)
    print("non-temporal beside plain stores")
    nontemporal_beside_plain(pairs)
    if "--without-hpcc" not in sys.argv:
        print(f"memory_stream beside hpcc's STREAM, {HPCC_VECTOR_BYTES / 1e6:.0f} MB a process, {pairs} pairs")
        beside_hpcc(pairs)


if __name__ == "__main__":
    main()
