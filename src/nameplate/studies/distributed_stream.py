"""distributed-stream: hybrid MPI + OpenMP STREAM on 1,104 processes, 48 per node.

The average of "each process" is taken over all processes and repeats. The average of a node is the average over all
repeats of the sum of its processes' bandwidths. The maximum and the minimum of a node are computed from its slowest
process in a single repeat, so that the average may exceed the maximum.
"""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.probes.shared.job import nodes_of
from nameplate.records.result import Result
from nameplate.records.study_record import Study, StudyCell, StudyColumn, StudyTable
from nameplate.studies._conditions import conditions_table
from nameplate.studies._measured import StudyRun, remarks_of
from nameplate.studies._units import in_unit
from nameplate.studies.published import published

_OPERATIONS = ("copy", "scale", "add", "triad")
# For each published metric: the column's name, and the name of the value in the evidence of mpi_stream.
_BANDWIDTHS = {
    "bandwidth_avg": ("average", "average"),
    "bandwidth_max": ("maximum", "best"),
    "bandwidth_min": ("minimum", "worst"),
}
_TIMES = {
    "time_avg": ("average", "average_s"), "time_min": ("minimum", "best_s"), "time_max": ("maximum", "worst_s"),
}  # fmt: skip
_QUANTITIES: Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]] = {
    "bandwidth": ("MB/s", _BANDWIDTHS),
    "time": ("ms", _TIMES),
}
_NODE = StudyColumn("slowest node")
_TITLES = {"rank": "Each process", "node": "Each node"}
_NOTES = {
    "rank": "Average over processes and repeats, without the first repeat.",
    "node": "Average: the sum of the processes' bandwidths. Maximum and minimum: by the slowest process of a repeat.",
}


def make(measured: StudyRun) -> Study:
    """Return the tables of the study "distributed-stream"; it has no charts.

    After the conditions, each process and each node have a table of bandwidths in MB/s and a table of times in ms.
    ``measured`` must be a run of the plan "distributed-stream". A value that the run lacks is None. The header of the
    document is left out, since ``mpi_stream``'s own tables have it.
    """
    conditions = conditions_table(measured, {"machine": "23 nodes of 48 processes"})
    return Study(
        [conditions, *(_table(measured, level, quantity) for level in _TITLES for quantity in _QUANTITIES)], []
    )


def _table(measured: StudyRun, level: str, quantity: str) -> StudyTable:
    unit, metrics = _QUANTITIES[quantity]
    columns = [StudyColumn(name, unit) for name, _ in metrics.values()]
    cells = [[_cell(measured, (level, op, metric), unit, name) for metric, (_, name) in metrics.items()]
             for op in _OPERATIONS]  # fmt: skip
    if quantity == "time":
        columns.append(_NODE)
        cells = [[*row, _node(measured, level, op)] for op, row in zip(_OPERATIONS, cells, strict=True)]
    return StudyTable(title=f"{_TITLES[level]}, {quantity}", rows=[op.capitalize() for op in _OPERATIONS],
                      columns=columns, cells=cells, notes=[_NOTES[level]])  # fmt: skip


def _level(level: str, metric: str) -> str:
    """Return the name of a level in mpi_stream's evidence; the study averages the sum of a node's ranks."""
    if level == "rank":
        return "rank"
    return "rank_sum" if metric.endswith("_avg") else "longest"


def _cell(measured: StudyRun, position: tuple[str, str, str], unit: str, name: str) -> StudyCell:
    level, op, metric = position
    result = _result(measured, op)
    value = result.evidence.get(f"{_level(level, metric)}_{name}") if result else None
    printed = next(p.value for p in published(measured.plan) if (p.table, p.op, p.metric) == position)
    return StudyCell(in_unit(value, unit), printed * 1e3 if unit == "ms" else printed, remarks=remarks_of(result))


def _node(measured: StudyRun, level: str, op: str) -> StudyCell:
    result = _result(measured, op)
    index = result.evidence.get(f"{_level(level, 'time_max')}_worst_node") if result else None
    return StudyCell(nodes_of(measured.machine)[int(index)] if index is not None else None)


def _result(measured: StudyRun, op: str) -> Result | None:
    return measured.find("mpi_stream", "node_bandwidth", {"op": op})
