"""cs553-kvm: CPU, memory, disk and network of a KVM instance with 2 vCPUs at 3.049 GHz and 4 GB (2017).

The study divides fixed work among the threads (strong scaling). Its latency is the block size ÷ the throughput of all
threads together, its network throughput counts one message for each round trip, and its MB are 2²⁰ bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.records.study_record import Study, StudyChart, StudyColumn, StudyTable
from nameplate.studies._blocks import IN_FLIGHT_NOTE, LATENCY_NOTE, RAND_NOTE, latency, throughput, with_rand
from nameplate.studies._cells import computed, study_cell
from nameplate.studies._conditions import conditions_table
from nameplate.studies._cpu import cpu_charts, cpu_table, linpack_table, rate
from nameplate.studies._disk import disk_file_note, iozone_like, iozone_table, iozone_value
from nameplate.studies._layout import along_threads, by_block, by_threads, crossed, matrix, with_fields
from nameplate.studies._linpack_trials import linpack_trials
from nameplate.studies._measured import StudyRun
from nameplate.studies._network import link_peak, message_throughput, one_message_per_round_trip
from nameplate.studies._per_second import per_second_table
from nameplate.studies._quantity import Fields, StudyQuantity, names_of_blocks
from nameplate.studies._stream import IN_PLAIN_C, STREAM_COLUMNS, STREAM_NOTE, stream_best, stream_row
from nameplate.studies._theory import CpuFormula, Reached, best_of, cpu_theory, highest, memory_theory
from nameplate.studies.published import Printed, largest, published, published_items

THREADS = (1, 2, 4, 8)
BLOCKS = (8, 8 << 10, 8 << 20, 80 << 20)
# The size in bytes of the file that IOzone and disk_block use.
IOZONE_FILE = 1280 << 20
LINPACK_SIZES = (1000, 2000, 5000, 10_000, 15_000, 18_000, 20_000)
# Latency × throughput is this number of bytes in all eight rows of the study's network tables, which print 64 KB.
MESSAGE_BYTES = 65_505
_CONDITIONS: Mapping[str, Printed | str] = {
    "machine": "Chameleon instance, 2017", "guest of": "KVM", "cores": Printed.of("2"),
    "clock, GHz": Printed.of("3.049"), "memory, GB": Printed.of("4"), "disk file, GB": Printed.of("10"),
}  # fmt: skip
_FORMULA = CpuFormula(Printed.of("3.049"), cores=2, per_cycle=2, peak_gflops=Printed.of("12.196"))
_MEMORY_FORMULA = "clock × transfers per clock × bus width × interfaces; the document gives it without a value"
_MEMORY: Mapping[str, Fields] = {
    "sequential write": {"op": "write", "pattern": "sequential"},
    "sequential read+write": {"op": "copy", "pattern": "sequential"},
    "random write": {"op": "write", "pattern": "random"},
}
# The patterns whose offsets the study draws with rand().
_RAND = ("random",)
_DISK: Mapping[str, Fields] = {
    "sequential read": {"op": "read", "pattern": "sequential"},
    "sequential read+write": {"op": "readwrite", "pattern": "sequential"},
    "random read": {"op": "read", "pattern": "random"},
}
_PROTOCOLS: Mapping[str, Fields] = {
    "TCP": {"protocol": "tcp", "block_bytes": 65_536},
    "UDP": {"protocol": "udp", "block_bytes": 65_536},
}
_STREAM = ("copy", "scale", "add", "triad")
_STRONG = "The same work is divided among the threads (strong scaling)."


def make(measured: StudyRun) -> Study:
    """Return the tables and charts of the study "cs553-kvm" in the order of its document.

    ``measured`` must be a run of the plan "cs553-kvm". A value that the run lacks is None.
    """
    tables = [
        conditions_table(measured, _CONDITIONS),
        cpu_table(measured, THREADS, [_STRONG]), _cpu_peak(measured),
        linpack_table(measured, 2, LINPACK_SIZES, {"average": "rate_mean", "maximal": "rate_best"}),
        linpack_trials(measured, 2, LINPACK_SIZES), *_memory_tables(measured), _memory_peak(measured),
        _stream(measured), *_disk_tables(measured), *_network_tables(measured),
    ]  # fmt: skip
    charts = [
        *cpu_charts(measured, THREADS), *_block_charts(_memory(measured), _MEMORY, "Memory"),
        _latency_chart(_memory_latency(measured), _MEMORY, "Memory"),
        *_block_charts(_disk(measured), _DISK, "Disk"), _latency_chart(_disk_latency(measured), _DISK, "Disk"),
        along_threads("Network throughput", _network(measured), _PROTOCOLS, THREADS),
        along_threads("Network latency", _network_latency(measured), _PROTOCOLS, THREADS),
    ]  # fmt: skip
    return Study(tables, charts)


def _memory(measured: StudyRun) -> StudyQuantity:
    return with_rand(throughput(measured, "memory-throughput", "memory_block", "MiB/s"), _RAND)


def _memory_latency(measured: StudyRun) -> StudyQuantity:
    return with_rand(latency(measured, "memory-latency", "memory_block", "ns"), _RAND)


def _disk(measured: StudyRun) -> StudyQuantity:
    return throughput(measured, "disk-throughput", "disk_block", "MiB/s")


def _disk_latency(measured: StudyRun) -> StudyQuantity:
    return latency(measured, "disk-latency", "disk_block", "ns")


def _cpu_peak(measured: StudyRun) -> StudyTable:
    best = largest(p.printed for p in published(measured.plan) if (p.table, p.probe) == ("cpu", "cpu_flops"))
    linpack = largest(p.printed for p in published(measured.plan) if p.metric == "rate_best")
    slices: list[Fields] = [{"op": "mixed", "threads": count} for count in THREADS]
    solutions = [measured.find("cpu_linpack", "rate", {"n": n, "threads": 2}) for n in LINPACK_SIZES]
    reached = [
        Reached("highest GFLOPS of the CPU table", highest(rate(measured, "GFLOP/s"), slices), best),
        Reached("highest LINPACK", best_of(solutions), linpack, _ABOVE_PEAK),
    ]
    return cpu_theory(measured, _FORMULA, reached)


_ABOVE_PEAK = (
    "LINPACK exceeds this peak, in the study as well: the formula counts 2 operations per cycle, and LINPACK uses the "
    "widest vectors with fused multiply-add",
)


def _memory_tables(measured: StudyRun) -> list[StudyTable]:
    counts = by_threads(THREADS)
    notes = [
        "The study moves 1.28 GB in all, divided by the block and the threads; here 1,280 MiB are divided alike.",
        RAND_NOTE,
    ]
    return [
        *(
            matrix(f"Memory throughput, {name}", _memory(measured), with_fields(by_block(BLOCKS), fields), counts,
                   notes)
            for name, fields in _MEMORY.items()
        ),
        matrix("Memory latency, 8 B blocks", _memory_latency(measured), with_fields(_MEMORY, {"block_bytes": 8}),
               counts, [LATENCY_NOTE, RAND_NOTE]),
    ]  # fmt: skip


def _memory_peak(measured: StudyRun) -> StudyTable:
    stream = largest(p.printed for p in published(measured.plan) if p.probe == "stream").scaled(-3)
    block = max(p.value for p in published(measured.plan) if p.table == "memory-throughput")
    fields = crossed(crossed(_MEMORY, by_block(BLOCKS)), by_threads(THREADS)).values()
    reached = [
        Reached("highest of the memory tables", highest(_memory(measured), fields), computed(block * 2**20 / 1e9),
                _FROM_CACHE),
        Reached("highest of STREAM", stream_best(measured, _STREAM), stream),
    ]  # fmt: skip
    return memory_theory(measured, None, _MEMORY_FORMULA, reached)


_FROM_CACHE = ("blocks that a cache holds may exceed the memory's peak, in the study as well",)


def _stream(measured: StudyRun) -> StudyTable:
    printed = {p.op: p.printed for p in published(measured.plan) if p.probe == "stream"}
    rows = {op.capitalize(): stream_row(measured, op, printed.get(op)) for op in _STREAM}
    best = [cells[0].here for cells in rows.values() if isinstance(cells[0].here, float)]
    total = sum(best) / 1024 if len(best) == len(_STREAM) else None
    printed_sum = published_items(measured.plan, "stream")["sum of the four best rates"]
    rows["sum of the four ÷ 1024"] = [study_cell(total, printed_sum), *(study_cell(None) for _ in STREAM_COLUMNS[1:])]
    notes = [
        STREAM_NOTE, "The document's times are not transcribed.",
        "The document prints the sum of the four rates, divided by 1024, as its total in GB/s. It is no peak.",
    ]  # fmt: skip
    return StudyTable(title="STREAM, 1 thread", rows=list(rows), columns=STREAM_COLUMNS, cells=list(rows.values()),
                      alternative=IN_PLAIN_C, notes=notes)  # fmt: skip


def _disk_tables(measured: StudyRun) -> list[StudyTable]:
    note = disk_file_note(measured, "10 GB on a machine with 4 GB of memory")
    counts = by_threads(THREADS)
    iozone = {record: published_items(measured.plan, table) for record, table in _IOZONE_TABLES.items()}
    return [
        *(
            matrix(f"Disk throughput, {name}", _disk(measured), with_fields(by_block(BLOCKS), fields), counts, [note])
            for name, fields in _DISK.items()
        ),
        matrix("Disk latency, 8 B blocks", _disk_latency(measured), with_fields(_DISK, {"block_bytes": 8}),
               counts, [LATENCY_NOTE, IN_FLIGHT_NOTE]),
        iozone_table(measured, iozone, "KiB/s", (IOZONE_FILE, IOZONE_FILE), [_IOZONE_FILE_NOTE]),
        _share_of_iozone(measured),
    ]  # fmt: skip


# The published table for each record size in bytes.
_IOZONE_TABLES = {8 << 10: "iozone-8KB-10GB", 8 << 20: "iozone-8MB-10GB"}
_IOZONE_FILE_NOTE = (
    "The study's file: 10 GB, larger than its memory. Here both programs use a file of 1,280 MiB, which the page cache "
    "can hold, so that the ratio compares page cache with disk."
)


def _share_of_iozone(measured: StudyRun) -> StudyTable:
    """Return a table of nameplate's random read in percent of IOzone's; the document's percentages mix two units."""
    printed = {
        8 << 10: published_items(measured.plan, "iozone-8KB-10GB")["share on random read"],
        8 << 20: published_items(measured.plan, "disk-efficiency")["8 MB random read against IOzone"],
    }
    cells = []
    for record, percent in printed.items():
        ours = iozone_like(measured, "random-read", record, IOZONE_FILE)
        iozone = iozone_value(measured, "random-read", record, IOZONE_FILE)
        share = 100 * (ours.summary.sustained or 0.0) / iozone if ours and ours.summary.sustained and iozone else None
        cells.append([study_cell(share, f"{percent.text} (?)", ours)])
    return StudyTable(
        title="Share of IOzone", rows=[f"random read, {name}, % of IOzone's" for name in names_of_blocks([*printed])],
        columns=[StudyColumn("value")], cells=cells, notes=[_MEANINGLESS],
    )  # fmt: skip


_MEANINGLESS = (
    "The document's 34 % is the mean of its four random reads of 8 KB in MiB/s ÷ IOzone's 17,583 kB/s, so its unit is "
    "wrong; its 36 % cannot be reproduced. Neither has a ratio."
)


def _message(fields: Fields) -> dict[str, Value]:
    return {"protocol": fields["protocol"], "payload": MESSAGE_BYTES, "connections": fields["threads"]}


def message_over_throughput(result: Result, fields: Fields) -> float | None:
    """Return the message size (``MESSAGE_BYTES``) ÷ the throughput of all threads together, in seconds.

    ``result`` is a result of ``net_pingpong``'s bandwidth; only one message of each round trip is counted. ``fields``
    is not used. The return value is None if there is no throughput or it is 0.
    """
    throughput = one_message_per_round_trip(result, fields)
    return MESSAGE_BYTES / throughput if throughput else None


_MESSAGE_LATENCY = "Latency is the message ÷ the throughput of all threads together, as in the study."


def _network(measured: StudyRun) -> StudyQuantity:
    return message_throughput(measured, "network-throughput", "MiB/s", _message)


def _network_latency(measured: StudyRun) -> StudyQuantity:
    return replace(
        _network(measured), name="latency", table="network-latency", published_metric="latency", unit="µs",
        value=message_over_throughput, alternative_metric="latency", alternative_name="round trip",
    )  # fmt: skip


def _network_tables(measured: StudyRun) -> list[StudyTable]:
    counts = by_threads(THREADS)
    sent = f"Messages of {MESSAGE_BYTES:,} B and answers of the same size; one of the two is counted, as in the study."
    return [
        matrix("Network throughput", _network(measured), _PROTOCOLS, counts,
               notes=[sent, "Both ways: nameplate's bandwidth, which counts the message and the answer."]),
        matrix("Network latency", _network_latency(measured), _PROTOCOLS, counts,
               notes=[_MESSAGE_LATENCY, "Round trip: the mean on its own connection."]),
        per_second_table(measured),
        *link_peak(measured, in_series=True),
    ]  # fmt: skip


def _block_charts(quantity: StudyQuantity, kinds: Mapping[str, Fields], area: str) -> list[StudyChart]:
    return [
        along_threads(f"{area} throughput, {name}", quantity, with_fields(by_block(BLOCKS), fields), THREADS)
        for name, fields in kinds.items()
    ]


def _latency_chart(quantity: StudyQuantity, kinds: Mapping[str, Fields], area: str) -> StudyChart:
    lines = with_fields(kinds, {"block_bytes": 8})
    return along_threads(f"{area} latency, 8 B blocks", quantity, lines, THREADS)
