"""Adapter for IOzone (https://www.iozone.org): one file by records of 1 KiB to 16 MiB, in the page cache or direct.

Its tests 0, 1 and 2 (``-i``) are write and rewrite, read and reread, random read and random write; a plan that sets its
work also runs tests 3 to 7. It prints KiB/s.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from nameplate.errors import Unreadable, UsageError
from nameplate.records.plan_record import Value
from nameplate.tools.output import positive
from nameplate.tools.reference_tool import ComparedMetric, NotMeasurable, ReferenceTool, ToolSetting, ToolWork
from nameplate.units import parse_size, size_text

DEFAULT_FILE_BYTES = 256 << 20
# The record sizes of the studies that nameplate reproduces.
DEFAULT_RECORDS = (1 << 10, 8 << 10, 1 << 20, 8 << 20)
DIRECT_RECORD = 1 << 20
MIN_RECORD, MAX_RECORD = 1 << 10, 16 << 20
# IOzone's passes over its file besides those that give a column: a third write, and the removal.
_FURTHER_PASSES = 2
_ASSUMED_BYTES_PER_S = 1e9

# The columns of IOzone's tests in the order in which it prints them, with nameplate's parameters for the same work.
_COLUMNS = {
    "write": ("write", "sequential", "first"),
    "rewrite": ("write", "sequential", "again"),
    "read": ("read", "sequential", "first"),
    "reread": ("read", "sequential", "again"),
    "random read": ("read", "random", "again"),
    "random write": ("write", "random", "again"),
    "backward read": ("read", "backward", "again"),
    "record rewrite": ("write", "record", "again"),
    "stride read": ("read", "stride", "again"),
    "fwrite": ("write", "sequential", "first"),
    "frewrite": ("write", "sequential", "again"),
    "fread": ("read", "sequential", "first"),
    "freread": ("read", "sequential", "again"),
}
# The tests that are compared by default have the first columns.
_DEFAULT_TESTS, _DEFAULT_COLUMNS = range(3), 6
_ALL_TESTS = range(8)


def _column(size: int, record: int, names: Sequence[str], column: str, text: str) -> float:
    """Return the value in B/s of the column named ``column`` in the only row, for a file of ``size`` bytes.

    ``record`` is the record size in bytes, and ``names`` has the names of all columns. Raises Unreadable if the
    headings or the row are not as expected.
    """
    # The first word of a name of two is in the line above.
    expected = [name.rpartition(" ")[2] for name in names]
    headings = re.search(r"^\s+kB\s+reclen((?:\s+[a-z]+)+)\s*$", text, re.MULTILINE)
    rows = re.findall(rf"^\s+{size >> 10}\s+{record >> 10}((?:\s+\d+)+)\s*$", text, re.MULTILINE)
    if headings is None or headings[1].split()[: len(expected)] != expected or len(rows) != 1:
        raise Unreadable(f"no table of {', '.join(names)} with a row of that size")
    values = rows[0].split()
    if len(values) != len(names):
        raise Unreadable(f"{len(values)} values instead of {len(names)}")
    return positive(values[names.index(column)], 1024)


# Measured with perf on Linux 6.18: two thirds of a 4 KiB write pass are spent in ext4_block_write_begin and
# block_commit_write, which walk the buffers of a folio. A plain loop that does as nameplate does takes 9 % longer for
# 1 MiB and 5 % for 8 MiB (docs/measurements/disk.md).
_OTHER_PAGES = (
    "IOzone rewrites pages that are still dirty, in folios of its records; nameplate has written them out before, and "
    "its folios are larger: ext4 walks all blocks of a folio at each write"
)


def _work(setting: ToolSetting, record: int, size: int, direct: bool) -> ToolWork:
    tests = _ALL_TESTS if setting.params else _DEFAULT_TESTS
    columns = list(_COLUMNS) if setting.params else list(_COLUMNS)[:_DEFAULT_COLUMNS]
    command = [setting.programs["iozone"].path, *(word for test in tests for word in ("-i", f"{test}")),
               "-r", f"{record >> 10}k", "-s", f"{size >> 10}k", "-f", "iozone.data",
               *(["-I"] if direct else [])]  # fmt: skip
    every: dict[str, Value] = {"block": record, "threads": 1, "cache": "direct" if direct else "warm", "size": size,
                               "file": str(setting.folder)}  # fmt: skip
    metrics = []
    for column in columns:
        op, pattern, which = _COLUMNS[column]
        library: dict[str, Value] = {"library": "stdio"} if column.startswith("f") else {}
        params: dict[str, Value] = {"op": op, "pattern": pattern, "pass": which, **library, **every}
        metrics.append(ComparedMetric(
            column, "disk_block", params, "bandwidth", partial(_column, size, record, columns, column),
            differs=_OTHER_PAGES if (op, which) == ("write", "again") and not direct else "",
        ))  # fmt: skip
    name = f"{size_text(record)} records, {size_text(size)} file, {'direct' if direct else 'page cache'}"
    n_passes = len(columns) + _FURTHER_PASSES
    return ToolWork(name, command, metrics, threads=1, takes_s=n_passes * size / _ASSUMED_BYTES_PER_S)


def _works(setting: ToolSetting) -> list[ToolWork]:
    """Return one work for each record size; a plan may give the record sizes and the file size.

    By default, the sizes are from the reproduced studies, and there is one more work with direct I/O.
    """
    size = setting.params.get("size", DEFAULT_FILE_BYTES)
    records = setting.params.get("block", DEFAULT_RECORDS)
    too_large = next((record for record in records if record > size), None)
    if too_large is not None:
        raise UsageError(
            f"iozone: block = {size_text(too_large)} is larger than the file, size = {size_text(size)}; use smaller "
            "blocks or a larger size"
        )
    cached = [_work(setting, record, size, direct=False) for record in records]
    return cached if setting.params else [*cached, _work(setting, DIRECT_RECORD, size, direct=True)]


def _records(text: str) -> tuple[int, ...]:
    """Return the record sizes in bytes of a list in the form ``8KiB,8MiB``.

    Raises:
        UsageError: a size is not one of IOzone's record sizes.
    """
    records = tuple(parse_size(part.strip()) for part in text.split(","))
    for record in records:
        if not MIN_RECORD <= record <= MAX_RECORD or record % 1024:
            raise UsageError(f"'{size_text(record)}': not a record size of IOzone; use whole KiB from 1KiB to 16MiB")
    return records


def _file_size(text: str) -> int:
    size = parse_size(text)
    if size < MIN_RECORD or size % 1024:
        raise UsageError(f"'{text}': not a file size of IOzone; use whole KiB, at least 1KiB")
    return size


REFERENCE = ReferenceTool(
    name="iozone",
    programs=("iozone",),
    identify=("-v",),
    version=re.compile(r"'Iozone' Filesystem Benchmark Program\s+Version \$Revision: (\S+) \$"),
    install="apt install iozone3 (in Debian's section non-free, which script/bootstrap bench enables)",
    works=_works,
    cannot=(
        NotMeasurable("disk_block", "block=1,8", "its records are 1 KiB to 16 MiB"),
        NotMeasurable("disk_block", "block=80MiB", "its records are 1 KiB to 16 MiB"),
    ),
    parameters={"block": _records, "size": _file_size},
)
