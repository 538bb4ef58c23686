"""Outputs of the OSU Micro-Benchmarks, versions 5.3 to 7.5, with known values.

What the versions print was read in osu_latency.c, osu_multi_lat.c, osu_bw.c and osu_util_mpi.c of 5.3, 5.3.2, 7.0 and
7.4.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nameplate.records.plan_record import Value
from tool_outputs.reprint import interleaved, logged
from tool_outputs.truth import Expected, Reading, Remark, ToolOutput, half_step

VERSIONS = ("5.3", "5.3.2", "5.6.3", "5.9", "6.2", "7.0", "7.1", "7.2", "7.3", "7.4", "7.5")
# Other tests by their heading: the columns and the rows that follow the size.
_OTHER_TESTS = {
    "Bandwidth Test": "Bandwidth (MB/s)", "Bi-Directional Bandwidth Test": "Bandwidth (MB/s)",
    "Multi-threaded Latency Test": "Latency (us)", "Multi-process Latency Test": "Latency (us)",
    "Persistent Latency Test": "Avg Latency(us)", "Allreduce Latency Test": "Avg Latency(us)",
    "Broadcast Latency Test": "Avg Latency(us)", "All-to-All Personalized Exchange Latency Test": "Avg Latency(us)",
    "Get Latency Test": "Latency (us)", "Multiple Bandwidth / Message Rate Test": "MB/s        Messages/s",
}  # fmt: skip
_OTHER_PROGRAMS = (
    "# OSU NCCL-CUDA Latency Test", "# OSU OpenSHMEM Put Latency Test", "# OMB-Py MPI Latency Test",
    "# OSU UPC MEMPUT Latency Test", "# OSU XCCL Latency Test",
)  # fmt: skip
_BEFORE = (
    "Running on node a01 and a02", "2026 11 29 job begins", "2 nodes, start 14", "salloc: Granted job allocation 81523",
    "[node1:263198] SET UCX_NET_DEVICES=mlx5_2:1", "Loading openmpi/4.1.5", "4096 2.50 GB of memory are free",
    "# warmup: 200 iterations", "8 16",
)  # fmt: skip
_AFTER = (
    "3 12.5 seconds elapsed", "real    0m12.500s", "job 81523 ends after 14 s", "16 processes were used", "\n4 8",
    "\n1024 2048 4096", "srun: Job step completed", "# end", "\n8 = ranks per node",
)  # fmt: skip


@dataclass(frozen=True)
class _Table:
    """A table as printed, and the times of its rows in microseconds as text, by size."""

    lines: Sequence[str]
    times: Sequence[tuple[int, str]]


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _sizes(rng: random.Random, version: str) -> list[int]:
    powers = [1 << power for power in range(rng.choice([4, 11, 21, 23]))]
    if rng.random() < 0.2:  # -m
        return powers[rng.randint(0, len(powers) - 2) :]
    return powers if _number(version) >= (7, 0) else [0, *powers]


def _time(rng: random.Random, size: int) -> str:
    return f"{rng.uniform(0.2, 5) + size / rng.uniform(500, 20_000):.2f}"


def _heading(version: str, title: str, datatype: str = "MPI_CHAR", extra: str = "", device: str = "") -> list[str]:
    """Return the lines before the rows of a latency test."""
    first = f"# OSU MPI{device} {title} v{version}"
    columns = f"{'# Size':<10}{'Avg Latency(us)' if _number(version) >= (7, 4) else 'Latency (us)':>20}{extra}"
    kind = f"# Datatype: {datatype}."
    if _number(version) < (7, 1):
        return [first, columns]
    return ["", first, kind, columns] if _number(version) >= (7, 4) else [first, columns, kind]


def _table(rng: random.Random, version: str, title: str = "Latency Test", is_checked: bool = False) -> _Table:
    extra = f"{'Validation':>20}" if is_checked else ""
    times = [(size, _time(rng, size)) for size in _sizes(rng, version)]
    rows = [f"{size:<10d}{time:>20}{'Pass':>20}" if is_checked else f"{size:<10d}{time:>20}" for size, time in times]
    return _Table([*_heading(version, title, extra=extra), *rows], times)


def _other_table(rng: random.Random, version: str, title: str) -> list[str]:
    lines = [f"# OSU MPI{'_Get' if title.startswith('Get') else ''} {title.removeprefix('Get ')} v{version}"]
    if title.startswith("Get"):
        lines += ["# Window creation: MPI_Win_allocate", "# Synchronization: MPI_Win_flush"]
    if title.startswith("Multiple"):
        lines.append("# [ pairs: 1 ] [ window size: 64 ]")
    lines.append(f"# Size      {_OTHER_TESTS[title]:>20}")
    rates = title.startswith("Multiple")
    for size in _sizes(rng, version):
        value = f"{rng.uniform(1, 20_000):.2f}"
        lines.append(f"{size:<10d}{value:>20}" + (f"{rng.uniform(1e3, 1e7):>20.2f}" if rates else ""))
    return lines


def _expected(times: Iterable[tuple[int, str]], is_multiple: bool = False) -> list[Expected]:
    common: dict[str, Value] = {"data": "unchanged"} if is_multiple else {"data": "unchanged", "pairs": 1}
    expected = []
    for size, time in times:
        value = float(time) * 1e-6
        expected.append(
            Expected("latency", {"size": size, **common}, value, value, frozenset({"size"}), is_optional=size == 0,
                     rounding=half_step(time))
        )  # fmt: skip
    return expected


def generate(rng: random.Random) -> ToolOutput:
    """Return an output of one latency test, of several tests in a log, of another test, or of a failed one."""
    version = rng.choice(VERSIONS)
    if rng.random() < 0.5:
        return _plain(rng, version)
    return rng.choice(
        [_log, _log, _repeated, _other, _other, _checked, _checked, _datatypes, _odd_rows, _prefixed, _extra_columns,
         _device, _interrupted_by_text, _prefixed, _hosts, _derived, _foreign, _damaged]
    )(rng, version)  # fmt: skip


def _output(
    lines: Sequence[str], version: str, reading: Reading, expected: Sequence[Expected], *kinds: str
) -> ToolOutput:
    text = "\n".join(lines) + "\n"
    return ToolOutput("osu", text.encode(), reading, expected, [f"OSU {version}", *kinds])


def _plain(rng: random.Random, version: str) -> ToolOutput:
    is_multiple = rng.random() < 0.3
    is_checked = _number(version) >= (7, 0) and rng.random() < 0.3
    table = _table(rng, version, "Multi Latency Test" if is_multiple else "Latency Test", is_checked)
    before = rng.sample(_BEFORE, rng.choice([0, 0, 1, 2, 4]))
    after = rng.sample(_AFTER, rng.choice([0, 0, 1, 2]))
    kinds = ["multi_lat" if is_multiple else "latency"]
    kinds += ["validated"] if is_checked else []
    kinds += ["lines of a job around"] if before or after else []
    output = _output(
        [*before, *table.lines, *after], version, Reading.MUST, _expected(table.times, is_multiple), *kinds
    )
    if rng.random() < 0.1:
        output = replace(output, content=output.content.replace(b"\n", b"\r\n"))
    return output


def _log(rng: random.Random, version: str) -> ToolOutput:
    """Return a log with one latency test, and others before or after it."""
    table = _table(rng, version)
    parts = [_other_table(rng, version, title) for title in rng.sample(sorted(_OTHER_TESTS), rng.randint(1, 3))]
    parts.insert(rng.randint(0, len(parts)), list(table.lines))
    between = rng.choice([[], [""], ["next test: 4 ranks", "8 16.5 s"]])
    lines = [line for part in parts for line in [*between, *part]]
    return _output(lines, version, Reading.MAY, _expected(table.times), "several tests in a log")


def _repeated(rng: random.Random, version: str) -> ToolOutput:
    """Return two runs of the same test in one file."""
    first, second = _table(rng, version), _table(rng, version)
    values: dict[int, list[str]] = {}
    for size, time in [*first.times, *second.times]:
        values.setdefault(size, []).append(time)
    required = frozenset({"size"})
    expected = [
        Expected("latency", {"size": size, "data": "unchanged", "pairs": 1}, min(map(float, times)) * 1e-6,
                 max(map(float, times)) * 1e-6, required, rounding=max(map(half_step, times)))
        for size, times in values.items()
    ]  # fmt: skip
    lines = ["same L3:", *first.lines, "other CCX:", *second.lines]
    return replace(_output(lines, version, Reading.MAY, expected, "the same test twice"), max_rounds=2)


def _other(rng: random.Random, version: str) -> ToolOutput:
    if rng.random() < 0.2:
        title = rng.choice(_OTHER_PROGRAMS)
        table = _table(rng, version)
        lines = [f"{title} v{version}", table.lines[-len(table.times) - 1], *table.lines[-len(table.times) :]]
        return _output(lines, version, Reading.NEVER, [], f"another test: {title}")
    title = rng.choice(sorted(_OTHER_TESTS))
    return _output(_other_table(rng, version, title), version, Reading.NEVER, [], f"another test: {title}")


def _checked(rng: random.Random, version: str) -> ToolOutput:
    """Return a test with -c that failed: the last row says so, and a line follows."""
    version = rng.choice(["7.0", "7.3", "7.4", "7.5"])
    table = _table(rng, version, is_checked=True)
    failed = rng.randrange(len(table.times))
    size = table.times[failed][0]
    end = len(table.lines) - len(table.times) + failed
    is_last = rng.random() < 0.7
    rows = [*table.lines[:end], table.lines[end].replace("Pass", "Fail"), *([] if is_last else table.lines[end + 1 :])]
    if is_last and _number(version) >= (7, 4):
        rows.append(f"DATA VALIDATION ERROR: osu_latency exited with status 1 on message size {size}.")
    times = [*table.times[:failed], *([] if is_last else table.times[failed + 1 :])]
    output = _output(rows, version, Reading.MAY, _expected(times), "failed validation")
    return replace(output, remarks=[Remark(f"line {end + 1}|{size} B|{size:,} B")])


def _datatypes(rng: random.Random, version: str) -> ToolOutput:
    """Return a test with -T: a table for each datatype, of which that of single bytes is comparable."""
    version = rng.choice(["7.1", "7.3", "7.4", "7.5"])
    lines: list[str] = []
    of_bytes: Sequence[tuple[int, str]] = []
    datatypes = rng.choice([["MPI_CHAR", "MPI_INT"], ["MPI_CHAR", "MPI_INT", "MPI_FLOAT"], ["MPI_FLOAT"]])
    for datatype in datatypes:
        table = _table(rng, version)
        heading = _heading(version, "Latency Test", datatype)
        rows = table.lines[len(heading) :]
        lines += heading if not lines else [line for line in heading if line and " v" not in line]
        lines += rows
        of_bytes = of_bytes or table.times
    return _output(lines, version, Reading.MAY, _expected(of_bytes), "several datatypes")


def _odd_rows(rng: random.Random, version: str) -> ToolOutput:
    """Return a test in which a row has no possible time."""
    table = _table(rng, version)
    odd = rng.randrange(len(table.times))
    word = rng.choice(["nan", "-nan", "inf", "-1.00", "-0.00"])
    index = len(table.lines) - len(table.times) + odd
    size = table.times[odd][0]
    lines = [*table.lines[:index], f"{size:<10d}{word:>20}", *table.lines[index + 1 :]]
    times = [row for row in table.times if row[0] != size]
    output = _output(lines, version, Reading.MAY, _expected(times), f"a row with {word}")
    return replace(output, remarks=[Remark(f"line {index + 1}|{size} B|{size:,} B")])


def _prefixed(rng: random.Random, version: str) -> ToolOutput:
    table = _table(rng, version)
    return _output(
        logged(rng, table.lines), version, Reading.MUST, _expected(table.times),
        "lines with a launcher's prefix",
    )  # fmt: skip


def _hosts(rng: random.Random, version: str) -> ToolOutput:
    """Return tests of two hosts whose lines are mixed: a value that both have is of neither."""
    first, second = _table(rng, version), _table(rng, version)
    both = {size for size, _ in first.times} & {size for size, _ in second.times}
    single = [row for row in [*first.times, *second.times] if row[0] not in both]
    lines = interleaved(rng, first.lines, second.lines)
    return _output(lines, version, Reading.MAY, _expected(single), "two hosts")


def _derived(rng: random.Random, version: str) -> ToolOutput:
    """Return a test with -D, whose messages are not contiguous and of another size than the rows say."""
    version = rng.choice(["7.3", "7.4", "7.5"])
    table = _table(rng, version)
    extra = f"{'P99 Tail Lat(us)':>20}" if rng.random() < 0.3 else ""
    heading = _heading(version, "Latency Test", extra=f"{extra}{'Transmit Size':>20}")
    cells = f"{'9.00':>20}" if extra else ""
    rows = [f"{size:<10d}{time:>20}{cells}{size // 8:>20d}" for size, time in table.times]
    return _output([*heading, *rows], version, Reading.NEVER, [], "a derived datatype")


_FOREIGN = (
    ("# OSU Latency Test", "# Size [B]\t\tLatency [us]"),
    ("# OMB Python MPI Latency Test", "# Size (B)      Latency (us)"),
    ("# OMB-Py MPI Latency Test v1.0", "# Size       Latency (us)"), ("# MPI Latency Test", "# Size [B]  Latency [us]"),
)  # fmt: skip


def _foreign(rng: random.Random, version: str) -> ToolOutput:
    """Return a log that goes on with the test of another library or language."""
    table, other = _table(rng, version), _table(rng, version)
    title, columns = rng.choice(_FOREIGN)
    lines = [*table.lines, title, columns, *other.lines[-len(other.times) :]]
    output = _output(lines, version, Reading.MUST, _expected(table.times), f"followed by {title}")
    return replace(output, remarks=[Remark(title.removeprefix("# "))])


def _damaged(rng: random.Random, version: str) -> ToolOutput:
    """Return a test in which text follows a time, or whose last row is cut off."""
    table = _table(rng, version)
    is_cut = rng.random() < 0.5
    damaged = len(table.times) - 1 if is_cut else rng.choice([0, rng.randrange(len(table.times))])
    index = len(table.lines) - len(table.times) + damaged
    size = table.times[damaged][0]
    row = table.lines[index]
    rows = [row[: rng.randint(len(str(size)), 20)]] if is_cut else [f"{row}[1701234567.123456] [node01:1234 :0] UCX"]
    lines = [*table.lines[:index], *rows, *([] if is_cut else table.lines[index + 1 :])]
    times = [time for number, time in enumerate(table.times) if number != damaged]
    output = _output(lines, version, Reading.MAY, _expected(times), "a damaged row")
    return replace(output, remarks=[Remark(f"line {index + 1}")])


def _extra_columns(rng: random.Random, version: str) -> ToolOutput:
    version = rng.choice(["7.3", "7.4", "7.5"])
    extra = f"{'P50 Tail Lat(us)':>20}{'P99 Tail Lat(us)':>20}"
    times = [(size, _time(rng, size)) for size in _sizes(rng, version)]
    rows = [f"{size:<10d}{time:>20}{float(time) * 0.9:>20.2f}{float(time) * 3:>20.2f}" for size, time in times]
    lines = [*_heading(version, "Latency Test", extra=extra), *rows]
    return _output(lines, version, Reading.MAY, _expected(times), "tail latencies")


def _device(rng: random.Random, version: str) -> ToolOutput:
    """Return a test of a build for GPUs; nameplate measures the same only if both buffers are those of the host."""
    table = _table(rng, version)
    heading = _heading(version, "Latency Test", device=rng.choice(["-CUDA", "-ROCM"]))
    memory = [rng.choice(["HOST (H)", "DEVICE (D)", "MANAGED (MH)"]) for _ in range(2)]
    memory = ["HOST (H)", "HOST (H)"] if rng.random() < 0.4 else memory
    is_host = memory == ["HOST (H)", "HOST (H)"]
    buffers = f"# Send Buffer on {memory[0]} and Receive Buffer on {memory[1]}"
    lines = [*heading[:-1], buffers, heading[-1], *table.lines[-len(table.times) :]]
    reading = Reading.MUST if is_host else Reading.NEVER
    return _output(lines, version, reading, _expected(table.times), f"buffers of {' and '.join(memory)}")


def _interrupted_by_text(rng: random.Random, version: str) -> ToolOutput:
    table = _table(rng, version)
    index = rng.randint(len(table.lines) - len(table.times) + 1, len(table.lines))
    warning = rng.choice(["[1623.17] [node1:23:0] ucp_ep.c:12 UCX  WARN  no memory", "srun: 1024 2.5 s left", "", "#"])
    lines = [*table.lines[:index], warning, *table.lines[index:]]
    return _output(lines, version, Reading.MAY, _expected(table.times), "a line of text within the table")
