"""Adapter for the Intel MPI Benchmarks (https://github.com/intel/mpi-benchmarks): PingPong of IMB-MPI1.

It sends unchanged data, waits for each answer, and divides the time of a round trip by two, as ``mpi_pingpong`` does.

The table of PingPong between two processes is read, with every size, also out of the output of all benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.output import Imported, ToolOutput, positive, rounding_of, tool_output, whole
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork
from nameplate.tools.text_table import table_rows, without_prefix

# "Intel (R) MPI Benchmarks 4.0 Update 1", "Intel(R) MPI Benchmarks 2019 Update 6", "Intel(R) MPI Benchmarks 2021.3"
_VERSION_LINE = r"#\s+Intel ?\(R\) MPI Benchmarks (\d\S*(?: Update \d+)?), MPI-1 part"
_VERSION = re.compile(rf"^{_VERSION_LINE}", re.MULTILINE)
_BEGIN = re.compile(r"^# Benchmarking (\S+)")
_HEADING = re.compile(r"\s*#bytes\s+#repetitions\s+t\[usec\]\s+Mbytes/sec(\s+defects)?\s*")
_FAILED = re.compile(r"\s+(\d+) +(out-of-mem|time-out|int-overflow)\b")
# Options that change the work, and how.
_CHANGES = {
    "-off_cache": "sends data that is not in the cache",
    "-contig_type": "sends data that is not contiguous, or of another type",
    "-mem_alloc_type": "sends from another kind of memory",
    "-multi": "lets several groups send at once",
}
# The number of repetitions for each second of a run, by size; slow machines do about as many in a second.
_REPETITIONS_PER_S = {8: 400_000, 1 << 10: 250_000, 64 << 10: 12_000, 1 << 20: 1_200}
# IMB breaks off after this time, which is longer than any run.
_LIMIT_S = 600


def read_size(size: int, text: str) -> float:
    """Return the time of a message of ``size`` bytes in one direction, in seconds, from the output of PingPong.

    Raises:
        Unreadable: the output has changed, is of another benchmark or of more processes, or lacks the size.
    """
    times = [value.value for value in read(text).values if value.params["size"] == size]
    if len(times) != 1:
        raise Unreadable(f"no row of {size} bytes")
    return times[0]


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
    """Return whether an output has IMB's heading, also within the log of a job and after the prefix of a launcher."""
    return re.search(rf"^(?:\S{{1,40}} ?)?{_VERSION_LINE}", text, re.MULTILINE) is not None


def read(text: str) -> ToolOutput:
    """Return the latency in seconds for each message size in the output of PingPong.

    The values are in the order of the output, without the empty message. They are of the probe mpi_pingpong with the
    parameters ``size`` in bytes, ``data`` and ``pairs`` 1. Other benchmarks are skipped, and so are rows that are not a
    time or have defects.

    Raises:
        Unreadable: the output has changed, has no sizes, or is only of other benchmarks or of more processes.
    """
    text = without_prefix(text, _VERSION_LINE)
    _check_work(text)
    values: list[Imported] = []
    skipped: list[str] = []
    other_names: list[str] = []
    for name, first_line, lines in _benchmarks(text):
        if name != "PingPong":
            other_names.append(name)
            continue
        try:
            values_read, reasons = _values_of(lines, first_line)
        except Unreadable as error:
            values_read, reasons = [], [f"line {first_line}: PingPong {error}"]
        values += values_read
        skipped += reasons
    if other_names:
        skipped.append(f"{', '.join(dict.fromkeys(other_names))}: nameplate measures the same only for PingPong")
    versions = _VERSION.findall(text)
    return tool_output(versions[0] if versions else "", values, "table of PingPong", skipped)


def _check_work(text: str) -> None:
    """Check that the messages are those of mpi_pingpong. Raises Unreadable if not."""
    if re.search(r"^#.*MPI-1 part \(GPU\)", text, re.MULTILINE):
        raise Unreadable("MPI-1 part (GPU) sends from the memory of a GPU, which mpi_pingpong does not do")
    # Versions before 2019 print six words of the command in a line.
    command = " ".join(re.findall(r"Calling sequence was:(.*?)Minimum message length", text, re.DOTALL))
    for option, effect in _CHANGES.items():
        if re.search(rf"\s{option}\b", command):
            raise Unreadable(f"{option} {effect}, which mpi_pingpong does not do")
    if others := set(re.findall(r"^# MPI_Datatype\s*:\s*(\w+)", text, re.MULTILINE)) - {"MPI_BYTE", "MPI_CHAR"}:
        raise Unreadable(f"it sends {', '.join(sorted(others))}; only messages of bytes are read")


def _benchmarks(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the name of each benchmark, the number of its first line, and its lines."""
    lines = text.splitlines()
    begins = [(index, match[1]) for index, line in enumerate(lines) if (match := _BEGIN.match(line))]
    for (begin, name), (end, _) in pairwise([*begins, (len(lines), "")]):
        yield name, begin + 1, lines[begin:end]


def _values_of(lines: Sequence[str], first_line: int) -> tuple[list[Imported], list[str]]:
    """Return the values of a PingPong, and why rows of it are not read.

    Raises Unreadable if it is not between two processes, or its columns have changed.
    """
    if not any(re.fullmatch(r"# #processes = 2\s*", line) for line in lines):
        raise Unreadable("is not between two processes")
    heading = next((index for index, line in enumerate(lines) if _HEADING.fullmatch(line)), None)
    if heading is None:
        raise Unreadable("has unexpected columns")
    has_defects = "defects" in lines[heading]
    rows, doubtful = table_rows(lines[heading + 1 :], first_line + heading + 1, 5 if has_defects else 4)
    values: list[Imported] = []
    skipped = [f"line {line} looks like a row of a table that ended above it" for line in doubtful]
    skipped += [
        f"line {number}: {match[1]} B: {match[2]}"
        for number, line in enumerate(lines, start=first_line)
        if (match := _FAILED.match(line))
    ]
    for row in rows:
        try:
            if has_defects and float(row.cells[-1]) != 0:
                raise Unreadable(f"the messages of {row.cells[0]} B have defects")
            if size := whole(row.cells[0], "the size"):
                params: dict[str, Value] = {"size": size, "data": "unchanged", "pairs": 1}
                time_s, rounding = positive(row.cells[2], 1e-6), rounding_of(row.cells[2])
                values.append(Imported("mpi_pingpong", params, "latency", time_s, rounding=rounding))
        except (Unreadable, ValueError) as error:
            skipped.append(f"line {row.line}: {error}")
    return values, skipped
