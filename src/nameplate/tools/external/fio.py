"""Adapter for fio (https://fio.readthedocs.io): one file, read and written by blocks.

fio is run with buffers that are aligned to pages, as nameplate's are (``iomem_align``). By default fio does not align
its buffers, and a copy from the page cache then takes 2.5 times as long on Zen 4.

Every job in the output of ``fio --output-format=json`` is read, with its processes together, unless an option changes
its work in a way that disk_block does not have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.fio_jobs import FioJob, job_batches
from nameplate.tools.fio_options import (
    LIBRARIES,
    LOCATIONS,
    OTHER_ENGINES,
    RATE_LIMITS,
    WAITING_ENGINES,
    changing_option,
    is_on,
    time_ms,
)
from nameplate.tools.fio_output import FioDirection, FioEntry, FioOutput, last_output
from nameplate.tools.output import (
    Imported,
    ToolOutput,
    decoded,
    decoded_object,
    integer,
    json_objects,
    positive,
    shortened,
    tool_output,
)
from nameplate.tools.reference_tool import ComparedMetric, NotMeasurable, ReferenceTool, ToolSetting, ToolWork

SIZE_BYTES = 300 << 20
_FILE = "fio.data"


def _side(text: str, op: str) -> FioDirection:
    jobs = decoded(text, FioOutput).jobs
    if not jobs:
        raise Unreadable("the output has no jobs")
    job = decoded_object(jobs[0], FioEntry)
    return job.write if op == "write" else job.read


def _work(setting: ToolSetting, name: str, params: Mapping[str, Value], options: Mapping[str, Value]) -> ToolWork:
    op, is_cached = str(params["op"]), params["cache"] == "warm"
    every: dict[str, Value] = {
        "name": "versus", "filename": _FILE, "size": SIZE_BYTES, "runtime": setting.seconds, "time_based": 1,
        "norandommap": 1, "randrepeat": 0, "thread": 1, "iomem_align": 4096, "output-format": "json",
        # Direct writes would have to drop the pages that the preparation left, which nameplate's file does not have.
        "invalidate": int(not is_cached), **options,
    }  # fmt: skip
    command = [setting.programs["fio"].path, *(f"--{key}={value}" for key, value in every.items())]
    ours = {**params, "threads": 1, "size": SIZE_BYTES, "file": str(setting.folder)}
    is_large = int(params["block"]) >= 1 << 20
    metrics = [
        ComparedMetric("", "disk_block", ours, "bandwidth", lambda text: positive(_side(text, op).bw_bytes))
        if is_large
        else ComparedMetric("", "disk_block", ours, "iops", lambda text: positive(_side(text, op).iops))
    ]
    if params.get("depth", 1) != 1:
        metrics.append(ComparedMetric(
            "latency p50", "disk_block", ours, "latency_p50",
            lambda text: positive(_side(text, op).clat_ns.percentile.get("50.000000", 0.0), 1e-9),
            differs="fio's clat excludes the submission",
        ))  # fmt: skip
    # The file is written first, so that no measured run has to lay it out. A direct write empties the page cache.
    layout = [f"--{key}={every[key]}" for key in ("name", "filename", "size")]
    return ToolWork(name, command, metrics, threads=1,
                prepare=[command[0], *layout, "--rw=write", "--bs=1M", "--end_fsync=1"],
                cached=_FILE if is_cached else "")  # fmt: skip


def _works(setting: ToolSetting) -> list[ToolWork]:
    random: dict[str, Value] = {"op": "read", "pattern": "random", "block": 4096}
    return [
        _work(setting, "4 KiB random read, direct, io_uring, depth 32",
              {**random, "library": "uring", "depth": 32, "cache": "direct"},
              {"rw": "randread", "bs": 4096, "ioengine": "io_uring", "iodepth": 32, "direct": 1, "fixedbufs": 1,
               "registerfiles": 1}),
        _work(setting, "4 KiB random read, direct", {**random, "library": "pread", "cache": "direct"},
              {"rw": "randread", "bs": 4096, "ioengine": "psync", "direct": 1}),
        _work(setting, "1 MiB sequential read, page cache", {"op": "read", "block": 1 << 20, "cache": "warm"},
              {"rw": "read", "bs": 1 << 20, "ioengine": "psync"}),
        _work(setting, "1 MiB sequential write, direct", {"op": "write", "block": 1 << 20, "cache": "direct"},
              {"rw": "write", "bs": 1 << 20, "ioengine": "psync", "direct": 1}),
    ]  # fmt: skip


REFERENCE = ReferenceTool(
    name="fio",
    programs=("fio",),
    identify=("--version",),
    version=re.compile(r"^fio-(\S+)$", re.MULTILINE),
    install="apt install fio",
    works=_works,
    cannot=(NotMeasurable("disk_block", "library=stdio", "fio has no engine for buffered streams"),),
)


_OPERATIONS = {"read": "read", "write": "write", "rw": "readwrite", "readwrite": "readwrite"}
_MAX_BLOCK = 1 << 50
_PREFIXES = "kmgtp"
# The mean size of the operations may differ from the block size by this share.
_BLOCK_WITHIN = 0.01
_MIX_WITHIN = 0.05
# The runtime of a process may exceed the runtime of its job by this, since times are rounded.
_ROUNDING_MS = 5
# On average, the processes of a job run for at least this share of the job's runtime.
_MIN_RUNTIME = 0.6
# The share of operations that were alone in flight may exceed the expected share by _ALONE_WITHIN. At most the share
# _DEEPER_WITHIN of the operations may have had more in flight than iodepth.
_ALONE_WITHIN = 0.1
_DEEPER_WITHIN = 0.01
# The first version that prints numjobs of a global section.
_PRINTS_NUMJOBS = (3, 4)


def recognises(text: str) -> bool:
    """Return whether ``text`` contains fio's output in one of its formats: JSON, normal or terse."""
    return any(pattern.search(text) for pattern in (_JSON, _NORMAL, _TERSE))


_JSON = re.compile(r'"fio version"\s*:')
_NORMAL = re.compile(r"^\S.*: \(groupid=\d+, jobs=\d+\): err=", re.MULTILINE)
_TERSE = re.compile(r"^[3-9];fio-\d[^;\s]*;", re.MULTILINE)


def read(text: str) -> ToolOutput:
    """Return up to three values for each job, in the order of the jobs.

    The values are the bandwidth in B/s, the rate in operations/s, and the mean latency in seconds, if fio measured it.
    Reads and writes of a job count together, and so do the processes of ``numjobs``. The probe is disk_block with the
    parameters ``op``, ``pattern``, ``block`` in bytes, ``library``, ``depth``, ``threads`` if the output has them,
    ``cache`` "direct" if the job bypassed the page cache, and ``sync`` for writes. ``restriction`` names a rate limit.
    An option that the output lacks has fio's default, unless the completed operations contradict it. Of several
    objects, as with --status-interval, the last one is read. Jobs are skipped if they failed, overlapped with other
    jobs, transferred nothing, or have options that disk_block cannot express.

    Raises:
        Unreadable: the output has an unexpected form, or nothing in it can be read.
    """
    if '"fio version"' not in text:
        form = "normal" if _NORMAL.search(text) else "terse"
        raise Unreadable(f"this is fio's {form} output; run fio with --output-format=json")
    output = last_output([decoded_object(json, FioOutput) for json in json_objects(text) if '"fio version"' in json])
    version = re.match(r"fio-(\d{1,3})\.(\d{1,3})", output.version)
    if not output.version:
        raise Unreadable('its JSON wraps the output of fio: cut out the object that has "fio version"')
    if version is None or int(version[1]) < 3:
        raise Unreadable(f"output of {output.version or 'this version'} is not supported; use fio 3.0 or newer")
    if output.client_stats is not None:
        raise Unreadable("the output of fio --client, which adds up machines, is not read; run fio on one machine")
    values: list[Imported] = []
    skipped: list[str] = []
    for batch in job_batches(output, (int(version[1]), int(version[2])), skipped):
        values += _values_of_batch(batch, skipped)
    return tool_output(output.version.removeprefix("fio-"), values, "jobs", skipped, is_dated=True)


def _values_of_batch(batch: Sequence[FioJob], skipped: list[str]) -> list[Imported]:
    """Return the values of a job that ran alone; for other batches, append the reason to ``skipped``."""
    if len(batch) > 1:
        names = ", ".join(shortened([job.name for job in batch]))
        skipped.append(f"jobs {names}: they ran at the same time; use --stonewall")
        return []
    job = batch[0]
    if not job.entries:
        return []
    if not all(entry.is_of_end for entry in job.entries):
        skipped.append(f"job {job.name}: the work that was left when fio wrote the output")
    try:
        return _values_of(job)
    except Unreadable as error:
        skipped.append(f"job {job.name}: {error}")
        return []


def _values_of(job: FioJob) -> list[Imported]:
    """Return the values of a job. Raises Unreadable if it failed, or disk_block cannot do the same work."""
    _check_work(job)
    op = _operation(job)
    sync, is_sync_in_latency = _sync(job.options) if op != "read" else ("", True)
    direct = _is_direct(job.options)
    threads = _threads(job)
    block = _block(job, threads)
    params: dict[str, Value] = {
        "op": op,
        "pattern": "random" if job.options.get("rw", "read").startswith("rand") else "sequential",
        "block": block,
        **({"threads": threads} if threads else {}),
        **_library_and_depth(job, threads),
        **({"cache": "direct"} if direct else {}),
        **({"sync": sync} if sync else {}),
    }
    possible = _possible(job.options, threads, direct)
    sides = [side for sides in job.sides.values() for side in sides if side.total_ios]
    limits = [f"{name}={job.options[name]}" for name in RATE_LIMITS if is_on(job.options, name)]
    restriction = f"{' and '.join(limits)} limited it" if limits else ""
    values = {"bandwidth": sum(map(_bandwidth_of, sides)), "iops": _operations_per_s(job, sides, block)}
    if is_sync_in_latency and not restriction and all(side.lat_ns.mean > 0 for side in sides):
        latency_ns = sum(side.lat_ns.mean * side.total_ios for side in sides) / sum(side.total_ios for side in sides)
        values["latency"] = latency_ns * 1e-9
    location = " ".join(job.options[name] for name in LOCATIONS if name in job.options)
    location = location or str(PurePath(job.options.get("filename", "")).parent)
    return [
        Imported("disk_block", params, name, positive(value), possible, restriction, location=location)
        for name, value in values.items()
    ]


def _possible(options: Mapping[str, str], threads: int | None, direct: bool) -> dict[str, tuple[Value, ...]]:
    """Return the possible values of the parameters that the output does not report."""
    filename = options.get("filename", "")
    possible: dict[str, tuple[Value, ...]] = {"read_device": (), "rate": ()}
    if filename.startswith("/dev/") and not filename.startswith("/dev/shm/"):
        possible |= {"file": (), "read_device": (filename,)}
    if not direct:
        possible["cache"] = _caches(options)
    if threads and threads > 1:
        # Without filename, each process has its own file, whose name contains the process number by default.
        is_shared = filename or "jobnum" not in options.get("filename_format", "$jobnum")
        possible["layout"] = ("shared",) if is_shared else ("file-per-thread",)
    return possible


def _caches(options: Mapping[str, str]) -> tuple[Value, ...]:
    """Return the possible states of the page cache. By default, fio drops the file from the page cache before a job."""
    if is_on(options, "pre_read"):
        return ("warm",)
    return ("warm", "cold", "as-is") if is_on({"invalidate": "1", **options}, "invalidate") else ("warm", "as-is")


def _check_work(job: FioJob) -> None:
    """Check that a job succeeded and did the same work as disk_block. Raises Unreadable if not."""
    if error := next((entry.error or entry.total_err for entry in job.entries if entry.error or entry.total_err), 0):
        raise Unreadable(f"failed with error {error}")
    if not job.sides:
        raise Unreadable("transferred no bytes")
    _check_ramp(job)
    if not job.options:
        raise Unreadable("the output does not show the options of the job")
    if job.unclear:
        raise Unreadable(
            f"options set {' and '.join(sorted(job.unclear))} several times, on the command line or in [global] "
            "sections, and fio does not print which of them the job had; run it alone"
        )
    for name in ("filename", "directory"):
        if re.search(r"(?<!\\):", job.options.get(name, "")):
            raise Unreadable(f"{name}={job.options[name]:.80}: it used several files, folders or devices")
    if option := changing_option(job.options):
        raise Unreadable(f"{option} has no equivalent in disk_block")


def _check_ramp(job: FioJob) -> None:
    """Check that a job ran longer than its ``ramp_time``, when fio resets its counts. Raises Unreadable if not."""
    ramp_ms = time_ms(job.options.get("ramp_time", "0"))
    elapsed_ms = 1000 * max(entry.elapsed for entry in job.entries)
    if ramp_ms and 0 < elapsed_ms < ramp_ms + job.runtime_ms:
        raise Unreadable("the job or the output ended during ramp_time")


def _bandwidth_of(side: FioDirection) -> float:
    """Return the bandwidth in B/s. fio 3.0 prints it in whole KiB/s only."""
    return side.bw_bytes or (side.io_bytes / (side.runtime / 1000) if side.runtime else 0.0)


def _operations_per_s(job: FioJob, sides: Sequence[FioDirection], block: int) -> float:
    """Return the rate in operations per second.

    After ``ramp_time``, fio counts operations when they are issued, but bytes when they arrive. Operations in flight at
    the end of the ramp are therefore missing, and the number of operations is computed from the bytes instead.
    """
    if not is_on(job.options, "ramp_time"):
        return sum(side.iops for side in sides)
    return sum(side.iops * side.io_bytes / block / side.total_ios for side in sides)


def _operation(job: FioJob) -> str:
    """Return the parameter ``op``. Raises Unreadable if nameplate has no such operation, or the job did another one."""
    rw = job.options.get("rw", "read")
    operation = _OPERATIONS.get(rw.removeprefix("rand"))
    if operation is None:
        raise Unreadable(f"rw={rw}: nameplate has no such operation")
    counts = {name: sum(side.total_ios for side in sides) for name, sides in job.sides.items()}
    if operation == "readwrite":
        percent = _percent_of_reads(job.options)
        total = counts.get("read", 0) + counts.get("write", 0)
        expected = {100: {"read"}, 0: {"write"}}.get(percent, {"read", "write"})
        is_mix_as_asked = not total or abs(counts.get("read", 0) / total - percent / 100) <= _MIX_WITHIN + total**-0.5
        if not is_mix_as_asked or not counts.keys() <= {*expected, "mixed"}:
            raise Unreadable(
                f"rw={rw} with {percent} % of reads, but of {total} operations {counts.get('read', 0)} were reads"
            )
        return {100: "read", 0: "write"}.get(percent, f"readwrite:{percent}")
    if not counts.keys() <= {operation, "mixed"}:
        raise Unreadable(f"rw={rw}, but it did {' and '.join(f'{count} {name}s' for name, count in counts.items())}")
    return operation


def _percent_of_reads(options: Mapping[str, str]) -> int:
    """Return the percentage of reads. If two options contradict each other, the later one counts, as in fio."""
    percent = 50
    for name, text in options.items():
        if name in ("rwmixread", "rwmixwrite"):
            given = _number(text, name)
            if given > 100:
                raise Unreadable(f"{name}={given}: not a percentage")
            percent = given if name == "rwmixread" else 100 - given
    return percent


def _threads(job: FioJob) -> int | None:
    """Return the number of the job's processes, or None if the output does not report it.

    fio before 3.4 does not print ``numjobs`` of a global section; the runtimes of the processes then show whether there
    was only one. Raises Unreadable if entries of processes are missing, or fio added several jobs up.
    """
    count, total_ms, longest_ms = len(job.entries), job.total_runtime_ms, job.runtime_ms
    if any(entry.options.get("name", job.name) != job.name for entry in job.entries):
        raise Unreadable(
            "group_reporting merged it with other jobs: its name and its options are those of different jobs"
        )
    if "numjobs" not in job.options and count == 1 and (not total_ms or job.version < _PRINTS_NUMJOBS):
        return 1 if 0 < total_ms <= longest_ms + _ROUNDING_MS else None
    threads = _number(job.options["numjobs"], "numjobs") if "numjobs" in job.options else count
    # A single entry has all processes, even if fio does not print that a global section sets group_reporting.
    if count not in (1, threads):
        raise Unreadable(f"the output has {count} of its {threads} processes")
    if total_ms > threads * (longest_ms + _ROUNDING_MS):
        raise Unreadable(
            f"group_reporting merged it with other jobs: its processes ran for {_in_s(total_ms)}, more than {threads} "
            f"can in {_in_s(longest_ms)}"
        )
    if count < threads and 0 < total_ms < _MIN_RUNTIME * threads * longest_ms:
        raise Unreadable(f"numjobs={threads}, but its processes ran for only {_in_s(total_ms)} in {_in_s(longest_ms)}")
    return threads


def _in_s(time_ms: int) -> str:
    return f"{time_ms / 1000:.3f} s"


def _block(job: FioJob, threads: int | None) -> int:
    """Return the size of an operation in bytes. Raises Unreadable if sizes differ, or contradict the bytes moved."""
    base = job.options.get("kb_base", "1024")
    if base not in ("1000", "1024"):
        raise Unreadable(f"kb_base={base:.20}: not 1000 or 1024")
    text = job.options.get("bs", "4k")
    parts = text.split(",")
    # An empty part stands for the default, and a missing one for the part before it.
    declared = {"read": parts[0] or "4k", "write": (parts[1] if len(parts) > 1 else parts[0]) or "4k"}
    used = {name: declared[name] for name in (["read", "write"] if "mixed" in job.sides else job.sides)}
    blocks = {_bytes(part, int(base)) for part in used.values()}
    if len(blocks) > 1:
        raise Unreadable(f"bs={text}: mixed block sizes are not supported")
    block = blocks.pop()
    sides = [side for sides in job.sides.values() for side in sides]
    moved, count = sum(side.io_bytes for side in sides), sum(side.total_ios for side in sides)
    missing, tolerance = count * block - moved, _BLOCK_WITHIN * count * block
    # Operations in flight at the end of the ramp are not counted, but their bytes are (see _operations_per_s).
    in_flight = _number(job.options.get("iodepth", "1"), "iodepth") if is_on(job.options, "ramp_time") else 0
    # The last block of each process may be shorter.
    if not -max(tolerance, in_flight * (threads or 1) * block) <= missing <= max(tolerance, (threads or 1) * block):
        raise Unreadable(f"bs={text}, but its operations had {moved / count:.0f} B on average")
    return block


def _bytes(text: str, base: int) -> int:
    """Return a size of fio in bytes.

    ``base``, 1000 or 1024, is the value of k, kb and ki; kib is the other one (see ``kb_base`` in fio's documentation).
    """
    match = re.fullmatch(r"(\d+|0x[0-9a-f]+)(?:([kmgtp])(i?b?)|b)?", text.lower())
    if match is None:
        raise Unreadable(f"bs={text:.40}: not a size")
    size = _number(match[1], "bs")
    for _ in range(_PREFIXES.index(match[2]) + 1 if match[2] else 0):
        size *= 2024 - base if match[3] == "ib" else base
    if not 0 < size <= _MAX_BLOCK:
        raise Unreadable(f"bs={text:.40}: not a size")
    return size


def _number(text: str, name: str) -> int:
    """Return the decimal or hexadecimal integer of the option ``name``. Raises Unreadable for other text."""
    is_hexadecimal = re.fullmatch(r"0[xX][0-9a-fA-F]{1,15}", text) is not None
    return int(text, 16) if is_hexadecimal else integer(text, name)


def _library_and_depth(job: FioJob, threads: int | None) -> dict[str, Value]:
    options = job.options
    engine = options.get("ioengine", "psync")
    if engine not in LIBRARIES and engine not in OTHER_ENGINES:
        raise Unreadable(f"ioengine={engine}: not an engine that moves the blocks of a file or a device")
    depth = _number(options.get("iodepth", "1"), "iodepth")
    # fio on Windows has another default, and names its files so.
    if "ioengine" not in options and re.match(r"[A-Za-z]\\?:|\\\\", options.get("filename", "")):
        return {"depth": depth}
    depth = 1 if engine in WAITING_ENGINES else depth
    _check_depth(job, depth, threads or 1)
    return {"library": LIBRARIES.get(engine, engine), "depth": depth}


def _check_depth(job: FioJob, depth: int, threads: int) -> None:
    """Check that a job kept ``depth`` operations in flight per process, as it was to do. Raises Unreadable if not."""
    is_limited = any(is_on(job.options, name) for name in RATE_LIMITS)
    for entry in job.entries:
        levels = _depth_levels(entry)
        alone, deeper = levels.get(1, 0.0), sum(share for level, share in levels.items() if level > depth)
        if deeper > _DEEPER_WITHIN:
            raise Unreadable(f"its iodepth is {depth}, but for {deeper:.0%} of its operations more were in flight")
        # A job fills its queue once, or once for each pass over its file.
        max_alone = _ALONE_WITHIN + 1 / max(1, min(depth, entry.operations // threads))
        if alone > max_alone and not is_limited:
            raise Unreadable(f"its iodepth is {depth}, but {alone:.0%} of its operations had no other in flight")


def _depth_levels(entry: FioEntry) -> dict[int, float]:
    """Return the share of operations by the number in flight; a share includes all numbers up to the next key."""
    total = sum(entry.iodepth_level.values())
    return {
        int(level.removeprefix(">=")): share / total
        for level, share in entry.iodepth_level.items()
        if total and re.fullmatch(r"(>=)?\d{1,3}", level)
    }


def _is_direct(options: Mapping[str, str]) -> bool:
    """Return whether the job bypasses the page cache. Of ``direct`` and ``buffered``, the later one counts."""
    is_direct = False
    for name in options:
        if name in ("direct", "buffered"):
            is_direct = is_on(options, name) == (name == "direct")
    return is_direct


def _sync(options: Mapping[str, str]) -> tuple[str, bool]:
    """Return the parameter ``sync`` of writes, and whether fio's latency includes the time of the sync.

    Raises Unreadable if the job makes its writes durable at other times than disk_block does.
    """
    for name in ("fsync", "fdatasync"):
        if options.get(name, "0") not in ("0", "1"):
            raise Unreadable(f"disk_block cannot do {name}={options[name]}: it syncs after each write or at the end")
    if "1" in (options.get("fsync"), options.get("fdatasync")):
        return "each", False
    if options.get("sync", "0") not in ("0", "none"):
        return "each", True
    return ("end", False) if is_on(options, "end_fsync") else ("none", True)
