"""Adapter for the Intel MPI Benchmarks (https://github.com/intel/mpi-benchmarks): PingPong of IMB-MPI1.

It sends unchanged data, waits for each answer, and divides the time of a round trip by two, as ``mpi_pingpong`` does.

The table of PingPong between two processes is read, with every size, also out of the output of all benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise, takewhile

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.line_prefix import LogLine, has_heading, split_by_prefix
from nameplate.tools.output import Imported, ToolOutput, positive, rounding_of, tool_output, whole
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork
from nameplate.tools.text_table import rows_without_heading, table_rows

# "Intel (R) MPI Benchmarks 4.0 Update 1", "Intel(R) MPI Benchmarks 2019 Update 6", "Intel(R) MPI Benchmarks 2021.3"
_VERSION_LINE = r"# +Intel ?\(R\) MPI Benchmarks (\d\S*(?: Update \d+)?), MPI-1 part"
_VERSION = re.compile(rf"^{_VERSION_LINE}", re.MULTILINE)
_BEGIN = re.compile(r"^# Benchmarking (\S+)")
_ANY_HEADING = re.compile(r"# +Intel ?\(R\) MPI Benchmark")
_COMMAND_END = re.compile(r"# (?:Minimum message|Message lengths|MPI_Datatype|List of Benchmarks|Benchmarking)")
_DATE = re.compile(r"# Date +:")
_DATATYPE = re.compile(r"# MPI_Datatype\s*:\s*(\w+)")
_COLUMNS = re.compile(r"\s*#bytes\s+#repetitions\s+t\[usec\]\s+Mbytes/sec(\s+defects)?\s*")
_FAILED = re.compile(r"\s+(\d+) +(out-of-mem|time-out|int-overflow)\b")
# Options that change the work, and how.
_CHANGES = {
    "-off_cache": "sends data that is not in the cache",
    "-contig_type": "sends data that is not contiguous, or of another type",
    "-mem_alloc_type": "sends from another kind of memory",
    "-load": "takes options from a file that the output does not show",
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
    return has_heading(text, _VERSION_LINE)


def read(text: str) -> ToolOutput:
    """Return the latency in seconds for each message size in the output of PingPong.

    The values are in the order of the output, without the empty message. They are of the probe mpi_pingpong with the
    parameters ``size`` in bytes, ``data`` and ``pairs`` 1. Skipped are runs with options that change the work or with a
    check of the data, other benchmarks, and rows that are not a time or have another prefix than the heading.

    Raises:
        Unreadable: the output has changed, has no sizes, or nothing in it can be read.
    """
    processes, rest = split_by_prefix(text, _VERSION_LINE)
    values: list[Imported] = []
    skipped: list[str] = []
    for run in (run for process in processes for run in _runs(process)):
        try:
            _check_work(run)
        except Unreadable as error:
            skipped.append(f"line {run[0].number}: {error}")
            continue
        values_read, reasons = _values_of_run(run)
        values += values_read
        skipped += reasons
    versions = re.findall(_VERSION_LINE, text)
    skipped += rows_without_heading(rest)
    return tool_output(
        versions[0] if versions else "", values, "table of PingPong", skipped, is_dated=_DATE.search(text) is not None
    )


def _runs(lines: Sequence[LogLine]) -> Iterator[Sequence[LogLine]]:
    """Yield the lines of each run with a benchmark, from its heading, if it has one, to the next heading."""
    headings = [index for index, line in enumerate(lines) if _ANY_HEADING.match(line.text.lstrip())]
    for begin, end in pairwise([0, *headings, len(lines)]):
        if any(_BEGIN.match(line.text.lstrip()) for line in lines[begin:end]):
            yield lines[begin:end]


def _check_work(run: Sequence[LogLine]) -> None:
    """Check that the messages are those of mpi_pingpong. Raises Unreadable if not."""
    heading = run[0].text
    if not re.match(_VERSION_LINE, heading.lstrip()):
        raise Unreadable("nameplate measures the same only for IMB-MPI1, whose heading is not above this line")
    if "(GPU)" in heading:
        raise Unreadable("MPI-1 part (GPU) sends from the memory of a GPU, which mpi_pingpong does not do")
    command = _command(run)
    for option, effect in _CHANGES.items():
        if re.search(rf"\s{option}\b", command):
            raise Unreadable(f"{option} {effect}, which mpi_pingpong does not do")
    datatypes = {match[1] for line in run if (match := _DATATYPE.match(line.text.lstrip()))}
    if other_types := datatypes - {"MPI_BYTE", "MPI_CHAR"}:
        raise Unreadable(f"it sends {', '.join(sorted(other_types))}; only messages of bytes are read")


def _command(run: Sequence[LogLine]) -> str:
    """Return the command of a run in one line; versions before 2019 print six words of it in a line.

    Raises:
        Unreadable: the run has no command.
    """
    texts = [line.text for line in run]
    begin = next((index for index, text in enumerate(texts) if "Calling sequence was:" in text), None)
    if begin is None:
        raise Unreadable("no line 'Calling sequence was:', which has the options")
    return " ".join(takewhile(lambda text: not _COMMAND_END.match(text.lstrip()), texts[begin + 1 :]))


def _values_of_run(run: Sequence[LogLine]) -> tuple[list[Imported], list[str]]:
    """Return the values of PingPong in a run, and why other parts of it are not read."""
    values: list[Imported] = []
    skipped: list[str] = []
    other_names: list[str] = []
    for name, lines in _benchmarks(run):
        if name != "PingPong":
            other_names.append(name)
            continue
        try:
            values_read, reasons = _values_of(lines)
        except Unreadable as error:
            values_read, reasons = [], [f"line {lines[0].number}: PingPong {error}"]
        values += values_read
        skipped += reasons
    if other_names:
        skipped.append(f"{', '.join(dict.fromkeys(other_names))}: nameplate measures the same only for PingPong")
    return values, skipped


def _benchmarks(lines: Sequence[LogLine]) -> Iterator[tuple[str, Sequence[LogLine]]]:
    """Yield the name of each benchmark, and its lines."""
    begins = [(index, match[1]) for index, line in enumerate(lines) if (match := _BEGIN.match(line.text.lstrip()))]
    for (begin, name), (end, _) in pairwise([*begins, (len(lines), "")]):
        yield name, lines[begin:end]


def _values_of(lines: Sequence[LogLine]) -> tuple[list[Imported], list[str]]:
    """Return the values of a PingPong, and why rows of it are not read.

    A program that was built with ``-DCHECK`` compares the data within the loop that it times.

    Raises:
        Unreadable: it is not between two processes, or its columns have changed.
    """
    if not any(re.fullmatch(r"# #processes = 2", line.text.strip()) for line in lines):
        raise Unreadable("is not between two processes")
    heading = next((index for index, line in enumerate(lines) if _COLUMNS.fullmatch(line.text)), None)
    if heading is None:
        raise Unreadable("has unexpected columns")
    is_checked = "defects" in lines[heading].text
    rows, skipped = table_rows(lines[heading + 1 :], 5 if is_checked else 4)
    skipped += [
        f"line {line.number}: {match[1]} B: {match[2]}" for line in lines if (match := _FAILED.match(line.text))
    ]
    values: list[Imported] = []
    for row in rows:
        if is_checked and not re.fullmatch(r"0+(?:\.0*)?", row.cells[-1]):
            skipped.append(f"line {row.line}: the messages of {row.cells[0]} B have defects")
            continue
        try:
            if size := whole(row.cells[0], "the size"):
                params: dict[str, Value] = {"size": size, "data": "unchanged", "pairs": 1}
                time_s, rounding = positive(row.cells[2], 1e-6), rounding_of(row.cells[2])
                restriction = "the check of the data (-DCHECK) is in the time" if is_checked else ""
                values.append(
                    Imported("mpi_pingpong", params, "latency", time_s, restriction=restriction, rounding=rounding)
                )
        except Unreadable as error:
            skipped.append(f"line {row.line}: {error}")
    return values, skipped
