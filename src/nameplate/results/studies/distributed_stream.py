"""distributed-stream: hybrid MPI + OpenMP STREAM on 1,104 processes, 48 per node."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.model import Result, Study, StudyCell, StudyColumn, StudyTable
from nameplate.results.published import published
from nameplate.results.studies._measured import Measured, remarks_of
from nameplate.results.studies._units import in_unit

_OPERATIONS = ("copy", "scale", "add", "triad")
# The published columns, with the evidence of mpi_stream for each level of the table.
_COLUMNS: Mapping[str, tuple[str, str, str]] = {
    "bandwidth_avg": ("average", "MB/s", "average"),
    "time_avg": ("time", "ms", "average_s"),
    "bandwidth_max": ("maximum", "MB/s", "best"),
    "time_min": ("time", "ms", "best_s"),
    "bandwidth_min": ("minimum", "MB/s", "worst"),
    "time_max": ("time", "ms", "worst_s"),
}


def make(measured: Measured) -> Study:
    """Return the process and the node table; mpi_stream's own tables have the header and the node of each maximum."""
    return Study([_table(measured, "rank", "Each process"), _table(measured, "node", "Each node")], [])


def _table(measured: Measured, level: str, title: str) -> StudyTable:
    columns = [StudyColumn(name, unit) for name, unit, _ in _COLUMNS.values()]
    return StudyTable(
        title=title, rows=[op.capitalize() for op in _OPERATIONS], columns=columns,
        cells=[[_cell(measured, level, op, metric) for metric in _COLUMNS] for op in _OPERATIONS],
    )  # fmt: skip


def _cell(measured: Measured, level: str, op: str, metric: str) -> StudyCell:
    _, unit, name = _COLUMNS[metric]
    found: Result | None = measured.find("mpi_stream", "node_bandwidth", {"op": op})
    value = found.evidence.get(f"{'rank' if level == 'rank' else 'longest'}_{name}") if found else None
    printed = next(p.value for p in published(measured.plan) if (p.table, p.op, p.metric) == (level, op, metric))
    shown = printed * 1e3 if unit == "ms" else printed
    return StudyCell(in_unit(value, unit), shown, remarks=remarks_of(found))
