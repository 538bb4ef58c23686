"""Adapter for STREAM (McCalpin, https://www.cs.virginia.edu/stream/), a program that its users compile themselves.

The array size and the number of threads are compiled in; they are read from the output. A program of ImageMagick has
the same name, but its output differs.

Imported values are computed from the average time, which is comparable with nameplate's median; STREAM's "best rate" is
the rate of the fastest repeat.
"""

from __future__ import annotations

import re
from functools import partial

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.line_prefix import has_heading, split_by_prefix
from nameplate.tools.output import Imported, ToolOutput, integer, number, positive, rounding_of, tool_output
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

_VERSION = re.compile(r"^STREAM version \$Revision: (\S+) \$\s*$", re.MULTILINE)
# The versions in C, and the one in Fortran.
_HEADING = r"STREAM [vV]ersion \$Revision: (\S{1,20}) \$"
_FORTRAN = r"^Double precision appears to have"
_ELEMENTS = r"^Array size = +(\d{1,15})(?: \(elements\))?(?:, Offset = \d+(?: \(elements\))?)?\s*$"
_BYTES = r"^(?:This system uses|Assuming) (\d{1,3}) bytes per (?:array element|DOUBLE PRECISION word)\.?\s*$"


def _best(kernel: str, text: str) -> float:
    if "Solution Validates" not in text:
        raise Unreadable("STREAM did not print 'Solution Validates'")
    return number(text, rf"^{kernel}:\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s*$", f"line '{kernel}:'", 1e6)


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = next(iter(setting.programs.values()))
    counted = re.search(r"^Number of Threads counted = (\d+)$", program.text, re.MULTILINE)
    threads = int(counted[1]) if counted else 1
    size = int(number(program.text, _ELEMENTS, "line 'Array size = …'") * number(program.text, _BYTES, "line of bytes"))
    metrics = [
        ComparedMetric(op, "memory_stream",
               {"op": op, "stores": "plain", "threads": threads, "size": size, "precision": "fp64", "pages": "small"},
               "bandwidth", partial(_best, op.capitalize()), take="best")
        for op in ("copy", "scale", "add", "triad")
    ]  # fmt: skip
    name = f"arrays of {size / 1e6:.0f} MB, {threads} thread{'s' if threads > 1 else ''}"
    return [ToolWork(name, [program.path], metrics, threads=threads)]


REFERENCE = ReferenceTool(
    name="stream",
    programs=("stream", "stream_c", "stream_c.exe", "stream.exe"),
    identify=(),
    version=_VERSION,
    install=(
        "build https://www.cs.virginia.edu/stream/FTP/Code/stream.c as `stream`; apt install hpcc contains a variant"
    ),
    works=_works,
    identify_s=5.0,
)


# The arrays that each kernel reads or writes, as STREAM counts them.
_ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
_ROW = r"^{}:\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$"
# A best rate may differ by this share from the bytes divided by the minimum time, besides the rounding of the time.
_ROUNDING = 0.02


def recognises(text: str) -> bool:
    """Return whether ``text`` contains the line with STREAM's version, possibly after a launcher's line prefix."""
    return has_heading(text, _HEADING)


def read(text: str) -> ToolOutput:
    """Return the bandwidths of copy, scale, add and triad in B/s, in this order, computed from the average times.

    The probe is memory_stream with the parameters ``op``, ``threads`` (1 without OpenMP), ``size`` in bytes of one
    array, and ``precision``: fp64 for elements of 8 bytes. For elements of 4 bytes it is fp32, but missing for version
    5.10, whose elements may be integers. Versions 5.9 and 5.10 in C and 5.6 in Fortran are read. If the text has
    several runs, all are read.

    Raises:
        Unreadable: the output has an unexpected form, several runs have the same parameters or ran at the same time, or
            STREAM's validation failed.
    """
    values: list[Imported] = []
    problems: list[str] = []
    runs = _runs(text)
    for index, run in enumerate(runs, start=1):
        try:
            values += _values_of(run)
        except Unreadable as error:
            if len(runs) == 1:
                raise
            problems.append(f"run {index}: {error}")
    return tool_output(re.findall(_HEADING, text)[0], values, "kernels", problems)


def _values_of(text: str) -> list[Imported]:
    """Return the values of one run. Its lines must have neither a prefix nor indentation."""
    if "Solution Validates" not in text:
        raise Unreadable("STREAM did not print 'Solution Validates'")
    element = int(number(text, _BYTES, "line 'This system uses … bytes'"))
    precision = {4: "fp32", 8: "fp64"}.get(element)
    if precision is None:
        raise Unreadable(f"its elements have {element} bytes; memory_stream has only elements of 4 and 8 bytes")
    size = int(number(text, _ELEMENTS, "line 'Array size = …'")) * element
    # Version 5.9 calls the number of threads that OpenMP started the requested one.
    threads = re.findall(r"^Number of Threads (?:counted |requested )?= +(\d+)$", text, re.MULTILINE)
    common: dict[str, Value] = {
        "threads": integer(threads[-1], "the number of threads") if threads else 1,
        "size": size,
    }
    possible: dict[str, tuple[Value, ...]] = {}
    if element == 4 and "bytes per array element" in text:
        possible["precision"] = (precision,)
    else:
        common["precision"] = precision
    values = []
    for op, arrays in _ARRAYS.items():
        average_s = _average_s(op, arrays * size, text)
        bandwidth, rounding = arrays * size / positive(average_s), rounding_of(average_s)
        params = {"op": op, **common}
        values.append(Imported("memory_stream", params, "bandwidth", bandwidth, possible, rounding=rounding))
    return values


def _runs(text: str) -> list[str]:
    """Return the text of each run, without a launcher's line prefix and without indentation.

    Raises:
        Unreadable: several processes ran, or rows have another line prefix than the line with the version.
    """
    processes, rest = split_by_prefix(text, _HEADING)
    if len(processes) > 1:
        raise Unreadable(f"{len(processes)} processes wrote it: put the output of each into a separate file")
    if row := next((line for line in rest if re.search(r"\bTriad:\s+\d", line.text)), None):
        raise Unreadable(f"line {row.number} has another prefix than the line with the version: remove the prefixes")
    lines = "\n".join(line.text.strip() for line in processes[0])
    # STREAM in Fortran prints the size of its elements before its heading.
    heading = _FORTRAN if re.search(_FORTRAN, lines, re.MULTILINE) else _HEADING.replace("(", "(?:")
    runs = re.split(rf"(?={heading})", lines, flags=re.MULTILINE)
    return [run for run in runs if re.search(_HEADING, run)]


def _average_s(op: str, n_bytes: int, text: str) -> str:
    """Return the average time of the kernel ``op``, which moves ``n_bytes``, in seconds as printed.

    Raises Unreadable if the times and the rate in its row contradict each other.
    """
    name = op.capitalize()
    rows = re.findall(_ROW.format(name), text, re.MULTILINE)
    if len(rows) != 1:
        number = f"{len(rows)} lines" if rows else "no line"
        raise Unreadable(f"the output has {number} '{name}:' with four numbers, but must have exactly one")
    rate, average_s, minimum_s, maximum_s = (positive(cell) for cell in rows[0])
    if rounding_of(rows[0][1]) > _ROUNDING:
        raise Unreadable(f"{name}: the times have too few digits; use larger arrays")
    if not minimum_s <= average_s <= maximum_s:
        raise Unreadable(f"{name}: the average time is not between the minimum and the maximum")
    if abs(rate * 1e6 * minimum_s / n_bytes - 1) > _ROUNDING + rounding_of(rows[0][2]):
        raise Unreadable(f"{name}: its best rate does not follow from the array size and the minimum time")
    return str(rows[0][1])
