"""disk_block beside fio on the very same file: the same library, flags, depth and cores.

Each pair runs one after the other in an order that alternates; ratios are of operations a second. Pass the number of
pairs as the first argument (default 7); further arguments are groups: direct, small, large, spread.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from _pairs import asked_pairs, measure, ratio_of
from nameplate.execution.core_process import CoreProcess, OnRecord
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.records.model import Histogram, Value
from nameplate.statistics.stats import histogram_percentile_s, merged
from nameplate.tools.pairing import measure_pairs

SECONDS = 2.0
SIZE = 300_000_000 // 4096 // 8 * 4096 * 8
KEEPER = FileDescriptorCache()
CORES = os.sched_getaffinity(0)


@dataclass(frozen=True)
class RunValues:
    """Of one run: operations a second, CPU seconds an operation, and times of single operations in seconds."""

    iops: float
    cpu_s: float
    p50_s: float
    p99_s: float


def _start(keep: OnRecord) -> CoreProcess:
    return CoreProcess(keep, keeper=KEEPER)


def mine(params: Mapping[str, Value]) -> RunValues:
    """Ours, with samples of a quarter of a second."""
    _, samples, _ = measure("disk_block", {"size": SIZE, **params}, SECONDS, SECONDS / 8, _start)
    ops = sum(sample.work.ops for sample in samples)
    counts = merged(sample.histogram for sample in samples if isinstance(sample.histogram, Histogram))
    return RunValues(
        iops=ops / sum(sample.elapsed_s for sample in samples),
        cpu_s=sum(s.counters["cpu_user_s"] + s.counters["cpu_system_s"] for s in samples) / ops,
        p50_s=histogram_percentile_s(counts, 0.5),
        p99_s=histogram_percentile_s(counts, 0.99),
    )


def our_file(kind: object) -> str:
    """The one that the core made and this program keeps, by a name that fio can open."""
    content = b"any" if kind == "write" else b"original"
    descriptor = next(number for key, number in KEEPER.files.items() if key.startswith(content))
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def fio_command(options: Mapping[str, str | int]) -> list[str]:
    """As a careful user of fio would write it.

    Its buffers are aligned to pages as ours are: by default they are not, and then a copy from the page cache takes 2.5
    times as long on Zen 4.
    """
    every: dict[str, str | int] = {
        "name": "bench", "filename": our_file(options["rw"]), "size": SIZE, "runtime": f"{SECONDS:g}", "time_based": 1,
        "norandommap": 1, "randrepeat": 0, "thread": 1, "group_reporting": 1, "invalidate": 0, "iomem_align": 4096,
        "cpus_allowed": ",".join(map(str, sorted(CORES))), "cpus_allowed_policy": "split", "output-format": "json",
        **options,
    }  # fmt: skip
    return ["fio", *(f"--{name}={value}" for name, value in every.items())]


def fio(options: Mapping[str, str | int]) -> RunValues:
    """Theirs; the wall time of its job and the CPU shares it reports."""
    output = subprocess.run(fio_command(options), capture_output=True, text=True, check=True).stdout
    job = json.loads(output[output.index("{") :])["jobs"][0]
    side = job["write" if "write" in str(options["rw"]) else "read"]
    share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    times = side["clat_ns"].get("percentile", {"50.000000": 0, "99.000000": 0})
    return RunValues(
        iops=side["iops"], cpu_s=share * int(options.get("numjobs", 1)) / side["iops"],
        p50_s=times["50.000000"] * 1e-9, p99_s=times["99.000000"] * 1e-9,
    )  # fmt: skip


def beside(name: str, params: Mapping[str, Value], options: Mapping[str, str | int], pairs: int) -> list[str]:
    """Pairs of the same work, and what to print of each metric: our parameters, fio's options."""
    mine(params)  # makes the file, and leaves it in the page cache or out of it
    ours, theirs = measure_pairs(pairs, partial(mine, params), partial(fio, options))

    def line(what: str, metric: Callable[[RunValues], float]) -> str:
        own, other = ([metric(values) for values in side] for side in (ours, theirs))
        if not all(other):
            return ""
        return f"{what} {statistics.median(own):.4g}, fio {statistics.median(other):.4g}, ratio {ratio_of(own, other)}"

    return [
        f"  {name}:",
        *(f"    {text}" for text in (
            line("op/s", lambda values: values.iops),
            line("CPU us per op", lambda values: values.cpu_s * 1e6),
            line("p50 us", lambda values: values.p50_s * 1e6),
            line("p99 us", lambda values: values.p99_s * 1e6),
        ) if text),
    ]  # fmt: skip


URING: Mapping[str, str | int] = {
    "ioengine": "io_uring", "iodepth": 32, "direct": 1, "fixedbufs": 1, "registerfiles": 1, "rw": "randread",
    "bs": 4096,
}  # fmt: skip
PSYNC: Mapping[str, str | int] = {"ioengine": "psync", "rw": "read"}


def _direct(depth: int, threads: int) -> tuple[dict[str, Value], dict[str, str | int]]:
    params: dict[str, Value] = {"pattern": "random", "library": "uring", "depth": depth, "cache": "direct",
                                "threads": threads}  # fmt: skip
    return params, {**URING, "iodepth": depth, "numjobs": threads}


def direct(pairs: int) -> Iterator[str]:
    """4 KiB random reads past the page cache."""
    for depth, threads in ((1, 1), (32, 1), (32, 2), (32, 4), (32, 8)):
        yield from beside(f"4 KiB, depth {depth}, {threads} threads", *_direct(depth, threads), pairs)


def small(pairs: int) -> Iterator[str]:
    """One system call for 1 and for 8 bytes in the page cache, fio with and without its latencies."""
    for block in (1, 8):
        for reduced in (0, 1):
            name = f"{block} B warm pread, fio {'with gtod_reduce' if reduced else 'with latencies'}"
            options = {**PSYNC, "bs": block, "gtod_reduce": reduced}
            yield from beside(name, {"block": block, "threads": 1}, options, pairs)


def large(pairs: int) -> Iterator[str]:
    """Blocks of 1 and 8 MiB, from the page cache and past it."""
    for block in (1 << 20, 8 << 20):
        for cache in ("warm", "direct"):
            params: dict[str, Value] = {"block": block, "threads": 1, "cache": cache}
            options = {**PSYNC, "bs": block, "direct": int(cache == "direct")}
            yield from beside(f"{block >> 20} MiB {cache} read", params, options, pairs)
    params = {"op": "write", "block": 1 << 20, "threads": 1, "cache": "direct"}
    yield from beside("1 MiB direct write", params, {**PSYNC, "rw": "write", "bs": 1 << 20, "direct": 1}, pairs)


def spread(pairs: int) -> Iterator[str]:
    """How far runs of the same warm experiment lie apart."""
    for block in (1, 4096, 1 << 20):
        for library in ("pread", "mmap"):
            medians = []
            for _ in range(pairs):
                params: dict[str, Value] = {
                    "block": block,
                    "threads": 1,
                    "library": library,
                    "size": SIZE,
                }
                _, samples, _ = measure("disk_block", params, 0.5, start=_start)
                medians.append(statistics.median(sample.work.ops / sample.elapsed_s for sample in samples))
            middle = statistics.median(medians)
            apart = statistics.median(abs(value - middle) for value in medians) / middle
            yield f"  warm {library} {block} B: {middle:.4g} op/s, median deviation {apart:.1%}"


GROUPS = {"direct": direct, "small": small, "large": large, "spread": spread}


def main() -> None:
    """Prints fio's command line and a line per comparison."""
    pairs = asked_pairs()
    mine({})
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"disk_block beside {version}, for example\n  {shlex.join(fio_command(URING))}")
    for name in sys.argv[2:] or list(GROUPS):
        print(f"{name}: {GROUPS[name].__doc__}")
        for line in GROUPS[name](pairs):
            print(line, flush=True)


if __name__ == "__main__":
    main()
