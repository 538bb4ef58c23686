"""Outputs of IMB-MPI1, versions 4.0 to 2021.11, with known values.

What the versions print was read in IMB_g_info.c and IMB_output.c of 2018, 2019 and 2021.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tool_outputs.reprint import interleaved, logged
from tool_outputs.truth import Expected, Reading, Remark, ToolOutput, half_step

# The name as printed; until 2018 there is a space before (R).
VERSIONS = ("4.0", "4.0 Update 1", "4.1", "2017", "2017 Update 2", "2018", "2018 Update 1", "2019", "2019 Update 3",
            "2019 Update 6", "2021.1", "2021.3", "2021.7", "2021.11")  # fmt: skip
_HARMLESS_OPTIONS = (
    "",
    "-msglog 20",
    "-iter 1000",
    "-time 10",
    "-mem 2",
    "-npmin 2",
    "-iter_policy off",
    "-sync 1",
    "-msglen lens",
    "-msgsize 8,1024",
)
_ONE_TIME = ("#bytes", "#repetitions", "t[usec]", "Mbytes/sec")
_RANGE = ("#bytes", "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]", "Mbytes/sec")
_OTHER_BENCHMARKS = {
    "PingPongSpecificSource": _ONE_TIME, "PingPongAnySource": _ONE_TIME, "PingPing": _ONE_TIME,
    "PingPingSpecificSource": _ONE_TIME, "Sendrecv": _RANGE, "Exchange": _RANGE, "Allreduce": _RANGE[:-1],
    "Bcast": _RANGE[:-1], "Uniband": ("#bytes", "#repetitions", "Mbytes/sec", "Msg/sec"),
    "Barrier": ("#repetitions", *_RANGE[2:-1]),
}  # fmt: skip


@dataclass(frozen=True)
class _Table:
    lines: Sequence[str]
    times: Sequence[tuple[int, str]]


def generate(rng: random.Random) -> ToolOutput:
    """Return an output of PingPong, of all benchmarks, of several groups, of another benchmark, or of a failed run."""
    version = rng.choice(VERSIONS)
    share = rng.random()
    if share < 0.35:
        return _plain(rng, version)
    if share < 0.55:
        return _all(rng, version)
    return rng.choice(
        [
            _defects,
            _groups,
            _groups,
            _failed_samples,
            _twice,
            _other,
            _prefixed,
            _prefixed,
            _hosts,
            _changed,
            _changed,
            _odd,
        ]
    )(rng, version)


def _row(values: Iterable[object]) -> str:
    return "".join(f"{value:>13}" for value in values)


def _preamble(version: str, options: str = "", part: str = "MPI-1 part") -> list[str]:
    if version == "3.2":
        version = "Suite V3.2"
    mark = "Intel (R)" if version.startswith(("S", "4", "2017", "2018")) else "Intel(R)"
    line = "#" + "-" * 60
    sizes = ["# Minimum message length in bytes:   0", "# Maximum message length in bytes:   4194304"]
    if "-msglen" in options or "-msgsize" in options:
        sizes = ["# Message lengths were user defined"]
    name = f"Benchmark {version}" if version.startswith("Suite") else f"Benchmarks {version}"
    return [
        line, f"#    {mark} MPI {name}, {part}    ", line,
        "# Date                  : Fri Jul  9 17:17:01 2021", "# Machine               : x86_64",
        "# System                : Linux", "# Release               : 5.14.0-70.el9.x86_64",
        "# Version               : #1 SMP PREEMPT_DYNAMIC", "# MPI Version           : 3.1",
        "# MPI Thread Environment: ", "", "", "# Calling sequence was: ", "", f"# IMB-MPI1 {options} ", "",
        *sizes, "#",
        "# MPI_Datatype                   :   MPI_BYTE ", "# MPI_Datatype for reductions    :   MPI_FLOAT",
        "# MPI_Op                         :   MPI_SUM  ", "#", "#", "", "# List of Benchmarks to run:", "",
    ]  # fmt: skip


_END = ["", "", "# All processes entering MPI_Finalize", ""]


def _heading(name: str, columns: Sequence[str], processes: int, idle: int = 0) -> list[str]:
    line = "#" + "-" * (13 * len(columns) - 1)
    waiting = f"# ( {idle} additional process{'es' if idle > 1 else ''} waiting in MPI_Barrier)"
    return [
        "", line, f"# Benchmarking {name} ", f"# #processes = {processes} ", *([waiting] if idle else []), line,
        _row(columns),
    ]  # fmt: skip


def _sizes(rng: random.Random) -> list[int]:
    return [0, *(1 << power for power in range(rng.choice([5, 12, 21, 23])))]


def _repetitions(rng: random.Random, size: int) -> int:
    return rng.choice([1000, 1000, max(1, min(1000, (40 << 20) // max(1, size)))])


def _times(rng: random.Random) -> list[tuple[int, str]]:
    base, rate = rng.uniform(0.3, 4), rng.uniform(500, 20_000)
    return [(size, f"{base * rng.uniform(0.9, 1.3) + size / rate:.2f}") for size in _sizes(rng)]


def _ping_pong(rng: random.Random, idle: int = 0, defect: str = "") -> _Table:
    times = _times(rng)
    columns = (*_ONE_TIME, "defects") if defect else _ONE_TIME
    rows = []
    for size, time in times:
        rate = size / float(time) if float(time) else 0.0
        cells: list[object] = [size, _repetitions(rng, size), time, f"{rate:.2f}"]
        rows.append(_row([*cells, defect] if defect else cells))
    return _Table([*_heading("PingPong", columns, 2, idle), *rows], times)


def _other_table(rng: random.Random, name: str, processes: int) -> list[str]:
    columns = _OTHER_BENCHMARKS[name]
    lines = _heading(name, columns, processes)
    for size, time in _times(rng):
        repetitions = _repetitions(rng, size)
        floats = [f"{float(time) * factor:.2f}" for factor in (1, 1.1, 1.05, 700)]
        if columns[0] == "#bytes":
            lines.append(_row([size, repetitions, *floats[: len(columns) - 2]]))
        else:
            return [*lines, _row([repetitions, *floats[:3]])]
    return lines


def _expected(times: Iterable[tuple[int, str]], pairs: int = 1) -> list[Expected]:
    return [
        Expected("latency", {"size": size, "data": "unchanged", "pairs": pairs}, float(time) * 1e-6, float(time) * 1e-6,
                 frozenset({"size"}), is_optional=size == 0, rounding=half_step(time))
        for size, time in times
    ]  # fmt: skip


def _output(
    lines: Sequence[str], version: str, reading: Reading, expected: Sequence[Expected], *kinds: str
) -> ToolOutput:
    return ToolOutput("imb", ("\n".join(lines) + "\n").encode(), reading, expected, [f"IMB {version}", *kinds])


def _plain(rng: random.Random, version: str) -> ToolOutput:
    idle = rng.choice([0, 0, 1, 2, 14])
    table = _ping_pong(rng, idle)
    option = rng.choice(_HARMLESS_OPTIONS)
    before = rng.choice([[], [], ["Loading intel-mpi/2021.11", "2 nodes, start 14"], ["8 16", "1 1000 2.50 1.00"]])
    after = rng.choice([[], [], ["", "real 0m12.500s", "3 12.5 seconds"]])
    lines = [*before, *_preamble(version, f"PingPong {option}"), "# PingPong", *table.lines, *_END, *after]
    kinds = ["PingPong", option, *(["lines of a job"] if before or after else [])]
    output = _output(lines, version, Reading.MUST, _expected(table.times), *kinds)
    if rng.random() < 0.1:
        output = replace(output, content=output.content.replace(b"\n", b"\r\n"))
    return output


def _all(rng: random.Random, version: str) -> ToolOutput:
    """Return a run of several benchmarks with several numbers of processes, as without options."""
    table = _ping_pong(rng, idle=rng.choice([0, 2]))
    names = rng.sample(sorted(_OTHER_BENCHMARKS), rng.randint(1, 6))
    lines = [*_preamble(version), "# PingPong", *(f"# {name}" for name in names)]
    position = rng.randint(0, len(names)) if rng.random() < 0.3 else 0
    for index, name in enumerate(names):
        if index == position:
            lines += table.lines
        for processes in [2] if name.startswith("Ping") else rng.choice([[2], [2, 4], [2, 4, 8]]):
            lines += _other_table(rng, name, processes)
    if position == len(names):
        lines += table.lines
    output = _output([*lines, *_END], version, Reading.MUST, _expected(table.times), "several benchmarks")
    return replace(output, remarks=[Remark(name) for name in names])


def _defects(rng: random.Random, version: str) -> ToolOutput:
    """Return a run of a program that checks the data while it measures, often with a wrong row."""
    table = _ping_pong(rng, defect="0.00")
    index = rng.randrange(len(table.times))
    line = len(table.lines) - len(table.times) + index
    defects = rng.choice(["0.00", "0.00", "1.00", "0.50", "128.00"])
    wrong = table.lines[line][:-13] + f"{defects:>13}"
    lines = [*_preamble(version, "PingPong"), "# PingPong", *table.lines[:line], wrong, *table.lines[line + 1 :], *_END]
    right = table.times if defects == "0.00" else [*table.times[:index], *table.times[index + 1 :]]
    output = _output(lines, version, Reading.MAY, _expected(right), "a check of the data")
    return replace(output, remarks=[Remark("-DCHECK"), *([] if defects == "0.00" else [Remark("defects")])])


def _groups(rng: random.Random, version: str) -> ToolOutput:
    """Return a run with -multi: pairs that run at the same time, with a row for each or with their extremes."""
    groups = rng.choice([2, 4, 8])
    is_range = rng.random() < 0.4
    columns = _RANGE if is_range else ("Group", *_ONE_TIME)
    line = "#" + "-" * 70
    lines = [
        *_preamble(version, f"-multi {int(not is_range)} PingPong"),
        "# Multi-PingPong",
        "",
        line,
        "# Benchmarking Multi-PingPong ",
        f"# ( {groups} groups of 2 processes each running simultaneous ) ",
    ]
    lines += [f"# Group {group:2d}:  {2 * group:4d} {2 * group + 1:4d}" for group in range(groups)]
    lines += ["#", line, _row(columns)]  # fmt: skip
    expected = []
    for size, time in _times(rng):
        times = [float(time) * factor for factor in (1, 1.2, 1.1)]
        texts = [f"{value:.2f}" for value in times]
        if is_range:
            lines.append(_row([size, 1000, *texts, "12.50"]))
        else:
            texts = [f"{float(time) * rng.uniform(1, 1.2):.2f}" for _ in range(groups)]
            lines += ["", *(_row([group, size, 1000, text, "12.50"]) for group, text in enumerate(texts))]
        values = [float(text) * 1e-6 for text in texts]
        expected.append(Expected("latency", {"size": size, "data": "unchanged", "pairs": groups}, min(values),
                                 max(values), frozenset({"size", "pairs"})))  # fmt: skip
    return _output([*lines, *_END], version, Reading.MAY, expected, "-multi")


def _failed_samples(rng: random.Random, version: str) -> ToolOutput:
    """Return a run that gave up the largest sizes, which have no time."""
    table = _ping_pong(rng)
    reason = rng.choice([
        " out-of-mem.; needed X=   1.250 GB; use flag \"-mem X\" or MAX_MEM_USAGE>=X (IMB_mem_info.h)",
        " time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use \"-time X\" or SECS_PER_SAMPLE=X",
        " int-overflow; The production rank*size caused int overflow;",
    ])  # fmt: skip
    lines = [*_preamble(version, "PingPong"), "# PingPong", *table.lines, f"{16777216:>13}{reason}", *_END]
    output = _output(lines, version, Reading.MAY, _expected(table.times), "a size without a time")
    line = lines.index(f"{16777216:>13}{reason}") + 1
    return replace(output, remarks=[Remark(f"line {line}|16777216|16,777,216")])


def _twice(rng: random.Random, version: str) -> ToolOutput:
    first, second = _ping_pong(rng), _ping_pong(rng)
    values: dict[int, list[str]] = {}
    for size, time in [*first.times, *second.times]:
        values.setdefault(size, []).append(time)
    required = frozenset({"size"})
    expected = [
        Expected("latency", {"size": size, "data": "unchanged", "pairs": 1}, min(map(float, times)) * 1e-6,
                 max(map(float, times)) * 1e-6, required, rounding=max(map(half_step, times)))
        for size, times in values.items()
    ]  # fmt: skip
    lines = [line for table in (first, second) for line in [*_preamble(version, "PingPong"), *table.lines, *_END]]
    return replace(_output(lines, version, Reading.MAY, expected, "two runs"), max_rounds=2)


def _other(rng: random.Random, version: str) -> ToolOutput:
    """Return a run without PingPong, or of another program of the benchmarks."""
    if rng.random() < 0.3:
        part = rng.choice(["IMB-P2P part", "MT part", "MPI-RMA part", "MPI-NBC part"])
        table = _ping_pong(rng)
        lines = [*_preamble(version, "PingPong", part), *table.lines, *_END]
        return _output(lines, version, Reading.NEVER, [], f"another program: {part}")
    name = rng.choice(sorted(_OTHER_BENCHMARKS))
    lines = [*_preamble(version, name), f"# {name}", *_other_table(rng, name, 2), *_END]
    return _output(lines, version, Reading.NEVER, [], f"another benchmark: {name}")


def _prefixed(rng: random.Random, version: str) -> ToolOutput:
    table = _ping_pong(rng)
    lines = logged(rng, [*_preamble(version, "PingPong"), *table.lines, *_END])
    return _output(lines, version, Reading.MUST, _expected(table.times), "lines with a launcher's prefix")


def _hosts(rng: random.Random, version: str) -> ToolOutput:
    """Return runs of two hosts whose lines are mixed: a value that both have is of neither."""
    first, second = _ping_pong(rng), _ping_pong(rng)
    both = {size for size, _ in first.times} & {size for size, _ in second.times}
    single = [row for row in [*first.times, *second.times] if row[0] not in both]
    runs = [[*_preamble(version, "PingPong"), *table.lines, *_END] for table in (first, second)]
    return _output(interleaved(rng, *runs), version, Reading.MAY, _expected(single), "two hosts")


def _changed(rng: random.Random, version: str) -> ToolOutput:
    """Return a run whose buffers are not in the cache, are not contiguous, or are in a GPU."""
    table = _ping_pong(rng)
    is_device = rng.random() < 0.4 and version.startswith("2021")
    changes = ["-off_cache 32", "-off_cache 32,64", "-contig_type resize", "-load setup.yaml"]
    options = " ".join(rng.sample([rng.choice(changes), rng.choice(_HARMLESS_OPTIONS)], 2))
    lines = _preamble(version, "PingPong" if is_device else f"PingPong {options}",
                      "MPI-1 part (GPU)" if is_device else "MPI-1 part")  # fmt: skip
    return _output([*lines, *table.lines, *_END], version, Reading.NEVER, [], "GPU" if is_device else options)


def _odd(rng: random.Random, version: str) -> ToolOutput:
    """Return an output of an old version, a table with a row whose time is impossible, or one that is cut in a row."""
    table = _ping_pong(rng)
    if rng.random() < 0.2:
        lines = [*_preamble("3.2", "PingPong"), *table.lines, *_END]
        return _output(lines, "3.2", Reading.MAY, _expected(table.times))
    index = rng.randrange(1, len(table.times))
    line = len(table.lines) - len(table.times) + index
    times = [row for number, row in enumerate(table.times) if number != index]
    if rng.random() < 0.5:
        word = rng.choice(["nan", "-nan", "inf", "-1.00", "0.00"])
        size = table.times[index][0]
        rows = [*table.lines[:line], _row([size, 1000, word, "0.00"]), *table.lines[line + 1 :]]
        return _output(
            [*_preamble(version), *rows, *_END], version, Reading.MAY, _expected(times), f"a row with {word}"
        )
    rows = [*table.lines[:line], table.lines[line][: rng.randint(1, 38)]]
    return _output([*_preamble(version), *rows], version, Reading.MAY, _expected(table.times[:index]), "cut in a row")
