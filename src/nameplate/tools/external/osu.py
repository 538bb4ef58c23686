"""Adapter for the OSU Micro-Benchmarks (https://mvapich.cse.ohio-state.edu/benchmarks/): MPI messages between ranks.

All send unchanged data. ``osu_bw`` and ``osu_mbw_mr`` keep 64 messages in flight and count what arrives;
``mpi_pingpong`` waits for each answer.

The outputs of osu_latency and osu_multi_lat are read, with every size.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.output import Imported, only, positive, sizes_and_times
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

_WINDOWED = "OSU keeps 64 messages in flight, nameplate waits for each answer"
_AVERAGED = "OSU has a barrier and averages over the pairs"
# For each program: the words of its heading, the heading of its second column, and that column's unit in SI.
_TESTS = {
    "osu_latency": ("Latency Test", r"(?:Avg )?Latency ?\(us\)", 1e-6),
    "osu_bw": ("Bandwidth Test", r"Bandwidth \(MB/s\)", 1e6),
    "osu_multi_lat": ("Multi Latency Test", r"(?:Avg )?Latency ?\(us\)", 1e-6),
    "osu_mbw_mr": (r"Multiple Bandwidth / Message Rate Test", r"MB/s\s+Messages/s", 1e6),
}
_SMALL, _LARGE = 8, 1 << 20
_ROW = re.compile(r"(\d+)\s+([\d.]+)(?:\s|$)")


def read_size(program: str, size: int, text: str) -> float:
    """Return the value for messages of ``size`` bytes: seconds of a latency test, B/s of a bandwidth test.

    ``program`` is ``osu_latency``, ``osu_multi_lat``, ``osu_bw`` or ``osu_mbw_mr``, and ``text`` its output.

    The latency and the bandwidth are as OSU prints them: ``osu_multi_lat`` averages over the pairs, ``osu_mbw_mr`` adds
    them up. Raises KeyError for another ``program``.

    Raises:
        Unreadable: the output has changed, is of another program, or lacks the size.
    """
    title, heading, factor = _TESTS[program]
    if not re.search(rf"^# OSU MPI {title} v\d", text, re.MULTILINE):
        raise Unreadable(f"no heading of {program}")
    if not re.search(rf"^# Size\s+{heading}(?:\s|$)", text, re.MULTILINE):
        raise Unreadable(f"{program} has unexpected columns")
    rows = re.findall(rf"^{size}\s+([\d.]+)(?:\s|$)", text, re.MULTILINE)
    if len(rows) != 1:
        raise Unreadable(f"{len(rows) or 'no'} rows of {size} bytes")
    return positive(rows[0], factor)


def _work(setting: ToolSetting, program: str, size: int, pairs: int, differs: str) -> ToolWork:
    command = [*setting.launcher, setting.found[program].path, "-m", f"{size}:{size}"]
    params: dict[str, Value] = {"size": size, "pairs": pairs, "data": "unchanged"}
    metric = "bandwidth" if "bw" in program else "latency"
    compared = ComparedMetric("", "mpi_pingpong", params, metric, partial(read_size, program, size), differs=differs)
    words = f"{program}, {size:,} B, {pairs} pair{'s' if pairs > 1 else ''}"
    return ToolWork(words, command, [compared])


def _works(setting: ToolSetting) -> list[ToolWork]:
    pairs = max(1, setting.ranks // 2)
    wanted = [
        ("osu_latency", _SMALL, 1, ""),
        ("osu_latency", _LARGE, 1, ""),
        ("osu_bw", _LARGE, 1, _WINDOWED),
        ("osu_multi_lat", _SMALL, pairs, _AVERAGED),
        ("osu_mbw_mr", _LARGE, pairs, _WINDOWED),
    ]
    return [_work(setting, *work) for work in wanted if work[0] in setting.found]


REFERENCE = ReferenceTool(
    name="osu",
    programs=tuple(_TESTS),
    identify=("-m", "8:8", "-i", "10"),
    version=re.compile(r"^# OSU MPI .+ v(\d\S*)", re.MULTILINE),
    install="build the OSU Micro-Benchmarks with your MPI's mpicc, and put osu_latency on PATH",
    works=_works,
    is_mpi=True,
)


_TITLES = {"Latency Test": "osu_latency", "Multi Latency Test": "osu_multi_lat"}


def recognises(text: str) -> bool:
    """Return whether an output has OSU's heading, which up to 4 KiB of other output of the launcher may precede."""
    return re.search(r"^# OSU MPI ", text[:4096], re.MULTILINE) is not None


def read(text: str) -> Sequence[Imported]:
    """Return the latency in seconds for each message size in an output of osu_latency or osu_multi_lat.

    The values are in the order of the output. They are of the probe mpi_pingpong with the parameters ``size`` in bytes,
    ``data`` and, for osu_latency, ``pairs`` 1; the output of osu_multi_lat does not tell the number of pairs.

    Raises:
        Unreadable: the output has changed, has no sizes, or is of another OSU test.
    """
    title = re.search(r"^# OSU MPI (.+?) v\d", text, re.MULTILINE)
    if title is None or title[1] not in _TITLES:
        name = title[1] if title else "an unknown test"
        raise Unreadable(f"{name}: nameplate measures the same only for {' and '.join(_TITLES.values())}")
    if not re.search(r"^# Size\s+(?:Avg )?Latency ?\(us\)(?:\s|$)", text, re.MULTILINE):
        raise Unreadable("unexpected columns")
    rows = sizes_and_times(text, _ROW)
    # Only the launcher knows the number of pairs of osu_multi_lat.
    common: dict[str, Value] = {"data": "unchanged", **({"pairs": 1} if title[1] == "Latency Test" else {})}
    return only(
        [Imported("mpi_pingpong", {"size": size, **common}, "latency", time_s) for size, time_s in rows], "sizes"
    )
