"""Compare disk_block with fio on the same file: same I/O library, flags, queue depth and binding to CPUs.

The two programs of a pair run one after the other, in alternating order. Ratios are nameplate's value divided by fio's.
Pass the number of pairs as the first argument (default 7) and the groups to run as further arguments: direct, bare,
small, large, spread. The group bare needs t/io_uring, which is built with fio but not installed, and its path in
FIO_IO_URING.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nameplate.execution.core_process import CoreProcess, OnRecord
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.records.plan_record import Value
from nameplate.records.run_record import Histogram
from nameplate.statistics.stats import histogram_percentile_s, merged
from nameplate.tools.pairing import measure_pairs, middle_pair

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import asked_pairs, comparison, measure, ratio_of

SECONDS = 2.0
SIZE = 300_000_000 // 4096 // 8 * 4096 * 8
KEEPER = FileDescriptorCache()
CORES = os.sched_getaffinity(0)


@dataclass(frozen=True)
class Metrics:
    """The metrics of one run: operations per second, CPU seconds per operation, and latency percentiles in seconds."""

    iops: float
    cpu_s: float
    p50_s: float
    p99_s: float


def _start(keep: OnRecord) -> CoreProcess:
    return CoreProcess(keep, keeper=KEEPER)


def mine(params: Mapping[str, Value]) -> Metrics:
    """Measure with nameplate, in samples of a quarter of a second."""
    _, samples, _ = measure("disk_block", {"size": SIZE, **params}, SECONDS, SECONDS / 8, _start)
    ops = sum(sample.work.ops for sample in samples)
    counts = merged([sample.histogram for sample in samples if isinstance(sample.histogram, Histogram)])
    return Metrics(
        iops=ops / sum(sample.elapsed_s for sample in samples),
        cpu_s=sum(s.cpu_s for s in samples) / ops,
        p50_s=histogram_percentile_s(counts, 0.5),
        p99_s=histogram_percentile_s(counts, 0.99),
    )


def our_file(kind: object) -> str:
    """Return a path by which fio can open the file that the core created and this process keeps open."""
    content = b"any" if kind == "write" else b"original"
    descriptor = next(number for key, number in KEEPER.files.items() if key.startswith(content))
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def fio_command(options: Mapping[str, str | int]) -> list[str]:
    """Return the fio command that a careful user would write for the same work.

    The buffers are aligned to pages, as nameplate's are. By default they are not, and then a copy from the page cache
    takes 2.5 times as long on Zen 4.
    """
    every: dict[str, str | int] = {
        "name": "bench", "filename": our_file(options["rw"]), "size": SIZE, "runtime": f"{SECONDS:g}", "time_based": 1,
        "norandommap": 1, "randrepeat": 0, "thread": 1, "group_reporting": 1, "invalidate": 0, "iomem_align": 4096,
        "output-format": "json", **options,
    }  # fmt: skip
    if not options.get("direct"):  # nameplate leaves those threads to the scheduler
        every |= {"cpus_allowed": ",".join(map(str, sorted(CORES))), "cpus_allowed_policy": "split"}
    return ["fio", *(f"--{name}={value}" for name, value in every.items())]


def fio(options: Mapping[str, str | int]) -> Metrics:
    """Measure with fio, from the wall time of its job and the CPU shares that it reports."""
    output = subprocess.run(fio_command(options), capture_output=True, text=True, check=True).stdout
    job = json.loads(output[output.index("{") :])["jobs"][0]
    side = job["write" if "write" in str(options["rw"]) else "read"]
    share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    times = side["clat_ns"].get("percentile", {"50.000000": 0, "99.000000": 0})
    return Metrics(
        iops=side["iops"], cpu_s=share * int(options.get("numjobs", 1)) / side["iops"],
        p50_s=times["50.000000"] * 1e-9, p99_s=times["99.000000"] * 1e-9,
    )  # fmt: skip


def compare(name: str, params: Mapping[str, Value], options: Mapping[str, str | int], pairs: int) -> list[str]:
    """Measure pairs of the same work, given as nameplate's parameters and fio's options; return a line per metric."""
    mine(params)  # creates the file and brings it into, or keeps it out of, the page cache
    ours, theirs = measure_pairs(pairs, partial(mine, params), partial(fio, options))

    def line(name: str, metric: Callable[[Metrics], float]) -> str:
        first, second = ([metric(run) for run in side] for side in (ours, theirs))
        if not all(second):
            return ""
        value, its = middle_pair(first, second)
        return f"{name} {value:.4g}, fio {its:.4g}, ratio {ratio_of(first, second)}"

    return [
        f"  {name}:",
        *(f"    {text}" for text in (
            line("op/s", lambda run: run.iops),
            line("CPU us per op", lambda run: run.cpu_s * 1e6),
            line("p50 us", lambda run: run.p50_s * 1e6),
            line("p99 us", lambda run: run.p99_s * 1e6),
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
    """Read 4 KiB blocks at random, bypassing the page cache."""
    for depth, threads in ((1, 1), (32, 1), (32, 2), (32, 4), (32, 8)):
        yield from compare(f"4 KiB, depth {depth}, {threads} threads", *_direct(depth, threads), pairs)


def our_iops(params: Mapping[str, Value]) -> float:
    """Measure with nameplate; return operations per second."""
    return mine(params).iops


def io_uring_of_fio(depth: int) -> float:
    """Return the operations per second of t/io_uring: one of them per call, which was its best on a virtual disk."""
    command = [os.environ["FIO_IO_URING"], f"-d{depth}", "-s1", "-c1", "-p0", "-b4096", f"-r{SECONDS + 1:.0f}"]
    text = subprocess.run([*command, our_file("randread")], capture_output=True, text=True, check=True).stdout
    matches = re.findall(r"^IOPS=([\d.]+)([KM]?),", text, re.MULTILINE)
    return statistics.mean(float(number) * {"": 1.0, "K": 1e3, "M": 1e6}[unit] for number, unit in matches)


def bare(pairs: int) -> Iterator[str]:
    """Read 4 KiB blocks at random, bypassing the page cache, next to fio's own test of what io_uring can do."""
    if "FIO_IO_URING" not in os.environ:
        sys.exit("the group bare needs the path of t/io_uring in FIO_IO_URING: build fio and give its t/io_uring")
    for depth in (1, 32):
        params, _ = _direct(depth, 1)
        mine(params)
        yield comparison(f"depth {depth}", partial(our_iops, params), partial(io_uring_of_fio, depth), pairs, "op/s")


def small(pairs: int) -> Iterator[str]:
    """Read 1 and 8 bytes per system call from the page cache, with and without fio's latency statistics."""
    for block in (1, 8):
        for reduced in (0, 1):
            name = f"{block} B warm pread, fio {'with gtod_reduce' if reduced else 'with latencies'}"
            options = {**PSYNC, "bs": block, "gtod_reduce": reduced}
            yield from compare(name, {"block": block, "threads": 1}, options, pairs)


def large(pairs: int) -> Iterator[str]:
    """Read blocks of 1 and 8 MiB from the page cache and bypassing it, and write blocks of 1 MiB bypassing it."""
    for block in (1 << 20, 8 << 20):
        for cache in ("warm", "direct"):
            params: dict[str, Value] = {"block": block, "threads": 1, "cache": cache}
            options = {**PSYNC, "bs": block, "direct": int(cache == "direct")}
            yield from compare(f"{block >> 20} MiB {cache} read", params, options, pairs)
    params = {"op": "write", "block": 1 << 20, "threads": 1, "cache": "direct"}
    yield from compare("1 MiB direct write", params, {**PSYNC, "rw": "write", "bs": 1 << 20, "direct": 1}, pairs)


def spread(pairs: int) -> Iterator[str]:
    """Measure how much the results of repeated runs of one warm experiment vary."""
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


GROUPS = {"direct": direct, "bare": bare, "small": small, "large": large, "spread": spread}


def main() -> None:
    """Print fio's command line and a line per comparison."""
    pairs = asked_pairs()
    mine({})
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"disk_block and {version}, for example\n  {shlex.join(fio_command(URING))}")
    for name in sys.argv[2:] or list(GROUPS):
        print(f"{name}: {GROUPS[name].__doc__}")
        for line in GROUPS[name](pairs):
            print(line, flush=True)


if __name__ == "__main__":
    main()
