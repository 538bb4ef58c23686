"""Adapter for the Intel MPI Benchmarks (https://github.com/intel/mpi-benchmarks): PingPong of IMB-MPI1.

It sends unchanged data, waits for each answer, and divides the time of a round trip by two, as ``mpi_pingpong`` does.

The output of PingPong between two processes is read, with every size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.output import Imported, only, sizes_and_times
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

_VERSION = re.compile(r"^#\s+Intel\(R\) MPI Benchmarks (\d\S*), MPI-1 part", re.MULTILINE)
_BEGIN = re.compile(r"^# Benchmarking (\w+)", re.MULTILINE)
_HEADING = re.compile(r"^\s*#bytes\s+#repetitions\s+t\[usec\]\s+Mbytes/sec\s*$", re.MULTILINE)
_ROW = re.compile(r"\s+(\d+)\s+\d+\s+([\d.]+)\s+[\d.]+\s*$")
# The number of repetitions for each second of a run, by size; slow machines do about as many in a second.
_REPETITIONS_PER_S = {8: 400_000, 1 << 10: 250_000, 64 << 10: 12_000, 1 << 20: 1_200}
# IMB breaks off after this time, which is longer than any run.
_LIMIT_S = 600
_HEADING_BYTES = 4096


def read_size(size: int, text: str) -> float:
    """Return the time of a message of ``size`` bytes in one direction, in seconds, from the output of PingPong.

    Raises:
        Unreadable: the output has changed, is of another benchmark or of more processes, or lacks the size.
    """
    found = [time_s for each, time_s in _rows(text) if each == size]
    if len(found) != 1:
        raise Unreadable(f"{len(found) or 'no'} rows of {size} bytes")
    return found[0]


def _rows(text: str) -> Iterator[tuple[int, float]]:
    """Return the sizes and times. Raises Unreadable if the output has changed or is not that of one PingPong."""
    names = _BEGIN.findall(text)
    if names != ["PingPong"]:
        raise Unreadable(f"{' and '.join(names) or 'no benchmark'}: nameplate measures the same only for PingPong")
    if not re.search(r"^# #processes = 2\s*$", text, re.MULTILINE):
        raise Unreadable("not between two processes")
    if not _HEADING.search(text):
        raise Unreadable("unexpected columns")
    return sizes_and_times(text, _ROW)


def _work(setting: ToolSetting, size: int, repetitions_per_s: int) -> ToolWork:
    repetitions = str(repetitions_per_s * setting.seconds)
    sizes = f"imb-sizes-{size}"  # all works share the folder
    options = ["-msglen", sizes, "-iter", repetitions, "-iter_policy", "off", "-time", str(_LIMIT_S)]
    params: dict[str, Value] = {"size": size, "pairs": 1, "data": "unchanged"}
    compared = ComparedMetric("", "mpi_pingpong", params, "latency", partial(read_size, size))
    command = [*setting.launcher, setting.found["IMB-MPI1"].path, "PingPong", *options]
    return ToolWork(f"PingPong, {size:,} B", command, [compared], files={sizes: f"{size}\n"})


def _works(setting: ToolSetting) -> list[ToolWork]:
    return [_work(setting, *each) for each in _REPETITIONS_PER_S.items()]


REFERENCE = ReferenceTool(
    name="imb",
    programs=("IMB-MPI1",),
    identify=("PingPong", "-msglog", "3:3", "-iter", "10"),
    version=_VERSION,
    install="build the Intel MPI Benchmarks with your MPI's mpicc, and put IMB-MPI1 on PATH",
    works=_works,
    is_mpi=True,
)


def recognises(text: str) -> bool:
    """Return whether an output has IMB's heading, which up to 4 KiB of other output of the launcher may precede."""
    return _VERSION.search(text[:_HEADING_BYTES]) is not None


def read(text: str) -> Sequence[Imported]:
    """Return the latency in seconds for each message size in an output of PingPong.

    The values are in the order of the output, without the empty message. They are of the probe mpi_pingpong with the
    parameters ``size`` in bytes, ``data`` and ``pairs`` 1.

    Raises:
        Unreadable: the output has changed, has no sizes, or is of another benchmark or of more processes.
    """
    common: dict[str, Value] = {"data": "unchanged", "pairs": 1}
    found = [
        Imported("mpi_pingpong", {"size": size, **common}, "latency", time_s)
        for size, time_s in _rows(text) if size > 0
    ]  # fmt: skip
    return only(found, "sizes")
