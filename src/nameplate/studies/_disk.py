"""Disk tables that several studies have: IOzone on the same work, and the share of the disk's peak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes.shared.ceilings import disk_link, overriding
from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.studies._cells import study_cell
from nameplate.studies._measured import StudyRun, remarks_of
from nameplate.studies._quantity import names_of_blocks
from nameplate.studies._theory import Reached, peak_table
from nameplate.studies._units import in_unit
from nameplate.studies.published import Printed, published_items
from nameplate.units import size_text

# IOzone's columns as the studies name them, by the parameters of disk_block that do the same work.
_OPERATIONS: Mapping[str, Mapping[str, Value]] = {
    "write": {"op": "write", "pattern": "sequential", "pass": "first", "library": "posix"},
    "rewrite": {"op": "write", "pattern": "sequential", "pass": "again", "library": "posix"},
    "read": {"op": "read", "pattern": "sequential", "pass": "first", "library": "posix"},
    "reread": {"op": "read", "pattern": "sequential", "pass": "again", "library": "posix"},
    "random-read": {"op": "read", "pattern": "random", "pass": "again", "library": "posix"},
    "random-write": {"op": "write", "pattern": "random", "pass": "again", "library": "posix"},
    "backward-read": {"op": "read", "pattern": "backward", "pass": "again", "library": "posix"},
    "record-rewrite": {"op": "write", "pattern": "record", "pass": "again", "library": "posix"},
    "stride-read": {"op": "read", "pattern": "stride", "pass": "again", "library": "posix"},
    "fwrite": {"op": "write", "pattern": "sequential", "pass": "first", "library": "stdio"},
    "frewrite": {"op": "write", "pattern": "sequential", "pass": "again", "library": "stdio"},
    "fread": {"op": "read", "pattern": "sequential", "pass": "first", "library": "stdio"},
    "freread": {"op": "read", "pattern": "sequential", "pass": "again", "library": "stdio"},
}


def disk_file_note(measured: StudyRun, published: str) -> str:
    """Return a note on the size of the disk file in the study and in the run, compared with the memory.

    ``published`` describes the study's file and memory without a full stop, such as "10 GB on a machine with 4 GB of
    memory". The run's sizes are the facts "file_bytes" and "memory_bytes" of its first ``disk_block`` result that has a
    file size. If there is none, the note says that no disk experiment was measured.
    """
    result = next((r for r in measured.results if r.summary.probe == "disk_block" and "file_bytes" in r.facts), None)
    if result is None:
        return f"The study's file: {published}. No disk experiment was measured here."
    size, memory = result.facts["file_bytes"], result.facts["memory_bytes"]
    follows = (
        "larger than the memory" if size > memory else "smaller than the memory, so the page cache can hold it all"
    )
    reasons = "".join(f" {note[:1].upper()}{note[1:]}." for note in measured.notes if note.startswith("the disk file"))
    sizes = f"{size_text(size)} with {size_text(memory)} of memory"
    return f"The study's file: {published}. Here: {sizes}, {follows}.{reasons}"


def iozone_table(
    measured: StudyRun, columns: Mapping[int, Mapping[str, Printed]], unit: str, files: tuple[int, int],
    notes: Sequence[str],
) -> StudyTable:  # fmt: skip
    """Return a table of IOzone's values, here and in the study, and nameplate's values for the same work.

    ``columns`` has the published values in ``unit`` by record size in bytes, then by operation: "write", "rewrite",
    "read", "reread", "random-read", "random-write", "backward-read", "record-rewrite", "stride-read", "fwrite",
    "frewrite", "fread" or "freread". Other operations are ignored. ``unit`` is a key of ``FACTORS``. ``files`` has the
    sizes in bytes of the files that IOzone and nameplate use here. There is one column for each record size, and one
    row for each operation that has a published value. ``notes`` are sentences that are shown under the table.
    """
    rows = [name for name in _OPERATIONS if any(name in rows_of_column for rows_of_column in columns.values())]
    cells = [
        [_cell(measured, (name, record, *files), rows_of_column.get(name), unit)
         for record, rows_of_column in columns.items()]
        for name in rows
    ]  # fmt: skip
    return StudyTable(
        title="IOzone", corner="operation", rows=rows,
        columns=[StudyColumn(f"records of {name}", unit) for name in names_of_blocks(list(columns))], cells=cells,
        here="IOzone here", alternative="nameplate here", notes=[*notes, *_missing(measured)],
    )  # fmt: skip


def _cell(measured: StudyRun, work: tuple[str, int, int, int], published: Printed | None, unit: str) -> StudyCell:
    operation, record, iozone_bytes, file_bytes = work
    value_here = iozone_like(measured, operation, record, file_bytes)
    # Rounds and seconds of nameplate's value are not those of IOzone's.
    return study_cell(
        in_unit(iozone_value(measured, operation, record, iozone_bytes), unit), published,
        alternative=in_unit(value_here.summary.sustained, unit) if value_here else None,
        remarks=remarks_of(value_here),
    )  # fmt: skip


def iozone_value(measured: StudyRun, operation: str, record: int, file_bytes: int) -> float | None:
    """Return IOzone's own value of an operation in this run, in B/s; None if IOzone did not run or gave no value.

    ``operation`` is an operation of ``iozone_table``; ``record`` is the record size and ``file_bytes`` the size of the
    file, both in bytes.
    """
    work = f"{operation.replace('-', ' ')}, {size_text(record)} records, {size_text(file_bytes)} file,"
    return next((r.value for r in measured.references if r.tool == "iozone" and r.work.startswith(work)), None)


def iozone_like(measured: StudyRun, operation: str, record: int, file_bytes: int) -> Result | None:
    """Return the ``disk_block`` bandwidth for the work of one of IOzone's operations on one thread.

    ``operation`` is an operation of ``iozone_table``; any other raises KeyError. ``record`` is the record size and
    ``file_bytes`` the size of the file, both in bytes. The result is None if the plan has no such experiment. If the
    experiment was not measured, the result has no value and gives the reason (``StudyRun.find``).
    """
    params = {**_OPERATIONS[operation], "block": record, "threads": 1, "size": file_bytes}
    return measured.find("disk_block", "bandwidth", params)


def _missing(measured: StudyRun) -> list[str]:
    """Return a note on why IOzone measured nothing; [] if it measured anything."""
    iozone_messages = [said for said in measured.references if said.tool == "iozone"]
    if any(said.value is not None for said in iozone_messages):
        return []
    reasons = dict.fromkeys(said.reason for said in iozone_messages) or {"this run has no record of it"}
    return [f"IOzone did not run here: {'; '.join(reasons)}."]


def disk_peak(
    measured: StudyRun, op: str, published_gbs: Printed, published_reached_gbs: Printed | None
) -> StudyTable:  # fmt: skip
    """Return a table of the disk's theoretical bandwidth in GB/s, and of the share of it that was measured.

    ``op`` is the direction, "read" or "write". ``published_gbs`` is the study's theoretical peak and
    ``published_reached_gbs`` the study's highest measured value, both in GB/s (10⁹ bytes). The run's measured value is
    the highest bandwidth of its ``disk_block`` experiments with this ``op``. The run's peak is the value of ``--rated``
    under ``disk_block``, ``disk_read`` or ``disk_write`` (by ``op``) or ``disk``, otherwise the speed of the link to
    the device. A value, peak or share that is not known is None.
    """
    bandwidths = [r for r in measured.results if r.summary.probe == "disk_block" and r.summary.metric == "bandwidth"
           and r.summary.params.get("op") == op and r.summary.sustained is not None]  # fmt: skip
    best = max(bandwidths, key=lambda r: r.summary.sustained or 0.0, default=None)
    link = best.facts.get("link_bytes_per_s", 0.0) if best else 0.0
    known = overriding(measured.rated, "disk_block", "B/s", op) or disk_link(
        link, best.labels.get("link", "") if best else ""
    )
    cached = () if best is None else (f"served by {best.source}",) if best.source else ()
    above = f"{_FROM_CACHE}, in the study as well" if op == "read" else _FROM_CACHE
    reached = Reached(f"highest of the {op} tables", (best.summary.sustained or 0.0, best.id) if best else None,
                      published_reached_gbs, (*cached, above))  # fmt: skip
    return peak_table(f"Theoretical bandwidth of the disk, {op}", "GB/s", known, published_gbs, [reached])


_FROM_CACHE = "what the page cache serves may exceed the disk's peak"


def iozone_matrix(
    measured: StudyRun, sizes: Sequence[int], records: Sequence[int], printed: Mapping[tuple[int, int], str]
) -> StudyTable:  # fmt: skip
    """Return a table of all operations of IOzone's automatic mode, by IOzone and by nameplate.

    ``sizes`` are file sizes and ``records`` record sizes, both in bytes. There is one row for each operation of
    ``iozone_table``, and one column in KiB/s for each pair of a file size and a record size, ordered by file size, then
    by record size. ``printed`` has the name of the published table for the pairs that have one. A value that was not
    measured is None.
    """
    places = [(size, record) for size in sizes for record in records]
    published = {at: published_items(measured.plan, table) for at, table in printed.items()}
    cells = [
        [_cell(measured, (operation, record, size, size), published.get((size, record), {}).get(operation), "KiB/s")
         for size, record in places]
        for operation in _OPERATIONS
    ]  # fmt: skip
    columns = [StudyColumn(f"{' by '.join(names_of_blocks(position))}", "KiB/s") for position in places]
    return StudyTable(
        title="IOzone's automatic mode", corner="operation", rows=list(_OPERATIONS), columns=columns, cells=cells,
        here="IOzone here", alternative="nameplate here", notes=[_LEGIBLE, *_missing(measured)],
    )  # fmt: skip


_LEGIBLE = (
    "File by record size. One row of the document's table can be read, that of a file of 1 MiB by records of 64 KiB, "
    "without its stride read. The whole matrix: nameplate run iozone-auto."
)
