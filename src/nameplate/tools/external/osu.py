"""Adapter for the OSU Micro-Benchmarks (https://mvapich.cse.ohio-state.edu/benchmarks/): MPI messages between ranks.

All programs send unchanged data. ``osu_bw`` and ``osu_mbw_mr`` keep 64 messages in flight and count the arrived bytes;
``mpi_pingpong`` waits for each answer.

The tables of osu_latency and osu_multi_lat are read with all sizes, even within the log of a job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, takewhile

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.line_prefix import LogLine, has_heading, split_by_prefix
from nameplate.tools.output import Imported, ToolOutput, integer, positive, rounding_of, tool_output
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork
from nameplate.tools.text_table import TextRow, rows_without_heading, table_rows

_WINDOWED = "OSU keeps 64 messages in flight, nameplate waits for each answer"
_AVERAGED = "OSU has a barrier and averages over the pairs"
# The text of each program's heading, the heading of its second column, and the factor that converts this column to SI.
_TESTS = {
    "osu_latency": ("Latency Test", r"(?:Avg )?Latency ?\(us\)", 1e-6),
    "osu_bw": ("Bandwidth Test", r"Bandwidth \(MB/s\)", 1e6),
    "osu_multi_lat": ("Multi Latency Test", r"(?:Avg )?Latency ?\(us\)", 1e-6),
    "osu_mbw_mr": (r"Multiple Bandwidth / Message Rate Test", r"MB/s\s+Messages/s", 1e6),
}
_SMALL, _LARGE = 8, 1 << 20


def read_size(program: str, size: int, text: str) -> float:
    """Return the value for messages of ``size`` bytes: the latency in seconds or the bandwidth in B/s.

    ``program`` is ``osu_latency``, ``osu_multi_lat``, ``osu_bw`` or ``osu_mbw_mr``, and ``text`` is its output. As OSU
    prints them, the latency of ``osu_multi_lat`` is the average over the pairs, and the bandwidth of ``osu_mbw_mr`` the
    sum.

    Raises:
        KeyError: ``program`` is another name.
        Unreadable: the output has an unexpected form, is of another program, or lacks the size.
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
    command = [*setting.launcher, setting.programs[program].path, "-m", f"{size}:{size}"]
    params: dict[str, Value] = {"size": size, "pairs": pairs, "data": "unchanged"}
    metric = "bandwidth" if "bw" in program else "latency"
    compared = ComparedMetric("", "mpi_pingpong", params, metric, partial(read_size, program, size), differs=differs)
    name = f"{program}, {size:,} B, {pairs} pair{'s' if pairs > 1 else ''}"
    return ToolWork(name, command, [compared])


def _works(setting: ToolSetting) -> list[ToolWork]:
    pairs = max(1, setting.ranks // 2)
    works = [
        ("osu_latency", _SMALL, 1, ""),
        ("osu_latency", _LARGE, 1, ""),
        ("osu_bw", _LARGE, 1, _WINDOWED),
        ("osu_multi_lat", _SMALL, pairs, _AVERAGED),
        ("osu_mbw_mr", _LARGE, pairs, _WINDOWED),
    ]
    return [_work(setting, *work) for work in works if work[0] in setting.programs]


REFERENCE = ReferenceTool(
    name="osu",
    programs=tuple(_TESTS),
    identify=("-m", "8:8", "-i", "10"),
    version=re.compile(r"^# OSU MPI .+ v(\d\S*)", re.MULTILINE),
    install="build the OSU Micro-Benchmarks with your MPI's mpicc, and put osu_latency on PATH",
    works=_works,
    is_mpi=True,
)


# Headings of OSU's tests, and of tests in other languages and libraries that print the same form.
_TITLE = re.compile(r"# ((?:O(?:SU|MB)\b|.*\bTest\b).*)")
_LATENCY = re.compile(r"OSU MPI(-\w+)? ((?:Multi )?Latency Test) v\d\S*")
_VERSION = re.compile(r"OSU .* v(\d\S*)")
_COLUMNS = re.compile(r"# Size\s+(\S.*)")
# Further columns that do not change the messages or their times.
_FURTHER_COLUMN = re.compile(r"Validation|P\d+ Tail Lat\(us\)")
_DATATYPE = re.compile(r"# Datatype: (\w+)")
_HEADING = r"# OSU \S{1,40} .{1,80} v\d"


def recognises(text: str) -> bool:
    """Return whether ``text`` contains OSU's heading, possibly within a job log and after a launcher's line prefix."""
    return has_heading(text, _HEADING)


def read(text: str) -> ToolOutput:
    """Return the latency in seconds for each message size in an output of osu_latency or osu_multi_lat.

    The values are in the order of the output. The probe is mpi_pingpong with the parameters ``size`` in bytes, ``data``
    and, for osu_latency, ``pairs`` 1; osu_multi_lat does not print its number of pairs. Other tests are skipped, and so
    are messages in GPU memory, derived datatypes and datatypes of more than a byte, and rows that have no valid time,
    failed their validation, or have another line prefix than the heading.

    Raises:
        Unreadable: the output has an unexpected form, or nothing in it can be read.
    """
    processes, rest = split_by_prefix(text, _HEADING)
    values: list[Imported] = []
    skipped: list[str] = []
    versions: list[str] = []
    for title, lines in (test for process in processes for test in _tests(process)):
        versions += _VERSION.findall(title)
        try:
            values_read, reasons = _values_of_test(title, lines)
        except Unreadable as error:
            values_read, reasons = [], [f"{title:.80} (line {lines[0].number}): {error}"]
        values += values_read
        skipped += reasons
    return tool_output(versions[0] if versions else "", values, "sizes", [*skipped, *rows_without_heading(rest)])


def _tests(lines: Sequence[LogLine]) -> Iterator[tuple[str, Sequence[LogLine]]]:
    """Yield the title of each test, and its lines up to the next title."""
    titles = [(index, match[1]) for index, line in enumerate(lines) if (match := _TITLE.fullmatch(line.text.strip()))]
    for (start, title), (end, _) in pairwise([*titles, (len(lines), "")]):
        yield title, lines[start:end]


def _values_of_test(title: str, lines: Sequence[LogLine]) -> tuple[list[Imported], list[str]]:
    """Return the values of one test, and a reason for each part that is not read. Raises Unreadable if none is read."""
    # Only the launcher knows the number of pairs of osu_multi_lat.
    common: dict[str, Value] = {"data": "unchanged", **({"pairs": 1} if _kind(title, lines) == "Latency Test" else {})}
    begins = [index for index, line in enumerate(lines) if line.text.lstrip().startswith("# Size")]
    if not begins:
        raise Unreadable("it has no table")
    values: list[Imported] = []
    skipped: list[str] = []
    datatype, previous = "", 0
    for start, end in pairwise([*begins, len(lines)]):
        # Some versions name the datatype in a comment below the heading of the columns, others above.
        below = takewhile(lambda line: line.text.lstrip().startswith("#"), lines[start + 1 : end])
        comments = [line.text.lstrip() for line in (*lines[previous:start], *below)]
        names = [match[1] for text in comments if (match := _DATATYPE.match(text))]
        datatype = names[-1] if names else datatype
        previous = start
        try:
            values_read, reasons = _values_of_table(lines[start:end], datatype, common)
        except Unreadable as error:
            values_read, reasons = [], [f"line {lines[start].number}: {error}"]
        values += values_read
        skipped += reasons
    return values, skipped


def _kind(title: str, lines: Sequence[LogLine]) -> str:
    """Return "Latency Test" or "Multi Latency Test". Raises Unreadable for other tests, and for GPU memory."""
    match = _LATENCY.fullmatch(title)
    if match is None:
        raise Unreadable("only osu_latency and osu_multi_lat measure the same as mpi_pingpong")
    buffers = [line.text for line in lines if re.match(r"\s*#.*Buffer on ", line.text)]
    if any(re.search(r"Buffer on (?!HOST)", text) for text in buffers):
        raise Unreadable("its buffers are in the memory of a GPU, which mpi_pingpong does not use")
    if match[1] and not buffers:
        raise Unreadable("it does not name the memory of its buffers, which may be that of a GPU")
    return match[2]


def _values_of_table(
    lines: Sequence[LogLine], datatype: str, common: Mapping[str, Value]
) -> tuple[list[Imported], list[str]]:
    """Return the values of the table at the start of ``lines``, and a reason for each row that is not read.

    Raises:
        Unreadable: the table has unexpected columns, or its messages have another datatype.
    """
    n_columns = _columns_of_latency(lines[0].text)
    if datatype not in ("", "MPI_CHAR", "MPI_BYTE"):
        raise Unreadable(f"messages of {datatype}; only those of MPI_CHAR are read")
    rows, skipped = table_rows(lines[1:], n_columns)
    values: list[Imported] = []
    for row in rows:
        try:
            values.append(_value_of_row(row, common))
        except Unreadable as error:
            skipped.append(f"line {row.line}: {error}")
    return values, skipped


def _columns_of_latency(heading: str) -> int:
    """Return the number of columns of a table with the line of headings ``heading``.

    Raises:
        Unreadable: the second column is not the latency in µs, or a later column is not known.
    """
    match = _COLUMNS.match(heading.strip())
    columns = re.split(r"\s{2,}", match[1]) if match else []
    if not columns or not re.fullmatch(r"(?:Avg )?Latency ?\(us\)", columns[0]):
        raise Unreadable("unexpected columns")
    if "Transmit Size" in columns:
        raise Unreadable("messages of a derived datatype (column 'Transmit Size'); only contiguous ones are read")
    if unknown := [name for name in columns[1:] if not _FURTHER_COLUMN.fullmatch(name)]:
        raise Unreadable(f"unexpected columns: '{unknown[0]:.40}'")
    return 1 + len(columns)


def _value_of_row(row: TextRow, common: Mapping[str, Value]) -> Imported:
    if any(cell.lower() == "fail" for cell in row.cells):
        raise Unreadable(f"the messages of {row.cells[0]} B failed their validation")
    size = integer(row.cells[0], "the size")
    time_s = positive(row.cells[1], 1e-6)
    return Imported("mpi_pingpong", {"size": size, **common}, "latency", time_s, rounding=rounding_of(row.cells[1]))
