"""t2micro-cloud: disk, network and CPU of an EC2 t2.micro with 1, 2 and 4 threads, and two ten-minute series.

The study's latency is the block size ÷ the throughput of all threads together, in decimal units: its 2.220 µs for 1 KB
at 450.36 MB/s is 1,000 bytes ÷ this throughput.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.records.study_record import Study, StudyChart, StudyColumn, StudyTable, StudyValue
from nameplate.studies._blocks import IN_FLIGHT_NOTE, LATENCY_NOTE, latency, throughput
from nameplate.studies._cells import study_cell
from nameplate.studies._conditions import conditions_table
from nameplate.studies._cpu import cpu_charts, cpu_table, linpack_table, rate, series_charts, series_table
from nameplate.studies._disk import disk_file_note, iozone_matrix
from nameplate.studies._layout import along_blocks, by_block, by_threads, crossed, matrix, with_fields
from nameplate.studies._measured import StudyRun
from nameplate.studies._network import link_peak, message_throughput
from nameplate.studies._parameters import round_trips
from nameplate.studies._quantity import Fields, StudyQuantity, work_over_time
from nameplate.studies._theory import CpuFormula, Reached, cpu_theory, highest, mean_of
from nameplate.studies._units import in_unit
from nameplate.studies.published import Printed, largest, published, published_items

CPU_THREADS = (1, 2, 4)
THREADS = (1, 2)
DISK_BLOCKS = (1, 1 << 10, 1 << 20)
PAYLOADS = (1, 1 << 10, 64 << 10)
LINPACK_SIZES = (1000, 2000, 5000)
IOZONE_FILES, IOZONE_RECORDS = (1 << 20, 64 << 20), (64 << 10, 1 << 20)
IPERF_DATAGRAM = 1470
# The row of IOzone's table that can be read: a file of 1 MiB by records of 64 KiB.
_LEGIBLE = {(1 << 20, 64 << 10): "iozone-auto-1024KB-64KB"}
_CONDITIONS: Mapping[str, Printed | str] = {
    "machine": "EC2 t2.micro", "cores": Printed.of("1"), "clock, GHz": Printed.of("2.5"), "memory, GB": Printed.of("1"),
}  # fmt: skip
_FORMULA = CpuFormula(Printed.of("2.5"), cores=1, per_cycle=8, peak_gflops=Printed.of("20"))
_PATTERNS: Mapping[str, Fields] = {"sequential": {"pattern": "sequential"}, "random": {"pattern": "random"}}
_OPERATIONS: Mapping[str, Fields] = {"write": {"op": "write"}, "read": {"op": "read"}}
_PROTOCOLS: Mapping[str, Fields] = {"TCP": {"protocol": "tcp"}, "UDP": {"protocol": "udp"}}
_DECIMAL = {1: 1, 1 << 10: 1000, 1 << 20: 1_000_000}
_DECIMAL_NOTE = (
    "In this quotient 1 KB is 1,000 and 1 MB 1,000,000 bytes, as in the study. The document prints ms for every block "
    "size; its own throughput shows the unit."
)
_CONTRADICTED = (
    "Three of the document's latencies contradict its own throughput: random write and random read of 1 B with 2 "
    "threads, and random read of 1 KB with 1 thread."
)
_DATAGRAM = "A datagram holds 65,507 bytes at most, so that UDP's 64 KiB are 65,507 B here."
_ROUND_TRIP = (
    "Here: the mean time of a round trip. The unit of the document's latencies cannot be derived, so no ratio is shown."
)
_IPERF = (
    "Here: net_stream over UDP with datagrams of 1,470 B at 1.05 Mbit/s, iperf's defaults, from one client. Jitter is "
    "RFC 3550's running estimate at the end, as iperf prints it. Counts are of the time measured here, so they have no "
    "ratio."
)
_ABOVE = "The document's means exceed its own theoretical peak of 20 GFLOP/s, so that its ratio says little."
_ONE_MESSAGE = "One message is counted for each round trip; the document does not say whether it counts the answer too."


def make(measured: StudyRun) -> Study:
    """Return the tables and charts of the study "t2micro-cloud" in the order of its document.

    ``measured`` must be a run of the plan "t2micro-cloud". A value that the run lacks is None.
    """
    conditions = conditions_table(measured, _CONDITIONS)
    return Study([conditions, *_disk_tables(measured), *_network_tables(measured), *_cpu_table(measured)],
                 [*_disk_charts(measured), *_network_charts(measured), *cpu_charts(measured, CPU_THREADS),
                  *series_charts(measured, 4)])  # fmt: skip


def decimal_block_over_throughput(result: Result, fields: Fields) -> float | None:
    """Return the block size in decimal units ÷ the throughput of all threads together, in seconds.

    ``result`` must be a result of a bandwidth in B/s. ``fields["block_bytes"]`` must be 1, 2¹⁰ or 2²⁰, which count as
    1, 1,000 and 1,000,000 bytes; any other size raises KeyError. The return value is None if there is no throughput or
    it is 0.
    """
    throughput = result.summary.sustained
    return _DECIMAL[int(fields["block_bytes"])] / throughput if throughput else None


def _disk(measured: StudyRun) -> StudyQuantity:
    return throughput(measured, "disk", "disk_block", "MB/s")


def _disk_latency(measured: StudyRun) -> StudyQuantity:
    return latency(measured, "disk", "disk_block", "µs", decimal_block_over_throughput)


def _disk_tables(measured: StudyRun) -> list[StudyTable]:
    note = disk_file_note(measured, "its size is not stated")
    counts = by_threads(THREADS)
    tables = []
    for op, fields in _OPERATIONS.items():
        rows = with_fields(crossed(_PATTERNS, by_block(DISK_BLOCKS)), fields)
        tables += [
            matrix(f"Disk {op}, throughput", _disk(measured), rows, counts, notes=[note]),
            matrix(f"Disk {op}, latency", _disk_latency(measured), rows, counts,
                   notes=[LATENCY_NOTE, _DECIMAL_NOTE, IN_FLIGHT_NOTE, _CONTRADICTED]),
        ]  # fmt: skip
    return [*tables, iozone_matrix(measured, IOZONE_FILES, IOZONE_RECORDS, _LEGIBLE)]


def _network(measured: StudyRun) -> StudyQuantity:
    return message_throughput(measured, "network", "MB/s", round_trips)


def _network_latency(measured: StudyRun) -> StudyQuantity:
    """Return the time of a round trip, since the document does not show how it computes its latency."""
    return replace(
        _network(measured), name="latency", published_metric="latency", unit="µs", metric="latency",
        value=work_over_time, alternative_metric="", alternative_name="",
    )  # fmt: skip


def _network_tables(measured: StudyRun) -> list[StudyTable]:
    rows, counts = crossed(_PROTOCOLS, by_block(PAYLOADS)), by_threads(THREADS)
    return [
        matrix("Network throughput", _network(measured), rows, counts, notes=[_ONE_MESSAGE, _DATAGRAM]),
        matrix("Network latency", _network_latency(measured), rows, counts, notes=[_ROUND_TRIP]),
        _iperf_udp(measured), *link_peak(measured),
    ]  # fmt: skip


def _iperf_udp(measured: StudyRun) -> StudyTable:
    printed = published_items(measured.plan, "iperf-udp")
    params: dict[str, Value] = {"protocol": "udp", "block": IPERF_DATAGRAM}
    result = measured.find("net_stream", "bandwidth", params, in_series=True)
    evidence = result.evidence if result else {}
    lost = sum(evidence[name] for name in ("lost_sender", "lost_queue", "lost_network")) if evidence else None
    # A series has one sample per second.
    length_s = float(len(result.series.value)) if result and result.summary.value is not None else None
    n_bytes = result.summary.sustained * length_s if result and result.summary.sustained and length_s else None
    rows: dict[str, tuple[StudyValue, Printed | str]] = {
        "bandwidth, Mbit/s": (_sustained(result, "Mbit/s"), printed["bandwidth"]),
        "jitter, ms": (in_unit(evidence.get("jitter_s"), "ms"), printed["jitter client 1"]),
        "jitter of the second client, ms": (None, printed["jitter client 2"]),
        "time measured, s": (length_s, Printed.of("10")),
        "transfer, MiB": (in_unit(n_bytes, "MiB"), f"{printed['transfer in 10 s'].text} in 10 s"),
        "datagrams sent": (evidence.get("sent"), f"{printed['sent'].text} in 10 s"),
        "datagrams lost": (lost, printed["lost"]),
        "datagram, B": (float(IPERF_DATAGRAM), printed["datagram"]),
    }
    return StudyTable(
        title="iperf: UDP", rows=list(rows), columns=[StudyColumn("value")],
        cells=[[study_cell(*pair, result, alternative=_by_iperf(measured, name))] for name, pair in rows.items()],
        alternative="iperf here", notes=[_IPERF],
    )  # fmt: skip


def _by_iperf(measured: StudyRun, row: str) -> float | None:
    """Return the value of a row of the table by iperf's own run over UDP, None if there is none."""
    name, _, unit = row.partition(", ")
    work = f"{name}, udp" if name in ("bandwidth", "jitter") else ""
    values = (r.value for r in measured.references if work and r.tool == "iperf" and r.work.startswith(work))
    return in_unit(next(values, None), unit)


def _sustained(result: Result | None, unit: str) -> float | None:
    return in_unit(result.summary.sustained, unit) if result and result.summary.value is not None else None


_LINPACK_ABOVE = (
    "LINPACK of one thread may exceed this peak: the formula counts 8 operations per cycle, and LINPACK uses the "
    "widest vectors with fused multiply-add",
)


def _cpu_table(measured: StudyRun) -> list[StudyTable]:
    rates = [p.printed for p in published(measured.plan) if (p.table, p.probe) == ("cpu", "cpu_flops")]
    slices: list[Fields] = [{"op": "mixed", "threads": count} for count in CPU_THREADS]
    solutions = [measured.find("cpu_linpack", "rate", {"n": n, "threads": 1}) for n in LINPACK_SIZES]
    reached = [
        Reached("highest GFLOPS of the CPU table", highest(rate(measured, "GFLOP/s"), slices), largest(rates)),
        Reached("highest LINPACK", mean_of(solutions), None, _LINPACK_ABOVE),
    ]
    linpack = linpack_table(measured, 1, LINPACK_SIZES, {"rate": "rate"}, ["The document has the rates in a picture."])
    return [
        cpu_table(measured, CPU_THREADS, []), cpu_theory(measured, _FORMULA, reached),
        series_table(measured, 4, [_ABOVE]), linpack,
    ]  # fmt: skip


def _disk_charts(measured: StudyRun) -> list[StudyChart]:
    lines = {op: with_fields(crossed(_PATTERNS, by_threads(THREADS)), fields) for op, fields in _OPERATIONS.items()}
    return [
        *(along_blocks(f"Disk {op}, sequential and random", _disk(measured), line, DISK_BLOCKS)
          for op, line in lines.items()),
        *(along_blocks(f"Disk {op} latency, sequential and random", _disk_latency(measured), line, DISK_BLOCKS)
          for op, line in lines.items()),
    ]  # fmt: skip


def _network_charts(measured: StudyRun) -> list[StudyChart]:
    lines = crossed(_PROTOCOLS, by_threads(THREADS))
    return [
        along_blocks("Network throughput", _network(measured), lines, PAYLOADS),
        along_blocks("Network latency", _network_latency(measured), lines, PAYLOADS),
    ]
