"""t2micro-posix: CPU, memory and disk of an EC2 t2.micro. Its programs run for a fixed time; repeats are averaged.

The study's latency is the block size ÷ the throughput of all threads together, averaged over its repeats; its MB are
2²⁰ bytes in its own tables and 10⁶ bytes in IOzone's and STREAM's.
"""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.records.study_record import Study, StudyChart, StudyTable
from nameplate.studies._blocks import IN_FLIGHT_NOTE, LATENCY_NOTE, latency, throughput, with_rand
from nameplate.studies._cells import computed
from nameplate.studies._conditions import conditions_table
from nameplate.studies._cpu import cpu_charts, cpu_table, linpack_table, rate, series_charts, series_table
from nameplate.studies._disk import disk_file_note, disk_peak, iozone_table
from nameplate.studies._layout import (
    along_blocks,
    along_threads,
    by_block,
    by_threads,
    crossed,
    matrix,
    with_fields,
)
from nameplate.studies._measured import StudyRun
from nameplate.studies._quantity import Fields, StudyQuantity
from nameplate.studies._stream import IN_PLAIN_C, STREAM_COLUMNS, STREAM_NOTE, stream_best, stream_row
from nameplate.studies._theory import CpuFormula, Reached, cpu_theory, highest, mean_of, memory_theory
from nameplate.studies.published import Printed, largest, published, published_items

CPU_THREADS = (1, 2, 4)
THREADS = (1, 2)
BLOCKS = (1, 1 << 10, 1 << 20)
FILE_BYTES = 300_000_000
# IOzone's file has whole records of 1 MiB.
IOZONE_FILE = 300 << 20
LINPACK_SIZES = (1000, 2000, 5000, 10_000)
_CONDITIONS: Mapping[str, Printed | str] = {
    "machine": "EC2 t2.micro", "cores": Printed.of("1"), "clock, GHz": Printed.of("2.50"),
    "memory, GB": Printed.of("1"), "disk file, GB": Printed.of("0.3"), "rounds": "3",
}  # fmt: skip
_FORMULA = CpuFormula(Printed.of("2.50"), cores=1, per_cycle=4, peak_gflops=Printed.of("10"))
_PATTERNS: Mapping[str, Fields] = {"sequential": {"pattern": "sequential"}, "random": {"pattern": "random"}}
_OPERATIONS: Mapping[str, Fields] = {"read": {"op": "read"}, "write": {"op": "write"}}
_COPY: Fields = {"op": "copy"}
_REPEATS = "The value is all work over all time of the repeats."
_EQUAL_REPEATS = f"{_REPEATS[:-1]}, which are to last equally long, as the study averages them."
_RAND = (
    "The study calls rand() for each block, also of the sequential pattern, and so do the values here. Precomputed: "
    "nameplate's own, with offsets that were drawn before."
)
_UNOPTIMISED = (
    "The study's program is compiled without optimisation: build=O0, and each thread works until the time is over. "
    "Optimised: nameplate's own loop, with its operands in registers."
)
_AVERAGED = (
    "The study averages the latencies of its repeats: they differ by up to 8 % from the block ÷ its printed throughput."
)


def make(measured: StudyRun) -> Study:
    """Return the tables and charts of the study "t2micro-posix" in the order of its document.

    ``measured`` must be a run of the plan "t2micro-posix". A value that the run lacks is None.
    """
    conditions = conditions_table(measured, _CONDITIONS)
    return Study([conditions, *_disk_tables(measured), *_memory_tables(measured), *_cpu_table(measured)],
                 [*_disk_charts(measured), *_memory_charts(measured), *cpu_charts(measured, CPU_THREADS, figure=9),
                  *series_charts(measured, 4, figure=11)])  # fmt: skip


def _repeats(measured: StudyRun, probe: str) -> str:
    """Return a note on the repeats of a probe's experiments, which are to last equally long if none lacks a round."""
    rounds = {r.summary.rounds for r in measured.results if r.summary.probe == probe and not r.is_series}
    return _EQUAL_REPEATS if rounds == {measured.rounds} else _REPEATS


def _throughput(measured: StudyRun, table: str) -> StudyQuantity:
    return _with_rand(throughput(measured, table, f"{table}_block", "MiB/s"))


def _latency(measured: StudyRun, table: str) -> StudyQuantity:
    return _with_rand(latency(measured, table, f"{table}_block", "µs"))


def _with_rand(quantity: StudyQuantity) -> StudyQuantity:
    return with_rand(quantity, tuple(_PATTERNS)) if quantity.probe == "memory_block" else quantity


def _disk_tables(measured: StudyRun) -> list[StudyTable]:
    note = disk_file_note(measured, "300 MB on a machine with 1 GB of memory")
    counts = by_threads(THREADS)
    tables = []
    for op, fields in _OPERATIONS.items():
        rows = with_fields(crossed(_PATTERNS, by_block(BLOCKS)), fields)
        notes = [note, _repeats(measured, "disk_block")]
        tables += [
            matrix(f"Disk {op}, throughput", _throughput(measured, "disk"), rows, counts, notes=notes),
            matrix(f"Disk {op}, latency", _latency(measured, "disk"), rows, counts,
                   notes=[LATENCY_NOTE, _AVERAGED, IN_FLIGHT_NOTE]),
        ]  # fmt: skip
    return [*tables, _iozone(measured, note), *_disk_peaks(measured)]


def _iozone(measured: StudyRun, note: str) -> StudyTable:
    names = {("read", "sequential"): "reread", ("read", "random"): "random-read", ("write", "sequential"): "rewrite",
             ("write", "random"): "random-write"}  # fmt: skip
    columns: dict[int, dict[str, Printed]] = {block: {} for block in BLOCKS[1:]}
    for p in published(measured.plan):
        if p.probe == "iozone" and p.block_bytes is not None:
            columns[p.block_bytes][names[p.op, p.pattern]] = p.printed
    return iozone_table(measured, columns, "MB/s", (IOZONE_FILE, FILE_BYTES), [note, _PASSES])


_PASSES = (
    "The study's sequential read and write are compared with IOzone's second passes (reread, rewrite), since the "
    "study's file fits into the memory. The values of the study's own program are in the disk tables."
)


def _disk_peaks(measured: StudyRun) -> list[StudyTable]:
    printed = published_items(measured.plan, "disk-theory")
    tables = []
    for op in _OPERATIONS:
        values = [
            p.value for p in published(measured.plan) if (p.probe, p.op, p.metric) == ("disk_block", op, "bandwidth")
        ]
        tables.append(disk_peak(measured, op, printed[f"{op} peak"], computed(max(values) * 2**20 / 1e9)))
    return tables


def _memory_tables(measured: StudyRun) -> list[StudyTable]:
    rows = with_fields(crossed(_PATTERNS, by_block(BLOCKS)), _COPY)
    counts = by_threads(THREADS)
    return [
        matrix("Memory copy, throughput", _throughput(measured, "memory"), rows, counts,
               notes=[_repeats(measured, "memory_block"), _RAND]),
        matrix("Memory copy, latency", _latency(measured, "memory"), rows, counts,
               notes=[LATENCY_NOTE, _AVERAGED, _RAND]),
        _stream(measured), _memory_peak(measured),
    ]  # fmt: skip


def _stream(measured: StudyRun) -> StudyTable:
    printed = next(p.printed for p in published(measured.plan) if p.probe == "stream")
    cells = [stream_row(measured, "copy", printed)]
    return StudyTable(title="STREAM, 1 thread", rows=["Copy"], columns=STREAM_COLUMNS, cells=cells,
                      alternative=IN_PLAIN_C, notes=[STREAM_NOTE])  # fmt: skip


def _memory_peak(measured: StudyRun) -> StudyTable:
    values = [p.value for p in published(measured.plan) if (p.table, p.metric) == ("memory", "bandwidth")]
    stream = next(p.printed for p in published(measured.plan) if p.probe == "stream").scaled(-3)
    peak = published_items(measured.plan, "memory-theory")["peak"]
    copies = with_fields(crossed(crossed(_PATTERNS, by_block(BLOCKS)), by_threads(THREADS)), _COPY).values()
    reached = [
        Reached("highest of the memory table", highest(_throughput(measured, "memory"), copies),
                computed(max(values) * 2**20 / 1e9)),
        Reached("STREAM copy", stream_best(measured, ["copy"]), stream),
    ]  # fmt: skip
    return memory_theory(measured, peak, "the provider's value", reached)


def _cpu_table(measured: StudyRun) -> list[StudyTable]:
    rates = [p.printed for p in published(measured.plan) if (p.table, p.probe) == ("cpu", "cpu_flops")]
    linpack = largest(p.printed for p in published(measured.plan) if p.probe == "linpack")
    slices: list[Fields] = [{"op": "mixed", "threads": count} for count in CPU_THREADS]
    solutions = [measured.find("cpu_linpack", "rate", {"n": n, "threads": 1}) for n in LINPACK_SIZES]
    reached = [
        Reached("highest GFLOPS of the CPU table", highest(rate(measured, "GFLOP/s"), slices), largest(rates)),
        Reached("highest LINPACK", mean_of(solutions), linpack, _ABOVE_PEAK),
    ]
    return [
        cpu_table(measured, CPU_THREADS, [_repeats(measured, "cpu_flops"), _UNOPTIMISED]), series_table(measured, 4),
        linpack_table(measured, 1, LINPACK_SIZES, {"rate": "rate"}), cpu_theory(measured, _FORMULA, reached),
    ]  # fmt: skip


_ABOVE_PEAK = (
    "LINPACK may exceed this peak, in the study as well: the formula counts 4 operations per cycle, and LINPACK uses "
    "the widest vectors with fused multiply-add",
)


def _disk_charts(measured: StudyRun) -> list[StudyChart]:
    quantity = _throughput(measured, "disk")
    lines = {op: with_fields(crossed(_PATTERNS, by_threads(THREADS)), fields) for op, fields in _OPERATIONS.items()}
    by_blocks = {op: with_fields(crossed(_PATTERNS, by_block(BLOCKS)), fields) for op, fields in _OPERATIONS.items()}
    return [
        *(along_blocks(f"Figure {figure}: disk {op} against block size", quantity, lines[op], BLOCKS)
          for figure, op in enumerate(lines, start=1)),
        *(along_threads(f"Figure {figure}: disk {op} against threads", quantity, by_blocks[op], THREADS)
          for figure, op in enumerate(lines, start=3)),
    ]  # fmt: skip


def _memory_charts(measured: StudyRun) -> list[StudyChart]:
    quantities = {"throughput": _throughput(measured, "memory"), "latency": _latency(measured, "memory")}
    lines = with_fields(crossed(_PATTERNS, by_threads(THREADS)), _COPY)
    blocks_lines = with_fields(crossed(_PATTERNS, by_block(BLOCKS)), _COPY)
    return [
        *(along_blocks(f"Figure {figure}: memory {name} against block size", quantity, lines, BLOCKS)
          for figure, (name, quantity) in enumerate(quantities.items(), start=5)),
        *(along_threads(f"Figure {figure}: memory {name} against threads", quantity, blocks_lines, THREADS)
          for figure, (name, quantity) in enumerate(quantities.items(), start=7)),
    ]  # fmt: skip
