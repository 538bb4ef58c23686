"""IOzone (https://www.iozone.org): one file by records of 1 KiB to 16 MiB, in the page cache or past it."""

from __future__ import annotations

import re
from functools import partial

from nameplate.errors import Unreadable
from nameplate.model import Value
from nameplate.references import Cannot, Figure, Reference, Setting, Work, positive

SIZE_BYTES = 300 << 20
_COLUMNS = ("write", "rewrite", "read", "reread")


def _column(block: int, column: str, text: str) -> float:
    """Of the only row, below the headings that were expected."""
    headings = re.search(r"^\s+kB\s+reclen((?:\s+[a-z]+)+)$", text, re.MULTILINE)
    rows = re.findall(rf"^\s+{SIZE_BYTES >> 10}\s+{block >> 10}((?:\s+\d+)+)\s*$", text, re.MULTILINE)
    if headings is None or tuple(headings[1].split()[:4]) != _COLUMNS or len(rows) != 1:
        raise Unreadable("no table of write, rewrite, read and reread with a row of that size")
    values = rows[0].split()
    if len(values) != len(_COLUMNS):
        raise Unreadable(f"{len(values)} figures where {len(_COLUMNS)} were expected")
    return positive(values[_COLUMNS.index(column)], 1024)


# Measured with perf on Linux 6.18: two thirds of the time of a 4 KiB write pass in ext4_block_write_begin and
# block_commit_write, which walk the buffers of a folio, and ours are large.
_FOLIOS = (
    "IOzone wrote its file by such records, we ours by larger blocks: the page cache has larger folios then, and ext4 "
    "walks all blocks of a folio at each write"
)
_LARGE_BLOCK = 1 << 20


def _work(setting: Setting, block: int, direct: bool) -> Work:
    command = [setting.found["iozone"].path, "-i", "0", "-i", "1", "-r", f"{block >> 10}k",
               "-s", f"{SIZE_BYTES >> 20}m", "-f", "iozone.data", *(["-I"] if direct else [])]  # fmt: skip
    every: dict[str, Value] = {"block": block, "threads": 1, "cache": "direct" if direct else "warm", "pass": "again",
                               "size": SIZE_BYTES, "file": str(setting.folder)}  # fmt: skip
    figures = [
        Figure(column, "disk_block", {"op": op, **every}, "bandwidth", partial(_column, block, column),
               differs=_FOLIOS if op == "write" and not direct and block < _LARGE_BLOCK else "")
        for op, column in (("write", "rewrite"), ("read", "reread"))
    ]  # fmt: skip
    size = f"{block >> 20} MiB" if block >= 1 << 20 else f"{block >> 10} KiB"
    return Work(f"{size} records, {'direct' if direct else 'page cache'}", command, figures, threads=1)


def _works(setting: Setting) -> list[Work]:
    return [_work(setting, 4096, direct=False), _work(setting, 1 << 20, direct=False),
            _work(setting, 1 << 20, direct=True)]  # fmt: skip


REFERENCE = Reference(
    name="iozone",
    programs=("iozone",),
    identify=("-v",),
    version=re.compile(r"'Iozone' Filesystem Benchmark Program\s+Version \$Revision: (\S+) \$"),
    install="apt install iozone3 (of Debian's section non-free)",
    works=_works,
    cannot=(
        Cannot("disk_block", "block=1,8", "its records are 1 KiB to 16 MiB"),
        Cannot("disk_block", "block=80MiB", "its records are 1 KiB to 16 MiB"),
    ),
)
