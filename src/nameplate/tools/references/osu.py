"""The OSU Micro-Benchmarks (https://mvapich.cse.ohio-state.edu/benchmarks/): MPI messages between pairs of ranks.

``osu_bw`` and ``osu_mbw_mr`` keep 64 messages under way and count what arrives; ``mpi_pingpong`` waits for each answer.
"""

from __future__ import annotations

import re
from functools import partial

from nameplate.errors import Unreadable
from nameplate.records.model import Value
from nameplate.tools.references import ComparedMetric, ReferenceTool, ToolSetting, ToolWork, positive

_WINDOWED = "OSU keeps 64 messages under way, ours waits for each answer"
_AVERAGED = "OSU has a barrier and averages over the pairs"
# By the program: the words of its heading, the heading of its second column, and that column's unit in SI.
_TESTS = {
    "osu_latency": ("Latency Test", r"(?:Avg )?Latency ?\(us\)", 1e-6),
    "osu_bw": ("Bandwidth Test", r"Bandwidth \(MB/s\)", 1e6),
    "osu_multi_lat": ("Multi Latency Test", r"(?:Avg )?Latency ?\(us\)", 1e-6),
    "osu_mbw_mr": (r"Multiple Bandwidth / Message Rate Test", r"MB/s\s+Messages/s", 1e6),
}
_SMALL, _LARGE = 8, 1 << 20


def read_size(program: str, size: int, text: str) -> float:
    """The figure of one message size, in SI units. Raises Unreadable."""
    title, heading, factor = _TESTS[program]
    if not re.search(rf"^# OSU MPI {title} v\d", text, re.MULTILINE):
        raise Unreadable(f"no heading of {program}")
    if not re.search(rf"^# Size\s+{heading}(?:\s|$)", text, re.MULTILINE):
        raise Unreadable(f"{program} has other columns than those that were expected")
    rows = re.findall(rf"^{size}\s+([\d.]+)(?:\s|$)", text, re.MULTILINE)
    if len(rows) != 1:
        raise Unreadable(f"{len(rows) or 'no'} rows of {size} bytes")
    return positive(rows[0], factor)


def _work(setting: ToolSetting, program: str, size: int, pairs: int, differs: str) -> ToolWork:
    command = [*setting.launcher, setting.found[program].path, "-m", f"{size}:{size}"]
    params: dict[str, Value] = {"size": size, "pairs": pairs}
    metric = "bandwidth" if "bw" in program else "latency"
    figure = ComparedMetric("", "mpi_pingpong", params, metric, partial(read_size, program, size), differs=differs)
    words = f"{program}, {size:,} B, {pairs} pair{'s' if pairs > 1 else ''}"
    return ToolWork(words, command, [figure])


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
    install="build the OSU Micro-Benchmarks with your MPI's mpicc and put osu_latency on PATH",
    works=_works,
    is_mpi=True,
)
