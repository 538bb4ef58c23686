"""fio (https://fio.readthedocs.io): one file, read and written by blocks.

Its buffers are aligned to pages as ours are: by default they are not, and then a copy from the page cache takes 2.5
times as long on Zen 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

import msgspec

from nameplate.records.model import Value
from nameplate.tools.references import Cannot, ComparedMetric, ReferenceTool, ToolSetting, ToolWork, decoded, positive

SIZE_BYTES = 300 << 20


class _Times(msgspec.Struct):
    percentile: dict[str, float] = {}


class _Side(msgspec.Struct):
    iops: float
    bw_bytes: float
    clat_ns: _Times


class _Job(msgspec.Struct):
    error: int
    read: _Side
    write: _Side


class _Output(msgspec.Struct):
    jobs: list[_Job]


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
    figures = [
        ComparedMetric("", "disk_block", ours, "bandwidth", partial(_bandwidth, op))
        if is_large
        else ComparedMetric("", "disk_block", ours, "iops", partial(_iops, op))
    ]
    if params.get("depth", 1) != 1:
        figures.append(ComparedMetric("latency p50", "disk_block", ours, "latency_p50", partial(_median_s, op),
                              differs="fio's clat leaves out the submission"))  # fmt: skip
    # Written by itself first, so that no run has to lay the file out.
    whole = [f"--{key}={every[key]}" for key in ("name", "filename", "size")]
    return ToolWork(name, command, figures, threads=1,
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
    cannot=(Cannot("disk_block", "library=stdio", "fio has no engine of buffered streams"),),
)
