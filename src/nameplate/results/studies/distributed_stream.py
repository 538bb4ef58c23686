"""distributed-stream: hybrid MPI + OpenMP STREAM on 1,104 processes, 48 per node.

A process's average is over processes and repeats. A node's average is the sum of its processes' bandwidths over all
repeats; its maximum and minimum go by its slowest process within single repeats, so that the average may exceed the
maximum.
"""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.model import Result, Study, StudyCell, StudyColumn, StudyTable
from nameplate.probes._job import nodes_of
from nameplate.results.published import published
from nameplate.results.studies._conditions import conditions_table
from nameplate.results.studies._measured import Measured, remarks_of
from nameplate.results.studies._units import in_unit

_OPERATIONS = ("copy", "scale", "add", "triad")
# The published metrics: the column's name, its unit, and what the evidence of mpi_stream calls it.
_COLUMNS: Mapping[str, tuple[str, str, str]] = {
    "bandwidth_avg": ("average", "MB/s", "average"),
    "time_avg": ("avg time", "ms", "average_s"),
    "bandwidth_max": ("maximum", "MB/s", "best"),
    "time_min": ("min time", "ms", "best_s"),
    "bandwidth_min": ("minimum", "MB/s", "worst"),
    "time_max": ("max time", "ms", "worst_s"),
}
_NODE = StudyColumn("node of the longest")
_TITLES = {"rank": "Each process", "node": "Each node"}
_NOTES = {
    "rank": "Average over processes and repeats, without the first repeat.",
    "node": "Average: the sum of the processes' bandwidths. Maximum and minimum: by the slowest process of a repeat.",
}


def make(measured: Measured) -> Study:
    """Return the process and the node table; the header of the run is the first of mpi_stream's own tables."""
    conditions = conditions_table(measured, {"machine": "23 nodes of 48 processes"})
    return Study([conditions, *(_table(measured, level) for level in _TITLES)], [])


def _table(measured: Measured, level: str) -> StudyTable:
    columns = [*(StudyColumn(name, unit) for name, unit, _ in _COLUMNS.values()), _NODE]
    cells = [
        [*(_cell(measured, level, op, metric) for metric in _COLUMNS), _node(measured, level, op)] for op in _OPERATIONS
    ]  # fmt: skip
    return StudyTable(title=_TITLES[level], rows=[op.capitalize() for op in _OPERATIONS], columns=columns, cells=cells,
                      notes=[_NOTES[level]])  # fmt: skip


def _level(level: str, metric: str) -> str:
    """Return what mpi_stream's evidence calls a level: the study's average of a node is that of its ranks' sum."""
    if level == "rank":
        return "rank"
    return "rank_sum" if metric.endswith("_avg") else "longest"


def _cell(measured: Measured, level: str, op: str, metric: str) -> StudyCell:
    _, unit, name = _COLUMNS[metric]
    found = _result(measured, op)
    value = found.evidence.get(f"{_level(level, metric)}_{name}") if found else None
    printed = next(p.value for p in published(measured.plan) if (p.table, p.op, p.metric) == (level, op, metric))
    return StudyCell(in_unit(value, unit), printed * 1e3 if unit == "ms" else printed, remarks=remarks_of(found))


def _node(measured: Measured, level: str, op: str) -> StudyCell:
    found = _result(measured, op)
    place = found.evidence.get(f"{_level(level, 'time_max')}_worst_node") if found else None
    return StudyCell(nodes_of(measured.machine)[int(place)] if place is not None else None)


def _result(measured: Measured, op: str) -> Result | None:
    return measured.find("mpi_stream", "node_bandwidth", {"op": op})
