"""Outputs of STREAM, versions 5.9 and 5.10 in C and 5.6 in Fortran, with known values.

What the versions print was read in stream.c and stream.f.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nameplate.records.plan_record import Value
from tool_outputs.reprint import logged
from tool_outputs.truth import Expected, Reading, ToolOutput, half_step

_ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
_LINE = "-" * 61


@dataclass(frozen=True)
class _Run:
    """What a program prints: the average times as text, by operation."""

    elements: int
    element_bytes: int
    threads: int
    is_parallel: bool
    times: dict[str, str]


def generate(rng: random.Random) -> ToolOutput:
    """Return an output of one run, of several, in another encoding, or of a run that failed."""
    if rng.random() < 0.5:
        return _plain(rng)
    return rng.choice([_failed, _failed, _appended, _appended, _encoded, _prefixed, _fortran, _offset, _odd, _cut])(rng)


def _run(rng: random.Random, digits: int = 6) -> _Run:
    element_bytes = rng.choice([8, 8, 8, 4])
    elements = rng.choice([1_000_000, 10_000_000, 20_000_000, 80_000_000, 1 << 27, 2_000_000_000])
    is_parallel = rng.random() < 0.8
    threads = rng.choice([1, 2, 4, 8, 16, 64, 128]) if is_parallel else 1
    rate = rng.uniform(5e9, 3e11)
    times = {op: f"{arrays * elements * element_bytes / rate / rng.uniform(0.9, 1):.{digits}f}"
             for op, arrays in _ARRAYS.items()}  # fmt: skip
    if any(float(time) < 20 * 10**-digits for time in times.values()):
        return _run(rng, digits)
    return _Run(elements, element_bytes, threads, is_parallel, times)


def _expected(run: _Run, digits: int = 6) -> list[Expected]:
    """Return the bandwidths; only version 5.9, whose times have 4 digits, names the type of elements of 4 bytes."""
    size = run.elements * run.element_bytes
    params: dict[str, Value] = {"size": size, "threads": run.threads}
    if run.element_bytes == 8 or digits == 4:
        params["precision"] = "fp64" if run.element_bytes == 8 else "fp32"
    step = 0.5 * 10**-digits
    required = frozenset({"op", *params} - (set() if run.is_parallel else {"threads"}))
    return [
        Expected("bandwidth", {"op": op, **params}, _ARRAYS[op] * size / (float(time) + step),
                 _ARRAYS[op] * size / (float(time) - step), required, rounding=half_step(time))
        for op, time in run.times.items()
    ]  # fmt: skip


def _rows(rng: random.Random, run: _Run, is_new: bool) -> list[str]:
    lines = []
    for op, text in run.times.items():
        best = float(text) * rng.uniform(0.9, 0.999)
        rate = _ARRAYS[op] * run.elements * run.element_bytes / best / 1e6
        name = f"{op.capitalize() + ':':<11}"
        if is_new:
            lines.append(f"{name:<12}{rate:12.1f}  {text:>11}  {best:11.6f}  {float(text) * 1.1:11.6f}")
        else:
            lines.append(f"{name}{rate:11.4f}  {text:>10}  {best:10.4f}  {float(text) * 1.1:10.4f}")
    return lines


def _warning(rng: random.Random) -> list[str]:
    return [
        _LINE, rng.choice(["Your clock granularity/precision appears to be 1 microseconds.",
                           "Your clock granularity appears to be less than one microsecond."]),
        f"Each test below will take on the order of {rng.randint(100, 99999)} microseconds.",
        "   (= 18000 clock ticks)", "Increase the size of the arrays if this shows that",
        "you are not getting at least 20 clock ticks per test.", _LINE,
        "WARNING -- The above is only a rough guideline.", "For best results, please be sure you know the",
        "precision of your system timer.", _LINE,
    ]  # fmt: skip


def _new(rng: random.Random, run: _Run, offset: int = 0, requested: int = 0) -> list[str]:
    """Return the lines of version 5.10 up to the results."""
    mib = run.elements * run.element_bytes / (1 << 20)
    threads = [_LINE, f"Number of Threads requested = {requested or run.threads}",
               f"Number of Threads counted = {run.threads}"]  # fmt: skip
    return [
        _LINE, "STREAM version $Revision: 5.10 $", _LINE,
        f"This system uses {run.element_bytes} bytes per array element.", _LINE,
        f"Array size = {run.elements} (elements), Offset = {offset} (elements)",
        f"Memory per array = {mib:.1f} MiB (= {mib / 1024:.1f} GiB).",
        f"Total memory required = {3 * mib:.1f} MiB (= {3 * mib / 1024:.1f} GiB).",
        f"Each kernel will be executed {rng.choice([10, 20, 100])} times.",
        " The *best* time for each kernel (excluding the first iteration)",
        " will be used to compute the reported bandwidth.", *(threads if run.is_parallel else []), *_warning(rng),
        "Function    Best Rate MB/s  Avg time     Min time     Max time", *_rows(rng, run, is_new=True), _LINE,
    ]  # fmt: skip


def _old(rng: random.Random, run: _Run, offset: int = 0) -> list[str]:
    """Return the lines of version 5.9 up to the results."""
    total = 3 * run.elements * run.element_bytes / (1 << 20)
    threads = [_LINE, f"Number of Threads requested = {run.threads}", _LINE,
               *["Printing one line per active thread...."] * run.threads]  # fmt: skip
    return [
        _LINE, "STREAM version $Revision: 5.9 $", _LINE,
        f"This system uses {run.element_bytes} bytes per DOUBLE PRECISION word.", _LINE,
        f"Array size = {run.elements}, Offset = {offset}", f"Total memory required = {total:.1f} MB.",
        "Each test is run 10 times, but only", "the *best* time for each is used.",
        *(threads if run.is_parallel else []), *_warning(rng),
        "Function      Rate (MB/s)   Avg time     Min time     Max time", *_rows(rng, run, is_new=False), _LINE,
    ]  # fmt: skip


_VALID_NEW = ["Solution Validates: avg error less than 1.000000e-13 on all three arrays", _LINE]
_VALID_OLD = ["Solution Validates", _LINE]
_FAILED = ["Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)",
           "     Expected Value: 1.153301e+12, AvgAbsErr: 1.153301e+12, AvgRelAbsErr: 1.000000e+00",
           "     For array a[], 10000000 errors were found."]  # fmt: skip


def _output(lines: Sequence[str], reading: Reading, expected: Sequence[Expected], *kinds: str) -> ToolOutput:
    return ToolOutput("stream", ("\n".join(lines) + "\n").encode(), reading, expected, kinds)


def _one(rng: random.Random) -> tuple[list[str], list[Expected], str]:
    """Return the lines of a run that is valid, its values and its version."""
    if rng.random() < 0.35:
        run = _run(rng, digits=4)
        return [*_old(rng, run), *_VALID_OLD], _expected(run, digits=4), "STREAM 5.9"
    run = _run(rng)
    requested = run.threads * rng.choice([1, 1, 1, 2])
    verbose = [
        "Results Validation Verbose Results: ", "    Expected a(1), b(1), c(1): 1.0 1.0 1.0 ",
        "    Observed a(1), b(1), c(1): 1.0 1.0 1.0 ", "    Rel Errors on a, b, c:     0.0e+00 0.0e+00 0.0e+00 ",
    ]  # fmt: skip
    valid = [_VALID_NEW[0], *verbose, _LINE] if rng.random() < 0.1 else _VALID_NEW
    return [*_new(rng, run, requested=requested), *valid], _expected(run), "STREAM 5.10"


def _plain(rng: random.Random) -> ToolOutput:
    lines, expected, version = _one(rng)
    before = rng.choice([[], [], [], ["+ OMP_NUM_THREADS=8 ./stream", "node a01"], ["Copy: results go to /home/u"]])
    after = rng.choice([[], [], [], ["", "real 0m12.5s"], ["Copyright: none"]])
    output = _output([*before, *lines, *after], Reading.MUST, expected, version, "one run")
    if rng.random() < 0.15:
        output = replace(output, content=output.content.replace(b"\n", b"\r\n"))
    return output


def _failed(rng: random.Random) -> ToolOutput:
    is_new = rng.random() < 0.6
    run = _run(rng, 6 if is_new else 4)
    lines = [*(_new(rng, run) if is_new else _old(rng, run)), *_FAILED]
    if is_new and rng.random() < 0.3:
        lines += ["Results Validation Verbose Results: ", "    Expected a(1), b(1), c(1): 1.0 1.0 1.0 "]
    return _output([*lines, _LINE], Reading.NEVER, [], "a failed validation")


def _appended(rng: random.Random) -> ToolOutput:
    """Return two or three runs in one file, with the same number of threads or others; one of them may have failed."""
    run = _run(rng)
    is_scaling = rng.random() < 0.5 and run.is_parallel
    lines: list[str] = []
    expected: list[Expected] = []
    count = rng.choice([2, 3])
    failed = rng.randrange(count) if rng.random() < 0.2 else -1
    for index in range(count):
        times = {op: f"{float(time) * rng.uniform(1, 1.3):.6f}" for op, time in run.times.items()}
        one = replace(run, times=times, threads=1 << index if is_scaling else run.threads)
        lines += [*_new(rng, one), *(_FAILED if index == failed else _VALID_NEW)]
        expected += [] if index == failed else _expected(one)
    if not is_scaling:
        expected = [
            replace(first, low=min(same.low for same in expected if same.params == first.params),
                    high=max(same.high for same in expected if same.params == first.params))
            for first in expected[:4]
        ]  # fmt: skip
    kind = f"{count} runs{' with other threads' if is_scaling else ''}{', one failed' if failed >= 0 else ''}"
    rounds = 1 if is_scaling else count
    return replace(_output(lines, Reading.MAY, expected, "STREAM 5.10", kind), max_rounds=rounds)


def _encoded(rng: random.Random) -> ToolOutput:
    lines, expected, version = _one(rng)
    encoding = rng.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
    output = _output(lines, Reading.MAY, expected, version, encoding)
    return replace(output, content=output.content.decode().replace("\n", "\r\n").encode(encoding))


def _prefixed(rng: random.Random) -> ToolOutput:
    lines, expected, version = _one(rng)
    return _output(logged(rng, lines), Reading.MUST, expected, version, "lines with a prefix")


def _fortran(rng: random.Random) -> ToolOutput:
    run = replace(_run(rng), element_bytes=8)
    size_mb = 3 * 8 * run.elements >> 20
    line = " ----------------------------------------------"
    threads = [f" Number of Threads = {run.threads:12d}"] if run.is_parallel else []
    # The times are those of elements of 8 bytes.
    run = replace(run, times={op: f"{max(float(time), 0.0001):.6f}" for op, time in run.times.items()})
    rows = []
    for op, text in run.times.items():
        rate = _ARRAYS[op] * 8 * run.elements / float(text) / 1e6
        rows.append(f"{op.capitalize() + ':':<12}{rate:10.1f}  {text:>10}  {text:>10}  {text:>10}  ")
    lines = [
        line[1:], " Double precision appears to have 16 digits of accuracy",
        " Assuming 8 bytes per DOUBLE PRECISION word", line[1:],
        line, " STREAM Version $Revision: 5.6 $", line,
        f" Array size = {run.elements:10d}", f" Offset     = {0:10d}",
        f" The total memory requirement is {size_mb:4d} MB", " You are running each test  10 times", " --",
        " The *best* time for each test is used", " *EXCLUDING* the first and last iterations", line, *threads, line,
        *[" Printing one line per active thread...."] * run.threads, line,
        "----------------------------------------------------", " Your clock granularity appears to be less ",
        "----------------------------------------------------",
        "Function     Rate (MB/s)  Avg time   Min time  Max time", *rows,
        " ----------------------------------------------------", " Solution Validates!",
    ]  # fmt: skip
    prefixed = logged(rng, lines) if rng.random() < 0.3 else lines
    return _output(prefixed, Reading.MUST, _expected(run), "STREAM 5.6 in Fortran")


def _offset(rng: random.Random) -> ToolOutput:
    run = _run(rng)
    lines = [*_new(rng, run, offset=rng.choice([1, 64, 1024])), *_VALID_NEW]
    return _output(lines, Reading.MAY, _expected(run), "STREAM 5.10", "an offset")


def _odd(rng: random.Random) -> ToolOutput:
    """Return a run of arrays that are too small for the clock, or with a row that is no number."""
    run = _run(rng)
    op = rng.choice(list(run.times))
    word = rng.choice(["0.000000", "inf", "nan", "-nan", "-0.000001"])
    lines = []
    for line in [*_new(rng, run), *_VALID_NEW]:
        is_row = line.startswith(op.capitalize() + ":")
        lines.append(f"{op.capitalize() + ':':<12}{'inf':>12}  {word:>11}  {word:>11}  {word:>11}" if is_row else line)
    expected = [value for value in _expected(run) if value.params["op"] != op]
    return _output(lines, Reading.MAY, expected, "STREAM 5.10", f"a row with {word}")


def _cut(rng: random.Random) -> ToolOutput:
    """Return a run that was killed before it compared its results."""
    run = _run(rng)
    lines = _new(rng, run)
    return _output(lines[: rng.randint(len(lines) - 5, len(lines))], Reading.NEVER, [], "cut before the validation")
