"""Adapter for fio (https://fio.readthedocs.io): one file, read and written by blocks.

fio's buffers are aligned to pages as nameplate's are. By default they are not, and then a copy from the page cache
takes 2.5 times as long on Zen 4.

Every job, or group of jobs, in the output of ``fio --output-format=json`` is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.numbers import Count, Real
from nameplate.records.plan_record import Value
from nameplate.tools.output import Imported, decoded, only, positive, whole
from nameplate.tools.reference_tool import Cannot, ComparedMetric, ReferenceTool, ToolSetting, ToolWork

SIZE_BYTES = 300 << 20


class _Latency(msgspec.Struct):
    mean: Real = 0.0
    percentile: dict[str, Real] = {}


class _Side(msgspec.Struct):
    iops: Real = 0.0
    bw_bytes: Real = 0.0
    total_ios: Count = 0
    lat_ns: _Latency = msgspec.field(default_factory=_Latency)
    clat_ns: _Latency = msgspec.field(default_factory=_Latency)


class _Job(msgspec.Struct):
    jobname: str
    error: int
    read: _Side
    write: _Side
    options: dict[str, str] = msgspec.field(default_factory=dict, name="job options")


class _Output(msgspec.Struct):
    jobs: list[_Job]
    globals: dict[str, str] = msgspec.field(default_factory=dict, name="global options")


def _side(text: str, op: str) -> _Side:
    job = decoded(text, _Output).jobs[0]
    return job.write if op == "write" else job.read


def _bandwidth(op: str, text: str) -> float:
    return positive(_side(text, op).bw_bytes)


def _iops(op: str, text: str) -> float:
    return positive(_side(text, op).iops)


def _median_s(op: str, text: str) -> float:
    return positive(_side(text, op).clat_ns.percentile.get("50.000000", 0.0), 1e-9)


def _work(setting: ToolSetting, name: str, params: Mapping[str, Value], options: Mapping[str, Value]) -> ToolWork:
    op = str(params["op"])
    every: dict[str, Value] = {
        "name": "versus", "filename": "fio.data", "size": SIZE_BYTES, "runtime": setting.seconds, "time_based": 1,
        "norandommap": 1, "randrepeat": 0, "thread": 1, "invalidate": 0, "iomem_align": 4096, "output-format": "json",
        **options,
    }  # fmt: skip
    command = [setting.found["fio"].path, *(f"--{key}={value}" for key, value in every.items())]
    ours = {**params, "threads": 1, "size": SIZE_BYTES, "file": str(setting.folder)}
    is_large = int(params["block"]) >= 1 << 20
    metrics = [
        ComparedMetric("", "disk_block", ours, "bandwidth", partial(_bandwidth, op))
        if is_large
        else ComparedMetric("", "disk_block", ours, "iops", partial(_iops, op))
    ]
    if params.get("depth", 1) != 1:
        metrics.append(ComparedMetric("latency p50", "disk_block", ours, "latency_p50", partial(_median_s, op),
                              differs="fio's clat excludes the submission"))  # fmt: skip
    # The file is written first, so that no measured run has to lay it out.
    whole = [f"--{key}={every[key]}" for key in ("name", "filename", "size")]
    return ToolWork(name, command, metrics, threads=1,
                prepare=[command[0], *whole, "--rw=write", "--bs=1M", "--end_fsync=1"])  # fmt: skip


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
    cannot=(Cannot("disk_block", "library=stdio", "fio has no engine for buffered streams"),),
)


# Engines that use the same system calls as a library of nameplate; other engines keep fio's name, which no library has.
_LIBRARIES = {"psync": "pread", "sync": "posix", "libaio": "libaio", "io_uring": "uring", "mmap": "mmap"}
_OPERATIONS = {"read": "read", "write": "write", "rw": "readwrite", "readwrite": "readwrite"}
_MAX_BYTES = 1 << 60
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def recognises(text: str) -> bool:
    """Return whether a text has the line with fio's version in its first 4 KiB."""
    return re.search(r'^\s*"fio version"\s*:', text[:4096], re.MULTILINE) is not None


def read(text: str) -> Sequence[Imported]:
    """Return three values for each job, in the order of the jobs.

    They are the bandwidth in B/s, the operations per second and the mean latency in seconds, in this order; reads and
    writes of the job count together. They are of the probe disk_block with the parameters ``op``, ``pattern``,
    ``block`` in bytes, ``threads``, ``library`` and ``depth``, and with ``cache`` "direct" if the job has direct=1.
    Options that the output does not have count with fio's defaults.

    Raises:
        Unreadable: the output has changed, has no jobs, or a job failed, transferred nothing, or has an operation that
            nameplate does not have, or an option that is not readable.
    """
    output = decoded(text, _Output)
    return only([value for job in output.jobs for value in _imported(job, {**output.globals, **job.options})], "jobs")


def _imported(job: _Job, options: Mapping[str, str]) -> list[Imported]:
    if job.error:
        raise Unreadable(f"job {job.jobname} failed with error {job.error}")
    sides = [side for side in (job.read, job.write) if side.total_ios]
    if not sides:
        raise Unreadable(f"job {job.jobname} transferred no bytes")
    params = _params(options)
    operations = sum(side.total_ios for side in sides)
    latency_ns = sum(side.lat_ns.mean * side.total_ios for side in sides) / operations
    values = {
        "bandwidth": sum(side.bw_bytes for side in sides),
        "iops": sum(side.iops for side in sides),
        "latency": latency_ns * 1e-9,
    }
    return [Imported("disk_block", params, name, positive(value)) for name, value in values.items()]


def _params(options: Mapping[str, str]) -> dict[str, Value]:
    """Return the parameters of ``disk_block``. Without ``direct=1`` the state of the page cache is not known."""
    direction = options.get("rw", options.get("readwrite", "read"))
    is_random = direction.startswith("rand")
    operation = _OPERATIONS.get(direction.removeprefix("rand").partition(":")[0])
    if operation is None:
        raise Unreadable(f"rw={direction}: nameplate has no such operation")
    if operation == "readwrite":
        operation = f"readwrite:{options.get('rwmixread', '50')}"
    params: dict[str, Value] = {
        "op": operation,
        "pattern": "random" if is_random else "sequential",
        "block": _bytes(options.get("bs", options.get("blocksize", "4k"))),
        "threads": whole(options.get("numjobs", "1"), "numjobs"),
        "library": _LIBRARIES.get(engine := options.get("ioengine", "psync"), engine),
        "depth": whole(options.get("iodepth", "1"), "iodepth"),
    }
    return {**params, "cache": "direct"} if options.get("direct") == "1" else params


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)([kmgt]?)(?:i?b)?", text.lower())
    if match is None:
        raise Unreadable(f"bs={text:.40}: not a size")
    size = whole(match[1], "bs") << 10 * _UNITS[match[2]]
    if size > _MAX_BYTES:
        raise Unreadable(f"bs={text:.40}: not a size")
    return size
