"""Adapter for likwid-bench (https://github.com/RRZE-HPC/likwid): assembly loops, one kernel per instruction set.

Each thread initialises its own part of the arrays (``-W``). The result of a run is its total work divided by its total
time.
"""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

from nameplate.records.plan_record import Value
from nameplate.tools.output import number
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

# nameplate's name, likwid's suffix, and the CPU flag that both need.
_WIDTHS = (("avx512", "avx512", "avx512f"), ("avx2", "avx", "avx2"), ("sse2", "sse", "sse2"))
_IN_REGISTERS_KB = 16


class _Stream(NamedTuple):
    """A streaming loop: nameplate's ``op`` and ``stores``, likwid's kernel with the same traffic, and its arrays.

    ``arrays`` is the number of arrays that the kernel reads or writes.
    """

    op: str
    stores: str
    kernel: str
    arrays: int


_STREAMS = (
    _Stream("copy", "plain", "copy_{}", 2),
    _Stream("triad", "plain", "stream_{}_fma", 3),
    _Stream("triad", "nontemporal", "stream_mem_{}_fma", 3),
    _Stream("read", "plain", "load_{}", 1),
)
# likwid's syntax for the hardware threads of the first socket.
_DOMAIN = "S0"


def _rate(unit: str, text: str) -> float:
    return number(text, rf"^{unit}/s:\s+([\d.]+)$", f"line {unit}/s", 1e6)


def _command(setting: ToolSetting, kernel: str, kilobytes: int, threads: int) -> list[str]:
    where = f"{_DOMAIN}:{kilobytes}kB:{threads}"
    return [setting.programs["likwid-bench"].path, "-t", kernel, "-W", where, "-s", str(setting.seconds)]


def _flops(setting: ToolSetting, isa: str, suffix: str, threads: int) -> ToolWork:
    has_fma = isa != "sse2" and setting.has("fma")
    mix, kernel = ("fma", f"peakflops_{suffix}_fma") if has_fma else ("add+mul", f"peakflops_{suffix}")
    params: dict[str, Value] = {"isa": isa, "mix": mix, "threads": threads}
    compared = ComparedMetric("", "cpu_flops", params, "rate", partial(_rate, "MFlops"), sample_s=setting.seconds)
    name = f"{isa} {mix} fp64, {threads} thread{'s' if threads > 1 else ''}"
    return ToolWork(name, _command(setting, kernel, _IN_REGISTERS_KB * threads, threads), [compared])


def _stream(setting: ToolSetting, stream: _Stream, suffix: str, threads: int) -> ToolWork:
    array_bytes = setting.beyond_bytes // 64_000 * 64_000
    params: dict[str, Value] = {"op": stream.op, "stores": stream.stores, "threads": threads, "size": array_bytes}
    compared = ComparedMetric(
        "", "memory_stream", params, "bandwidth", partial(_rate, "MByte"), sample_s=setting.seconds
    )
    name = f"{stream.op} {stream.stores}, {threads} thread{'s' if threads > 1 else ''}"
    kilobytes = stream.arrays * array_bytes // 1000
    return ToolWork(name, _command(setting, stream.kernel.format(suffix), kilobytes, threads), [compared])


def _works(setting: ToolSetting) -> list[ToolWork]:
    widths = [(isa, suffix) for isa, suffix, flag in _WIDTHS if setting.has(flag)]
    counts = sorted({1, setting.cores})
    works = [_flops(setting, isa, suffix, threads) for isa, suffix in widths for threads in counts]
    suffix = next((suffix for _, suffix in widths if suffix != "sse"), "")
    if suffix:
        works += [_stream(setting, stream, suffix, threads) for stream in _STREAMS for threads in counts]
    return works


REFERENCE = ReferenceTool(
    name="likwid",
    programs=("likwid-bench",),
    identify=("-h",),
    version=re.compile(r"Threaded Memory Hierarchy Benchmark --\s+Version\s+(\S+)"),
    install="apt install likwid",
    works=_works,
)
