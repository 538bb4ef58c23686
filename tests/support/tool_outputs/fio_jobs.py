"""Jobs of fio with known parameters, harmless options, and options that change the work."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nameplate.records.plan_record import Value
from tool_outputs.truth import Reading, Remark

_HARMLESS: Mapping[str, Sequence[str]] = {
    "filename": ["/mnt/test/data", "/dev/nvme0n1", "bench \\\"a\\\""], "size": ["1g", "100%", "16m"],
    "runtime": ["30", "60s"], "time_based": ["", "1"], "ramp_time": ["5", "2s"], "randrepeat": ["0"],
    "invalidate": ["1"], "thread": ["", "1"], "write_bw_log": ["log"], "write_lat_log": ["log"],
    "log_avg_msec": ["1000"], "description": ["a {test} of [disks]"], "exitall": [""], "fallocate": ["none"],
    "randseed": ["42"], "fsync": ["0"], "sync": ["0"], "end_fsync": ["0"], "direct": ["0"], "loops": ["1"],
    "rate": ["0"], "thinktime": ["0"], "gtod_reduce": ["0"],
}  # fmt: skip
# Without kb_base=1000, fio's "k", "kb" and "ki" are 1,024 bytes, and its "kib" is 1,000.
_SIZES = ((512, "512"), (4096, "4k"), (4096, "4K"), (4096, "4096"), (4096, "4kb"), (4000, "4KiB"), (8192, "8k"),
          (16384, "16ki"), (65536, "64k"), (131072, "128KB"), (1 << 20, "1m"), (1 << 20, "1M"), (1 << 20, "1024k"),
          (4_000_000, "4mib"))  # fmt: skip
_LIBRARIES = {
    "": "pread", "psync": "pread", "sync": "posix", "libaio": "libaio", "io_uring": "uring", "mmap": "mmap",
    "pvsync": "pvsync", "pvsync2": "pvsync2", "posixaio": "posixaio", "vsync": "vsync",
}  # fmt: skip
_QUEUED = ("libaio", "io_uring", "posixaio")


@dataclass
class Job:
    """A job, or several that run at the same time with the same options."""

    name: str
    rw: str
    options: dict[str, str]
    params: dict[str, Value]
    required: set[str]
    block: float
    processes: int = 1
    is_grouped: bool = False
    group: int = 0
    mix: float = 0.5
    key: str = ""
    has_latency: bool = True
    is_latency_complete: bool = True
    error: int = 0
    kinds: list[str] = field(default_factory=list)
    named: list[Remark] = field(default_factory=list)
    size_text: str = "4k"
    runtime_ms: int = 0
    limit_iops: float = 0.0
    has_sum: bool = False
    has_thread_count: bool = True


def make_job(rng: random.Random, name: str) -> Job:
    """Return a job without options that change the work."""
    rw = rng.choice(["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"])
    block, text = rng.choice(_SIZES)
    params: dict[str, Value] = {
        "op": rw.removeprefix("rand"), "pattern": "random" if rw.startswith("rand") else "sequential", "block": block,
        "sync": "none",
    }  # fmt: skip
    job = Job(name, rw, {"rw": rw, "bs": text}, params, {"op", "pattern", "block", "threads"}, block, size_text=text)
    if rw.removeprefix("rand") in {"rw", "readwrite"}:
        percent = rng.choice([10, 30, 50, 70, 75, 90])
        if percent != 50 or rng.random() < 0.2:
            job.options["rwmixread"] = str(percent)
        job.mix = percent / 100
        params["op"] = f"readwrite:{percent}"
    elif rng.random() < 0.2:  # sizes of reads, writes and trims
        pairs = [f"{text},64k,", f"{text},64k", f"{text},64k,1m"] if "read" in rw else [f"64k,{text}", f",{text}"]
        job.options["bs"] = rng.choice(pairs)
    _add_engine(rng, job)
    _add_processes(rng, job)
    return job


def _add_engine(rng: random.Random, job: Job) -> None:
    engine = rng.choice(list(_LIBRARIES))
    if engine:
        job.options["ioengine"] = engine
    depth = 1
    if rng.random() < 0.5:
        depth = rng.choice([1, 2, 8, 32, 128])
        job.options["iodepth"] = str(depth)
    job.params |= {"library": _LIBRARIES[engine], "depth": depth if engine in _QUEUED else 1}
    if rng.random() < 0.4 and engine != "mmap":
        job.options["direct"] = "1"
        job.params["cache"] = "direct"
        job.required.add("cache")


def _add_processes(rng: random.Random, job: Job) -> None:
    job.processes = rng.choice([1, 1, 1, 2, 4, 8, 16])
    job.params["threads"] = job.processes
    job.is_grouped = rng.random() < 0.5
    if job.processes > 1 or rng.random() < 0.2:
        job.options["numjobs"] = str(job.processes)
    if job.processes > 1 and job.is_grouped:
        job.options["group_reporting"] = rng.choice(["", "1"])


def add_harmless(rng: random.Random, options: dict[str, str]) -> None:
    for name in rng.sample(sorted(_HARMLESS), rng.randint(0, 8)):
        if name not in options and not (name == "direct" and "buffered" in options):
            options[name] = rng.choice(_HARMLESS[name])


def make_trim_job(group: int) -> Job:
    job = Job("discard", "trim", {"rw": "trim", "bs": "4k", "stonewall": ""}, {}, set(), 4096, group=group)
    job.named.append(Remark("discard"))
    return job


def set_operation(rng: random.Random, job: Job, kinds: Sequence[str]) -> None:
    """Make the job one of these operations."""
    rw = rng.choice(list(kinds))
    job.rw = rw
    job.options["rw"] = rw
    job.options["bs"] = job.size_text
    job.options.pop("rwmixread", None)
    operation = rw.removeprefix("rand")
    job.mix = 0.5
    job.params["op"] = "readwrite:50" if operation in {"rw", "readwrite"} else operation
    job.params["sync"] = "none"
    job.params["pattern"] = "random" if rw.startswith("rand") else "sequential"


def _without_block(job: Job) -> None:
    del job.params["block"]
    job.required.discard("block")


def _bssplit(rng: random.Random, job: Job) -> None:
    job.options["bssplit"] = rng.choice(["4k/50:64k/50", "4k/10:64k/50:32k/40", "512/20:1m/80,4k/100"])
    if rng.random() < 0.5:
        del job.options["bs"]
    job.block = 33065.25
    _without_block(job)


def _bsrange(rng: random.Random, job: Job) -> None:
    job.options["bsrange"] = rng.choice(["1k-64k", "4k-32k,8k-16k", "512-1m"])
    if rng.random() < 0.7:
        del job.options["bs"]
    job.block = 22620.5
    _without_block(job)


def _bsrange_replaced(rng: random.Random, job: Job) -> None:
    """Add a range, and the size that replaces it because it comes later."""
    text = job.options.pop("bs")
    job.options |= {"bsrange": "1k-64k", "bs": text}
    job.required.discard("block")


def _block_pair_of_mix(rng: random.Random, job: Job) -> None:
    set_operation(rng, job, ["rw", "randrw"])
    job.options["bs"] = rng.choice(["4k,64k", "8k,16k,4k"])
    job.block = 34816.0
    _without_block(job)


def _other_block(rng: random.Random, job: Job) -> None:
    """bs_is_seq_rand takes the second size for random operations."""
    set_operation(rng, job, ["randread", "randwrite"])
    job.options |= {"bs": "4k,64k", "bs_is_seq_rand": "1"}
    job.block = 65536
    job.params["block"] = 65536
    job.required.discard("block")


def _kb_base(rng: random.Random, job: Job) -> None:
    kib, text = rng.choice([(4, "4k"), (64, "64K"), (1, "1kb"), (128, "128k")])
    job.options = {"kb_base": "1000", **job.options, "bs": text}
    job.block = kib * 1000
    job.params["block"] = kib * 1000
    job.required.discard("block")


def _rwmixwrite(rng: random.Random, job: Job) -> None:
    set_operation(rng, job, ["rw", "randrw", "readwrite"])
    percent = rng.choice([10, 30, 40, 80])
    if rng.random() < 0.4:  # the last one counts
        job.options["rwmixread"] = "90"
    job.options["rwmixwrite"] = str(percent)
    job.mix = 1 - percent / 100
    job.params["op"] = f"readwrite:{100 - percent}"


def _buffered(rng: random.Random, job: Job) -> None:
    job.options.pop("direct", None)
    job.params["cache"] = "direct"
    job.options["buffered"] = "0"
    job.required.add("cache")


def _buffered_last(rng: random.Random, job: Job) -> None:
    job.options.pop("direct", None)
    job.options |= {"direct": "1", "buffered": "1"}
    job.params.pop("cache", None)
    job.required.discard("cache")


def _sync_per_write(rng: random.Random, job: Job) -> None:
    set_operation(rng, job, ["write", "randwrite"])
    name, value = rng.choice([("fsync", "1"), ("fdatasync", "1"), ("sync", "1"), ("sync", "dsync"), ("sync", "sync")])
    job.options[name] = value
    job.params["sync"] = "each"
    job.required.add("sync")
    # fio's latency does not include an fsync that follows; that of O_SYNC does.
    job.is_latency_complete = name == "sync"


def _sync_sometimes(rng: random.Random, job: Job) -> None:
    set_operation(rng, job, ["write", "randwrite"])
    del job.params["sync"]
    name = rng.choice(["fsync", "fdatasync", "sync_file_range"])
    job.options[name] = "write:8" if name == "sync_file_range" else rng.choice(["8", "32"])
    job.named.append(Remark(name))


def _end_fsync(rng: random.Random, job: Job) -> None:
    set_operation(rng, job, ["write", "randwrite"])
    job.options["end_fsync"] = "1"
    job.params["sync"] = "end"
    job.named.append(Remark("end_fsync", "sync", True))


def _rate(rng: random.Random, job: Job) -> None:
    set_operation(rng, job, ["read", "write", "randread", "randwrite"])
    name, value, limit = rng.choice(
        [
            ("rate", "10m", 10 << 20),
            ("rate", "1m,1m", 1 << 20),
            ("rate_iops", "100", 100),
            ("rate_iops", "500,500", 500),
        ]
    )
    job.options[name] = value
    job.limit_iops = limit if name == "rate_iops" else limit / job.block
    job.named.append(Remark(name, "rate", True))
    if value == "100":
        job.params["rate"] = 100 * job.processes


def _pauses(rng: random.Random, job: Job) -> None:
    job.options["thinktime"] = rng.choice(["1000", "5ms"])
    job.named.append(Remark("thinktime"))


def _other_pattern(rng: random.Random, job: Job) -> None:
    name, value = rng.choice(
        [("percentage_random", "50"), ("random_distribution", "zipf:1.2"), ("random_distribution", "pareto:0.9")]
    )
    set_operation(rng, job, ["randread", "randwrite", "randrw"])
    job.options[name] = value
    job.required.discard("pattern")
    job.named.append(Remark(name, "pattern", False))


def _offsets(rng: random.Random, job: Job) -> None:
    set_operation(rng, job, ["read", "write", "randread", "randwrite"])
    job.options["rw"] += rng.choice([":8k", ":4k", ":8"])
    job.required.discard("pattern")
    job.named.append(Remark(job.options["rw"], "pattern", False))


def _other_work(rng: random.Random, job: Job) -> None:
    name, value = rng.choice(
        [("verify", "crc32c"), ("zonemode", "strided"), ("read_iolog", "trace.log"), ("io_submit_mode", "offload"),
         ("latency_target", "10ms"), ("flow", "8"), ("verify_only", "1"), ("trim_percentage", "10")]
    )  # fmt: skip
    job.options[name] = value
    job.named.append(Remark(name, "depth" if name == "latency_target" else "", False))


def _unified(rng: random.Random, job: Job) -> None:
    set_operation(rng, job, ["read", "write", "randread", "randwrite", "rw"])
    job.options["unified_rw_reporting"] = rng.choice(["1", "mixed"])
    job.key = "mixed"


def _unified_both(rng: random.Random, job: Job) -> None:
    """Since 3.26: read, write and trim as usual, and their sum as well."""
    job.options["unified_rw_reporting"] = rng.choice(["both", "2"])
    job.has_sum = True


def _gtod_reduce(rng: random.Random, job: Job) -> Reading:
    job.options[rng.choice(["gtod_reduce", "disable_lat"])] = "1"
    job.has_latency = False
    return Reading.MUST


def _trims(rng: random.Random, job: Job) -> Reading:
    set_operation(rng, job, ["write", "randwrite"])
    job.options["rw"] = "trimwrite" if job.rw == "write" else "randtrimwrite"
    return Reading.NEVER


def _no_disk(rng: random.Random, job: Job) -> Reading:
    job.options["ioengine"] = rng.choice(["null", "cpuio", "net", "filecreate"])
    return Reading.NEVER


CHANGES = {
    "bssplit": _bssplit,
    "bsrange": _bsrange,
    "bsrange, then bs": _bsrange_replaced,
    "two block sizes": _block_pair_of_mix,
    "bs_is_seq_rand": _other_block,
    "kb_base": _kb_base,
    "rwmixwrite": _rwmixwrite,
    "buffered=0": _buffered,
    "direct=1, then buffered=1": _buffered_last,
    "a synchronisation for each write": _sync_per_write,
    "fsync=N": _sync_sometimes,
    "end_fsync": _end_fsync,
    "a limited rate": _rate,
    "thinktime": _pauses,
    "a partly random pattern": _other_pattern,
    "rw with an offset": _offsets,
    "another work": _other_work,
    "unified_rw_reporting": _unified,
    "unified_rw_reporting=both": _unified_both,
    "no latencies": _gtod_reduce,
    "rw=trimwrite": _trims,
    "an engine without a disk": _no_disk,
}
