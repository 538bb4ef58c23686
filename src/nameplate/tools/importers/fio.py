"""fio --output-format=json: a figure for each job, or group of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.model import Count, Real, Value
from nameplate.tools.importers import Imported, only
from nameplate.tools.references import decoded, positive, whole

# Engines that ask the system as one of ours does; others keep their name, which none of ours has.
_LIBRARIES = {"psync": "pread", "sync": "posix", "libaio": "libaio", "io_uring": "uring", "mmap": "mmap"}
_OPERATIONS = {"read": "read", "write": "write", "rw": "readwrite", "readwrite": "readwrite"}
_MAX_BYTES = 1 << 60
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class _Latency(msgspec.Struct):
    mean: Real = 0.0


class _Side(msgspec.Struct):
    iops: Real = 0.0
    bw_bytes: Real = 0.0
    total_ios: Count = 0
    lat_ns: _Latency = msgspec.field(default_factory=_Latency)


class _Job(msgspec.Struct):
    jobname: str
    error: int
    read: _Side
    write: _Side
    options: dict[str, str] = msgspec.field(default_factory=dict, name="job options")


class _Output(msgspec.Struct):
    jobs: list[_Job]
    globals: dict[str, str] = msgspec.field(default_factory=dict, name="global options")


def recognises(text: str) -> bool:
    """By its version, which stands first."""
    return re.search(r'^\s*"fio version"\s*:', text[:4096], re.MULTILINE) is not None


def read(text: str) -> Sequence[Imported]:
    """Bandwidth, operations and mean latency of each job. Raises Unreadable."""
    output = decoded(text, _Output)
    return only([figure for job in output.jobs for figure in _figures(job, {**output.globals, **job.options})], "jobs")


def _figures(job: _Job, options: Mapping[str, str]) -> list[Imported]:
    if job.error:
        raise Unreadable(f"job {job.jobname} ended with error {job.error}")
    sides = [side for side in (job.read, job.write) if side.total_ios]
    if not sides:
        raise Unreadable(f"job {job.jobname} did nothing")
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
    """As ``disk_block`` has them. Without ``direct=1`` what is in the page cache is not known."""
    direction = options.get("rw", options.get("readwrite", "read"))
    is_random = direction.startswith("rand")
    operation = _OPERATIONS.get(direction.removeprefix("rand").partition(":")[0])
    if operation is None:
        raise Unreadable(f"rw={direction} is nothing that nameplate measures")
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
        raise Unreadable(f"bs={text:.40} is no size")
    size = whole(match[1], "bs") << 10 * _UNITS[match[2]]
    if size > _MAX_BYTES:
        raise Unreadable(f"bs={text:.40} is no size")
    return size
