"""Divide each kernel's rate by its ceiling: the ports, the loads and stores, the misses under way, the system's calls.

    bench/limits/limits.py [PAIRS [GROUP ...]]     default: 7 pairs; groups: arithmetic caches memory latency
        calls loopback

On a processor with AVX-512, the kernels that choose their width themselves are measured with AVX2, too, by a program
that has no wider ones (nameplate-core-avx2, which is built).

A ceiling is measured next to the kernel, in alternating order, by a program that does nothing but what limits it
(bench/limits/limits.c, bench/references/memory_latency.c), or computed from what a run of the kernel recorded. Each
line has the median ratio of the pairs with its 95 % interval, the values of the pair that has it, and the source of the
ceiling. x86-64 only."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from nameplate.execution.core_process import CoreProcess, OnRecord
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import Launch
from nameplate.probes import ResolvedExperiment, probe_of
from nameplate.records.plan_record import Value
from nameplate.records.run_record import Sample
from nameplate.tools.pairing import measure_pairs, middle_pair

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from net import bind_clients, core_with_peer, our_server, servers
from pairs import asked_pairs, measure, ratio_of

BENCH = Path(__file__).parent
SECONDS = 0.5
SAMPLE_S = 0.002
LONGER_S = 0.02
TRIES = 10
CACHES = {"L1": 16 << 10, "L2": 256 << 10, "L3": 8 << 20}
MEMORY_BYTES = 256 << 20
LATENCY_BYTES = {"L1": 16 << 10, "L2": 256 << 10, "memory": 512 << 20}
# The most that memory_latency follows at a time. A core with more buffers for misses is not saturated by them.
CHAINS = 16
PORT = 7650
_KEEPER = FileDescriptorCache()
ARRAYS_OF = {"read": 1, "write": 1, "copy": 2, "triad": 3}
WIDTHS = {"avx2": 256, "avx512": 512}
WITHOUT_AVX512 = Path(__file__).parents[2] / "build" / "release" / "nameplate-core-avx2"


@dataclass(frozen=True)
class Limit:
    """A kernel and its ceiling, both in the same unit, and the source of the ceiling."""

    name: str
    unit: str
    scale: float
    kernel: Callable[[], float]
    ceiling: Callable[[], float]
    source: str

    def line(self, pairs: int) -> str:
        """Measure both in pairs and return the row of the table."""
        ours, ceilings = measure_pairs(pairs, self.kernel, self.ceiling)
        values = (f"{value / self.scale:9.4g}" for value in middle_pair(ours, ceilings))
        return f"  {self.name:50} {' '.join(values)} {self.unit:8} {ratio_of(ours, ceilings):22}  {self.source}"


def _start(keep: OnRecord) -> CoreProcess:
    return CoreProcess(keep, keeper=_KEEPER)


def _start_without_avx512(keep: OnRecord) -> CoreProcess:
    return CoreProcess(keep, keeper=_KEEPER, launch=Launch(WITHOUT_AVX512))


def rate(
    probe: str,
    params: dict[str, Value],
    work: Callable[[Sample], float],
    sample_s: float = SAMPLE_S,
    start: Callable[[OnRecord], CoreProcess] = _start,
) -> float:
    """Return the rate that one in twenty samples of a kernel reaches, as of a ceiling."""
    _, samples, _ = measure(probe, params, SECONDS, sample_s, start=start)
    return statistics.quantiles([work(sample) / sample.elapsed_s for sample in samples], n=20)[-1]


def flops(sample: Sample) -> float:
    """Return a sample's floating-point operations."""
    return float(sample.work.flops)


def moved(sample: Sample) -> float:
    """Return a sample's bytes."""
    return float(sample.work.bytes)


def operations(sample: Sample) -> float:
    """Return a sample's operations."""
    return float(sample.work.ops)


def by_ports(probe: str, params: dict[str, Value]) -> float:
    """Return the reference value of a run: ports × width × clock under load.

    A run may have none if the other hardware thread of the core is busy.
    """
    declared = probe_of(probe)
    for _ in range(TRIES):
        outcome, samples, machine = measure(probe, params, SECONDS, SAMPLE_S)
        resolved = ResolvedExperiment(outcome.params, outcome.facts, machine, outcome.labels)
        value = declared.rated(declared.metrics[0], resolved, samples).value
        if value is not None:
            return value
    raise SystemExit(f"{probe} {params} has no reference value in {TRIES} runs")


def plain(programs: Path, kind: str, size: int, threads: int) -> float:
    """Return the rate that one in twenty samples of a loop of limits.c reaches."""
    command = [str(programs / "limits"), kind, str(size), str(threads), str(SECONDS)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def arithmetic(_: Path, isas: list[str]) -> Iterator[Limit]:
    """Yield the arithmetic kernels."""
    for isa in isas:
        for threads in (1, 2):
            params: dict[str, Value] = {"isa": isa, "mix": "fma", "threads": threads}
            yield Limit(f"cpu_flops fma {isa}, {threads} threads", "GFLOP/s", 1e9,
                        partial(rate, "cpu_flops", params, flops), partial(by_ports, "cpu_flops", params),
                        "ports × width × clock under load, both measured in a run of its own")  # fmt: skip


def streams(programs: Path, isas: list[str], size: int, level: str, *, nontemporal: bool = False) -> Iterator[Limit]:
    """Yield STREAM's kernels on arrays that have a size together, for each thread and width of vectors."""
    for isa, threads, (op, arrays) in product(isas, (1, 2), ARRAYS_OF.items()):
        if not (nontemporal and op == "read"):
            start = _start if isa == isas[-1] else _start_without_avx512
            array = size // arrays // 512 * 512 * threads
            params: dict[str, Value] = {"op": op, "size": array, "threads": threads, "unit": "step",
                                        "stores": "nontemporal" if nontemporal else "plain"}  # fmt: skip
            bits = WIDTHS[isa]
            name = f"{'non-temporal ' if nontemporal else ''}{op}"
            for loop, source in plain_loops(op):
                kind = f"{'nt-' if nontemporal else ''}{loop}{bits}"
                compared = "" if loop == op else f" next to {loop}"
                yield Limit(f"memory_stream {name} {level}, {isa}, {threads} threads{compared}", "GB/s", 1e9,
                            partial(rate, "memory_stream", params, moved, start=start),
                            partial(plain, programs, kind, array, threads),
                            f"{arrays} arrays moved by {bits}-bit instructions, {source}")  # fmt: skip


def plain_loops(op: str) -> Iterator[tuple[str, str]]:
    """Yield the names of the loops of limits.c that limit an operation, and what they do besides moving data."""
    yield op, "no arithmetic"
    if op == "read":
        yield "xor", "combined by exclusive or as in the kernel: a core may lower its clock for that"


def caches(programs: Path, isas: list[str]) -> Iterator[Limit]:
    """Yield the kernels on arrays that fit a cache, all arrays together."""
    for level, size in CACHES.items():
        yield from streams(programs, isas, size, level)


def memory(programs: Path, isas: list[str]) -> Iterator[Limit]:
    """Yield the kernels on arrays in memory."""
    yield from streams(programs, isas, MEMORY_BYTES, "memory")
    yield from streams(programs, isas, MEMORY_BYTES, "memory", nontemporal=True)


def chains(size: int, count: int) -> float:
    """Return the loads per second of a number of pointer chains."""
    params: dict[str, Value] = {"size": size, "chains": count}
    return rate("memory_latency", params, operations)


def latency(programs: Path, _: list[str]) -> Iterator[Limit]:
    """Yield dependent loads, and random reads next to the misses that a core has under way."""
    for level, size in LATENCY_BYTES.items():
        yield Limit(f"memory_latency {level}", "M/s", 1e6, partial(typical_chain, size),
                    partial(plain_chase, programs, size), "a plain pointer chase in C, compiled apart")  # fmt: skip
    params: dict[str, Value] = {"op": "read", "pattern": "random", "block": 64, "size": MEMORY_BYTES, "threads": 1}
    yield Limit("memory_block random read, 64 B", "M/s", 1e6, partial(rate, "memory_block", params, operations),
                partial(chains, MEMORY_BYTES, CHAINS),
                f"misses under way: {CHAINS} independent chains")  # fmt: skip


def plain_chase(programs: Path, size: int) -> float:
    """Return the loads per second of the plain pointer chase, by its median sample."""
    command = [str(programs / "chase"), str(size), "huge", str(SECONDS)]
    return 1 / float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def typical_chain(size: int) -> float:
    """Return the loads per second of one chain, by its median sample."""
    _, samples, _ = measure("memory_latency", {"size": size}, SECONDS)
    return statistics.median(sample.work.ops / sample.elapsed_s for sample in samples)


def calls(programs: Path, _: list[str]) -> Iterator[Limit]:
    """Yield small reads from the page cache next to the cheapest call of the system."""
    for block in (8, 4096):
        params: dict[str, Value] = {"op": "read", "block": block, "library": "pread", "cache": "warm", "size": 1 << 20,
                                    "threads": 1, "pattern": "sequential"}  # fmt: skip
        yield Limit(f"disk_block pread, {block} B, page cache", "M/s", 1e6,
                    partial(rate, "disk_block", params, operations), partial(plain, programs, "getppid", 64, 1),
                    "calls of getppid: the way into the kernel and back")  # fmt: skip


def loopback(programs: Path, _: list[str]) -> Iterator[Limit]:
    """Yield streams over the loopback next to the two copies that they need. The group must be the last one."""
    bind_clients()
    with servers(our_server(PORT)):
        for block in (1 << 10, 128 << 10):
            params: dict[str, Value] = {"protocol": "tcp", "block": block}
            stream = partial(rate, "net_stream", params, moved, LONGER_S, partial(core_with_peer, PORT))
            yield Limit(f"net_stream tcp, blocks of {block >> 10} KiB", "GB/s", 1e9, stream,
                        partial(plain, programs, "handover", block, 2),
                        "a copy into and a copy out of a buffer, on two CPUs")  # fmt: skip


GROUPS = {"arithmetic": arithmetic, "caches": caches, "memory": memory, "latency": latency, "calls": calls,
          "loopback": loopback}  # fmt: skip


def main() -> None:
    """Print a line for each kernel."""
    pairs = asked_pairs()
    asked = sys.argv[2:] or list(GROUPS)
    flags = Path("/proc/cpuinfo").read_text()
    isas = [isa for isa, flag in (("avx2", "avx2"), ("avx512", "avx512f")) if flag in flags]
    if not isas:
        sys.exit("this comparison needs a processor with AVX2")
    if len(isas) > 1:
        subprocess.run(["cmake", "--build", WITHOUT_AVX512.parent, "--target", WITHOUT_AVX512.name], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder)
        for name, source in (("limits", "limits.c"), ("chase", "memory_latency.c")):
            subprocess.run(["gcc", "-O2", "-pthread", "-o", programs / name, BENCH / source], check=True)
        print(f"{pairs} pairs; instruction sets: {', '.join(isas)}")
        print(f"  {'kernel':50} {'rate':>9} {'ceiling':>9} {'':8} {'ratio':22}  source of the ceiling")
        for name in asked:
            for limit in GROUPS[name](programs, isas):
                print(limit.line(pairs), flush=True)


if __name__ == "__main__":
    main()
