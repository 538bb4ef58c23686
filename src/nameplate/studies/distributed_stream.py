"""distributed-stream: hybrid MPI + OpenMP STREAM on 1,104 processes, 48 per node.

The average of "each process" is taken over all processes and repeats. The average of a node is the average over all
repeats of the sum of its processes' bandwidths. The maximum and the minimum of a node are computed from its slowest
process in a single repeat, so that the average may exceed the maximum.
"""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.probes.shared.job import nodes_of
from nameplate.records.node_record import NodeMetric
from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.records.study_record import Study, StudyCell, StudyColumn, StudyTable, StudyValue
from nameplate.studies._cells import study_cell
from nameplate.studies._conditions import conditions_table
from nameplate.studies._measured import StudyRun
from nameplate.studies._units import in_unit
from nameplate.studies.published import Printed, published

_OPERATIONS = ("copy", "scale", "add", "triad")
_ELEMENT_BYTES = 8
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
    ("rank", "bandwidth"): "Average over processes and repeats, without the first repeat of each call.",
    ("rank", "time"): "Average over processes and repeats, without the first repeat of each call.",
    ("node", "bandwidth"): "Average: the sum of the processes' bandwidths. Maximum and minimum: by the slowest process "
                           "of a repeat.",
    ("node", "time"): "Average: that of the processes. Maximum and minimum: by the slowest process of a repeat.",
}  # fmt: skip


def make(measured: StudyRun) -> Study:
    """Return the tables of the study "distributed-stream" and the maps of its nodes; it has no other charts.

    After the conditions and the header of the document's output, each process and each node have a table of bandwidths
    in MB/s and a table of times in ms. ``measured`` must be a run of the plan "distributed-stream". A value that the
    run lacks is None.
    """
    conditions = conditions_table(measured, {"nodes × processes": "23 × 48"})
    tables = [_table(measured, level, quantity) for level in _TITLES for quantity in _QUANTITIES]
    maps = [node_metric for op in _OPERATIONS if (node_metric := _map(measured, op))]
    return Study([conditions, _header(measured), *tables], [], maps)


def _header(measured: StudyRun) -> StudyTable:
    """Return the header of DistributedStream's output; its memory is that of the three arrays of a process."""
    result = _result(measured, "triad")
    params: Mapping[str, Value] = result.summary.params if result and result.node_times else {}
    ranks = [node.ranks for node in result.node_times] if result else []
    array_bytes = float(params["size"]) if params else None
    in_arrays = [array_bytes and in_unit(array_bytes * arrays, "MiB") for arrays in (1, 3, 3 * max(ranks, default=0))]
    rows: dict[str, tuple[StudyValue, str]] = {
        "element, B": (float(_ELEMENT_BYTES), "8"),
        "elements per array": (array_bytes and array_bytes / _ELEMENT_BYTES, "5000000"),
        "memory per array, MiB": (in_arrays[0], "38.1"),
        "memory per process, MiB": (in_arrays[1], "114.4"),
        "memory per node, MiB": (in_arrays[2], "5493.2"),
        "repeats": (float(params["repeats"]) if params else None, ""),
        "processes": (float(sum(ranks)) if ranks else None, "1104"),
        "threads of each": (float(params["threads"]) if params else None, ""),
        "processes per node": (float(max(ranks)) if ranks else None, "48"),
    }
    return StudyTable(
        title="Header of a run", rows=list(rows), columns=[StudyColumn("value")], has_ratio=False,
        cells=[[study_cell(here, Printed.of(text) if text else None)] for here, text in rows.values()],
    )  # fmt: skip


def _map(measured: StudyRun, op: str) -> NodeMetric | None:
    """Return the bandwidth of each node as in the document: the processes' average, and the extremes of its repeats."""
    result = _result(measured, op)
    if result is None or not result.node_times:
        return None
    times = result.node_times
    unknown: list[float | None] = [None] * len(times)
    return NodeMetric(
        experiment=f"Node {op.capitalize()}", metric="", unit="B/s", better="higher", gap=unknown, z=unknown,
        spread=unknown, slow=[],
        value=[node.bytes_in_repeat / node.rank.average_s for node in times],
        minimum=[node.bytes_in_repeat / node.longest.maximum_s for node in times],
        maximum=[node.bytes_in_repeat / node.longest.minimum_s for node in times],
    )  # fmt: skip


def _table(measured: StudyRun, level: str, quantity: str) -> StudyTable:
    unit, metrics = _QUANTITIES[quantity]
    columns = [StudyColumn(name, unit) for name, _ in metrics.values()]
    cells = [[_cell(measured, (level, op, metric), unit, name) for metric, (_, name) in metrics.items()]
             for op in _OPERATIONS]  # fmt: skip
    if quantity == "time":
        columns.append(_NODE)
        cells = [[*row, _node(measured, level, op)] for op, row in zip(_OPERATIONS, cells, strict=True)]
    return StudyTable(title=f"{_TITLES[level]}, {quantity}", rows=[op.capitalize() for op in _OPERATIONS],
                      columns=columns, cells=cells, notes=[_NOTES[level, quantity]])  # fmt: skip


def _level(level: str, metric: str) -> str:
    """Return the name of a level in mpi_stream's evidence; the study averages the sum of a node's ranks."""
    if level == "rank":
        return "rank"
    return "rank_sum" if metric.endswith("_avg") else "longest"


def _cell(measured: StudyRun, position: tuple[str, str, str], unit: str, name: str) -> StudyCell:
    level, op, metric = position
    result = _result(measured, op)
    value = result.evidence.get(f"{_level(level, metric)}_{name}") if result else None
    printed = next(p.printed for p in published(measured.plan) if (p.table, p.op, p.metric) == position)
    return study_cell(in_unit(value, unit), printed.scaled(3) if unit == "ms" else printed, result)


def _node(measured: StudyRun, level: str, op: str) -> StudyCell:
    result = _result(measured, op)
    index = result.evidence.get(f"{_level(level, 'time_max')}_worst_node") if result else None
    return study_cell(nodes_of(measured.machine)[int(index)] if index is not None else None)


def _result(measured: StudyRun, op: str) -> Result | None:
    return measured.find("mpi_stream", "node_bandwidth", {"op": op})
