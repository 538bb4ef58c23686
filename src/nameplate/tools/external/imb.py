"""Adapter for the Intel MPI Benchmarks (https://github.com/intel/mpi-benchmarks): PingPong of IMB-MPI1.

PingPong sends unchanged data, waits for each answer, and divides the time of a round trip by two, as ``mpi_pingpong``
does. Its table for two processes is read with every size, even if the output has other benchmarks as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise, takewhile

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.line_prefix import LogLine, has_heading, split_by_prefix
from nameplate.tools.output import Imported, ToolOutput, integer, positive, rounding_of, tool_output
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork
from nameplate.tools.text_table import rows_without_heading, table_rows

# "Intel (R) MPI Benchmarks 4.0 Update 1", "Intel(R) MPI Benchmarks 2019 Update 6", "Intel(R) MPI Benchmarks 2021.3"
_VERSION_LINE = r"# +Intel ?\(R\) MPI Benchmarks (\d\S*(?: Update \d+)?), MPI-1 part"
_VERSION = re.compile(rf"^{_VERSION_LINE}", re.MULTILINE)
_BENCHMARK = re.compile(r"^# Benchmarking (\S+)")
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
# The number of repetitions per second of runtime, by message size; a slow machine does about that many.
_REPETITIONS_PER_S = {8: 400_000, 1 << 10: 250_000, 64 << 10: 12_000, 1 << 20: 1_200}
# IMB's own time limit, longer than any run.
_LIMIT_S = 600


def read_size(size: int, text: str) -> float:
    """Return the time in seconds of a message of ``size`` bytes in one direction, from PingPong's output ``text``.

    Raises:
        Unreadable: the output has an unexpected form, is of another benchmark or of more than two processes, or lacks
            the size.
    """
    times = [value.value for value in read(text).values if value.params["size"] == size]
    if len(times) != 1:
        raise Unreadable(f"no row of {size} bytes")
    return times[0]


def _works(setting: ToolSetting) -> list[ToolWork]:
    works = []
    for size, repetitions_per_s in _REPETITIONS_PER_S.items():
        repetitions = str(repetitions_per_s * setting.seconds)
        sizes = f"imb-sizes-{size}"  # all works share the folder
        options = ["-msglen", sizes, "-iter", repetitions, "-iter_policy", "off", "-time", str(_LIMIT_S)]
        params: dict[str, Value] = {"size": size, "pairs": 1, "data": "unchanged"}
        compared = ComparedMetric("", "mpi_pingpong", params, "latency", partial(read_size, size))
        command = [*setting.launcher, setting.programs["IMB-MPI1"].path, "PingPong", *options]
        works.append(ToolWork(f"PingPong, {size:,} B", command, [compared], files={sizes: f"{size}\n"}))
    return works


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
    """Return whether ``text`` contains IMB's heading, possibly within a job log and after a launcher's line prefix."""
    return has_heading(text, _VERSION_LINE)


def read(text: str) -> ToolOutput:
    """Return the latency in seconds for each message size in the output of PingPong, except size 0.

    The values are in the order of the output. The probe is mpi_pingpong with the parameters ``size`` in bytes, ``data``
    "unchanged" and ``pairs`` 1. Other benchmarks are skipped, and so are runs with options that change the work, rows
    without a valid time or with defects, and rows with another line prefix than the heading. If the program checks the
    data, the values have a ``restriction``, since the check is in the time.

    Raises:
        Unreadable: the output has an unexpected form, or nothing in it can be read.
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
    """Yield the lines of each run that contains a benchmark; a run ends at the next heading."""
    headings = [index for index, line in enumerate(lines) if _ANY_HEADING.match(line.text.lstrip())]
    for start, end in pairwise([0, *headings, len(lines)]):
        if any(_BENCHMARK.match(line.text.lstrip()) for line in lines[start:end]):
            yield lines[start:end]


def _check_work(run: Sequence[LogLine]) -> None:
    """Check that the run sends the same messages as mpi_pingpong. Raises Unreadable if not."""
    heading = run[0].text
    if not re.match(_VERSION_LINE, heading.lstrip()):
        raise Unreadable("only IMB-MPI1 measures the same as mpi_pingpong, and its heading is not above this line")
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
    """Return the command line of a run. IMB before 2019 splits it into lines of six arguments.

    Raises:
        Unreadable: the run has no command line.
    """
    texts = [line.text for line in run]
    start = next((index for index, text in enumerate(texts) if "Calling sequence was:" in text), None)
    if start is None:
        raise Unreadable("no line 'Calling sequence was:', which has the options")
    return " ".join(takewhile(lambda text: not _COMMAND_END.match(text.lstrip()), texts[start + 1 :]))


def _values_of_run(run: Sequence[LogLine]) -> tuple[list[Imported], list[str]]:
    """Return the values of PingPong in a run, and a reason for each part that is not read."""
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
        skipped.append(f"{', '.join(dict.fromkeys(other_names))}: only PingPong measures the same as mpi_pingpong")
    return values, skipped


def _benchmarks(lines: Sequence[LogLine]) -> Iterator[tuple[str, Sequence[LogLine]]]:
    """Yield the name and the lines of each benchmark."""
    begins = [(index, match[1]) for index, line in enumerate(lines) if (match := _BENCHMARK.match(line.text.lstrip()))]
    for (start, name), (end, _) in pairwise([*begins, (len(lines), "")]):
        yield name, lines[start:end]


def _values_of(lines: Sequence[LogLine]) -> tuple[list[Imported], list[str]]:
    """Return the values of one PingPong table, and a reason for each row that is not read.

    A program built with ``-DCHECK`` compares the data within the timed loop.

    Raises:
        Unreadable: PingPong ran between more than two processes, or its columns have changed.
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
            if size := integer(row.cells[0], "the size"):
                params: dict[str, Value] = {"size": size, "data": "unchanged", "pairs": 1}
                time_s, rounding = positive(row.cells[2], 1e-6), rounding_of(row.cells[2])
                restriction = "the check of the data (-DCHECK) is in the time" if is_checked else ""
                values.append(
                    Imported("mpi_pingpong", params, "latency", time_s, restriction=restriction, rounding=rounding)
                )
        except Unreadable as error:
            skipped.append(f"line {row.line}: {error}")
    return values, skipped
