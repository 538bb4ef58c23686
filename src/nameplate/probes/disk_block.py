"""This probe reads and writes a file block by block.

It measures the bandwidth, and the rate and the times of operations, and shows where the bytes came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes import (
    Metric,
    ParameterChart,
    ParameterSweep,
    Probe,
    Ratio,
    ResolvedExperiment,
    Scaled,
    elapsed,
    moved_bytes,
    operations,
)
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import DisplayUnit, ScreenLine
from nameplate.probes.shared.ceilings import disk_link
from nameplate.probes.shared.disk_tables import tables
from nameplate.probes.shared.percentiles import PERCENTILES, READ_PERCENTILES, WRITE_PERCENTILES
from nameplate.probes.shared.served import evidence, is_device, served_by, source
from nameplate.records.plan_record import Experiment, Value
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample
from nameplate.units import size_text

# A file smaller than this share of the memory fits the page cache.
FITS = 0.9
# The default that the core declares.
DEFAULT_BYTES = 300_000_000
DEFAULT_BLOCK_BYTES = 4096
# If the block size is a multiple of this size, each part of this size carries a stamp.
STAMP_EVERY_BYTES = 4096
# Random operations on smaller blocks are counted, larger ones are measured by their bytes.
SMALL_BYTES = 65536
# The lowest rate at which set-up may write the file.
SLOWEST_BYTES_PER_S = 5e6
# The state of the page cache, and the bytes moved.
_TRAFFIC = ("resident_before_bytes", "resident_after_bytes", "process_read_bytes", "process_write_bytes",
            "device_read_bytes", "device_write_bytes")  # fmt: skip
# Rates of set-up and calibration for files of up to 512 MiB on a virtual device of 2 GB/s; runs correct them.
CACHED_BYTES_PER_S = 2e9
REREAD_BYTES_PER_S = 300e6
WRITTEN_BYTES_PER_S = 1e9
# The operations' time in flight, by Little's law with constant concurrency.
_TIME_IN_FLIGHT = Scaled(elapsed, times=("threads", "depth"))


def _rated(metric: Metric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> Rated:
    if metric.name != "bandwidth":
        return Rated(None, "the link limits the bandwidth, not single operations", can_be_given=False)
    served = served_by(experiment, samples)
    if not is_device(served):
        return Rated(None, f"served by {served}, so the device's reference value does not apply", can_be_given=False)
    return disk_link(experiment.facts["link_bytes_per_s"], experiment.labels.get("link", ""))


def _remarks(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    result = [f"served by {served_by(experiment, samples)}"]
    if experiment.facts["file_bytes"] > FITS * experiment.facts["memory_bytes"]:
        result.append("file larger than the page cache")
    if experiment.facts["unwritten_bytes"] > 0:
        result.append("parts of the file were never written and read as zeros")
    if experiment.params["library"] == "uring" and not experiment.facts["registered_buffers"]:
        result.append("buffers not registered (locked-memory limit)")
    return result


def _work_line(params: Mapping[str, Value]) -> ScreenLine:
    """Return the line of an experiment: operations per second for commits and small random blocks, else the bandwidth.

    Below it are the percentiles of operations, of a mixture those of reads and of writes.
    """
    block, op = int(params["block"]), str(params["op"])
    is_commit = op == "write" and params["sync"] == "each"
    has_queue = params["library"] in ("uring", "libaio")
    durable = {"end": ", fdatasync", "each": ", RWF_DSYNC" if has_queue else ", fdatasync"}
    percent = op.partition(":")[2]
    names = {"readwrite": "read, write back"} | ({op: f"{percent} % read"} if percent else {})
    label = f"{size_text(block)} " + ("commit" if is_commit else f"{params['pattern']} {names.get(op, op)}")
    label += durable.get(str(params["sync"]), "")
    label += f", QD{params['depth']}" if int(params["depth"]) > 1 else ""
    label += f", {params['threads']} threads" if int(params["threads"]) > 1 else ""
    parts = ("read_latency", "write_latency") if percent else ("latency",)
    below = {f"{'latency' if part == 'latency' else part.split('_')[0] + 's'}, p50/p99": (f"{part}_p50", f"{part}_p99")
             for part in parts}  # fmt: skip
    if is_commit or (params["pattern"] == "random" and block < SMALL_BYTES):
        return ScreenLine(label, ("iops",), unit=DisplayUnit("IOPS"), below=below)
    return ScreenLine(label, ("bandwidth",), below=below)


def _size(params: Mapping[str, Value]) -> int:
    return int(params.get("size", DEFAULT_BYTES))


def _setup_s(params: Mapping[str, Value]) -> float:
    """Return the additional time in seconds for a file of this size.

    It is the time to read the file into the cache, once or repeatedly, or to write it out.
    """
    if params.get("cache") == "as-is" and params.get("op", "read") != "write":
        return 0.0
    op, is_first = str(params.get("op", "read")), params.get("pass") == "first" or params.get("cache") == "cold"
    rate = WRITTEN_BYTES_PER_S if op == "write" else REREAD_BYTES_PER_S if is_first else CACHED_BYTES_PER_S
    return _size(params) / rate


def _disk_use(experiments: Sequence[Experiment], rounds: int) -> list[str]:
    """Return lines on the disk space of test files, and on the time for which they are overwritten."""
    files = {
        _file(experiment.params): _size(experiment.params)
        for experiment in experiments
        if "read_device" not in experiment.params
    }
    writing = [experiment for experiment in experiments if experiment.params.get("op", "read") != "read"]
    lines = []
    for directory in dict.fromkeys(directory for directory, *_ in files):
        sizes = [size for file, size in files.items() if file[0] == directory]
        count = f"{len(sizes)} temporary file{'s' if len(sizes) > 1 else ''}"
        lines.append(f"{size_text(sum(sizes))} in {directory}: {count}, removed when the run ends")
    if writing:
        time_s = rounds * sum(experiment.slice_s for experiment in writing)
        lines.append(f"overwritten for at least {time_s:.0f} s at the speed of the disk")
    return lines


def _file(params: Mapping[str, Value]) -> tuple[str, ...]:
    """Return a key that is equal for experiments that use the same file, or set of files; each is created once."""
    op, block = str(params.get("op", "read")), int(params.get("block", DEFAULT_BLOCK_BYTES))
    mixed = "stamped" if block % STAMP_EVERY_BYTES == 0 else "any"
    content = {"read": "original", "readwrite": "original", "write": "any"}.get(op, mixed)
    threads = str(params.get("threads", "")) if params.get("layout") == "file-per-thread" else ""
    return str(params.get("file", ".")), content, str(_size(params)), threads


PROBE = Probe(
    name="disk_block",
    title="Disk block I/O",
    metrics=(
        Ratio("bandwidth", "B/s", "higher", moved_bytes, elapsed),
        Ratio("iops", "op/s", "higher", operations, elapsed),
        Ratio("latency", "s", "lower", _TIME_IN_FLIGHT, operations,
              when=lambda experiment: "rate" not in experiment.params),
        *PERCENTILES,
        *READ_PERCENTILES,
        *WRITE_PERCENTILES,
    ),
    recorded=Recorded(
        unreported=("unwritten_bytes", *_TRAFFIC),
        params=("op", "pattern", "block", "depth", "threads", "cache", "library", "sync"),
        numbers={"depth": 1},
        facts=("file_bytes", "memory_bytes", "registered_buffers", "link_bytes_per_s", "unwritten_bytes", "is_memory",
               "clock_cost_s", "timed_every"),
        counters=_TRAFFIC,
        divisors=("file_bytes", "memory_bytes"),
        later_params={"ends": "work"},
    ),
    defining=("op", "pattern", "block", "threads", "depth"),
    rated=_rated,
    screen=(
        ScreenLine("{block} random {op}, QD{depth}", ("iops",), {"pattern": "random", "cache": "direct"},
                   unit=DisplayUnit("IOPS"), below={"its latency, p50/p99": ("latency_p50", "latency_p99")}),
        ScreenLine("{block} sequential {op}", ("bandwidth",), {"pattern": "sequential", "cache": "direct"}),
    ),
    work_line=_work_line,
    quick=(
        ParameterSweep({"op": "read", "block": "4KiB", "pattern": "random", "cache": "direct", "library": "uring",
               "depth": "32"}, slice_s=0.1, sample_s=0.01),
        ParameterSweep({"op": "read", "block": "1MiB", "cache": "direct,warm"}, slice_s=0.1, sample_s=0.01),
        ParameterSweep({"op": "write", "block": "1MiB", "sync": "end"}, slice_s=0.1, sample_s=0.03),
    ),
    full=(
        ParameterSweep({"op": "read,write,readwrite", "pattern": "sequential,random", "block": "1,1KiB,1MiB",
               "threads": "1,2"}, slice_s=0.1, sample_s=0.02),
        ParameterSweep({"op": "read", "pattern": "random", "block": "4KiB",
                       "library": "stdio,posix,pread,mmap,uring,libaio",
               "cache": "warm,cold"}, slice_s=0.1, sample_s=0.02),
        ParameterSweep({"op": "read", "pattern": "random", "block": "4KiB", "library": "uring", "cache": "direct",
               "depth": "1,2,4,8,16,32,64", "threads": "1,2"}, slice_s=0.1, sample_s=0.05),
        ParameterSweep({"op": "read", "block": "64KiB,1MiB,8MiB", "cache": "cold,direct"}, slice_s=0.2, sample_s=0.05),
        ParameterSweep({"op": "write", "block": "1MiB", "sync": "none,end"}, slice_s=0.3, sample_s=0.05),
        ParameterSweep({"op": "write", "block": "4KiB,1MiB", "cache": "direct"}, slice_s=0.5, sample_s=0.1),
    ),
    sweep=(
        ParameterSweep({"op": "read", "pattern": "random", "block": "4KiB", "library": "uring", "depth": "1,32",
               "cache": "direct"}, slice_s=0.2, sample_s=0.05),
        ParameterSweep({"op": "read", "block": "4KiB,1MiB", "cache": "warm,cold,direct"}, slice_s=0.2, sample_s=0.05),
        ParameterSweep({"op": "write", "block": "4KiB,1MiB", "sync": "none,end"}, slice_s=0.2, sample_s=0.05),
        ParameterSweep({"op": "write", "block": "4KiB,1MiB", "cache": "direct"}, slice_s=0.2, sample_s=0.05),
    ),
    sweep_with=frozenset({"file", "size", "threads", "layout"}),
    overhead_s=0.09,
    setup_s=_setup_s,
    remarks=_remarks,
    evidence=evidence,
    source=source,
    along=(
        ParameterChart("bandwidth", "block",
              "The cost of each call limits small blocks; the device or the page cache limits large ones. The "
              "bandwidth should rise with the block size and level off. If it stays low for large blocks, the device "
              "is slow or the provider limits it."),
        ParameterChart("latency", "block",
              "The time of one operation is constant while the cost of a call dominates, and then rises with the "
              "block size. If it is high at the smallest block, each call reaches the device or is made durable."),
        ParameterChart("bandwidth", "library",
              "The same work through different system calls. The libraries differ where the cost of a call matters, "
              "with small blocks from the page cache, and agree where the device is the limit. A library far behind "
              "the others copies or buffers the data."),
        ParameterChart("iops", "depth",
              "Operations per second by number of operations in flight. The rate should rise until the device is "
              "saturated. If it is constant from the start, the device, or something in front of it, handles one "
              "operation at a time."),
    ),
    disk_use=_disk_use,
    longest_setup_s=lambda params: _size(params) / SLOWEST_BYTES_PER_S,
    tables=lambda by_probe, _: tables(by_probe["disk_block"]),
)  # fmt: skip
