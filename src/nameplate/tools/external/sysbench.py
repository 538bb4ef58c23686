"""Adapter for sysbench (https://github.com/akopytov/sysbench): its memory and file tests.

Its CPU test finds primes by trial division, which no probe does.
"""

from __future__ import annotations

import re

from nameplate.records.plan_record import Value
from nameplate.tools.output import number
from nameplate.tools.reference_tool import ComparedMetric, NotMeasurable, ReferenceTool, ToolSetting, ToolWork

FILE_BYTES = 300 << 20
_BLOCK = 1 << 20


def _memory(text: str) -> float:
    return number(text, r"^[\d.]+ MiB transferred \(([\d.]+) MiB/sec\)$", "line of transferred bytes", 2**20)


def _reads(text: str) -> float:
    return number(text, r"^\s+reads/s:\s+([\d.]+)$", "line reads/s")


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = setting.programs["sysbench"].path
    file = [program, "fileio", "--file-num=1", f"--file-total-size={FILE_BYTES}"]
    seconds = f"--time={setting.seconds}"
    write: dict[str, Value] = {"op": "write", "block": _BLOCK, "size": _BLOCK, "threads": 1}
    read: dict[str, Value] = {"op": "read", "pattern": "random", "block": 4096, "cache": "warm", "threads": 1,
                              "size": FILE_BYTES, "file": str(setting.folder)}  # fmt: skip
    by_word = "sysbench writes word by word; nameplate uses the C library's memset, which writes vectors"
    return [
        ToolWork(
            "write 1 MiB repeatedly, 1 thread",
            [program, "memory", f"--memory-block-size={_BLOCK}", "--memory-oper=write", "--memory-total-size=100T",
             seconds, "run"],
            [ComparedMetric("", "memory_block", write, "bandwidth", _memory, differs=by_word)],
            threads=1,
        ),
        ToolWork(
            "4 KiB random read, page cache",
            [*file, "--file-test-mode=rndrd", "--file-block-size=4096", "--file-io-mode=sync", seconds, "run"],
            [ComparedMetric("", "disk_block", read, "iops", _reads)],
            threads=1,
            prepare=[*file, "prepare"],
            cached="test_file.0",
        ),
    ]  # fmt: skip


REFERENCE = ReferenceTool(
    name="sysbench",
    programs=("sysbench",),
    identify=("--version",),
    version=re.compile(r"^sysbench (\S+)"),
    install="apt install sysbench",
    works=_works,
    cannot=(
        NotMeasurable("cpu_intops", "sysbench cpu",
                      "it finds the primes below 10,000 by trial division, which no probe does"),
    ),
)  # fmt: skip
