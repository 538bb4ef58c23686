"""Build mpi_stream's tables: the facts of each configuration, then average, best and worst of ranks and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nameplate.probes import ByProbe
from nameplate.probes.shared.grid import Row, grouped, value_text, varying
from nameplate.probes.shared.job import nodes_of
from nameplate.probes.shared.memory_kind import kind_of
from nameplate.probes.shared.stream_levels import RANK_SUM
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity, Result, Table

_FUNCTIONS = {"copy": "Copy", "scale": "Scale", "add": "Add", "triad": "Triad"}
_ELEMENT_BYTES = 8
_ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
_RATES = ("average", "best", "worst")
_OF_ALL_REPEATS = "The rates are the user's bytes over all repeats in all rounds, without the first repeat of a sample."
_TITLES = {
    "rank": "Each rank",
    "window": "Each node, from first start to last finish",
    "longest": "Each node by its slowest rank, as in DistributedStream",
}
_RANK_AVERAGE = (
    "Rank average is DistributedStream's average of a node: the sum of its ranks' bandwidths, computed from the mean "
    "time of all ranks in all repeats. It does not wait for the slowest rank, so it can exceed the best. Average, "
    "best and worst are computed from the slowest rank of each repeat."
)


def stream_tables(by_probe: ByProbe, machine: Machine) -> list[Table]:
    """Return mpi_stream's tables for each kind of memory: one of the configurations, then one for each level of times.

    ``by_probe["mpi_stream"]`` must exist. Its results of ``node_bandwidth`` have a row if they have evidence and their
    ``op`` is one of STREAM's four functions; if none has a row, the list is empty. The levels are each rank, each node,
    and each node by its slowest rank, as in DistributedStream. ``machine`` must have a job, which names the nodes.
    """
    names = nodes_of(machine)
    measured = [
        result for result in by_probe["mpi_stream"]
        if result.summary.metric == "node_bandwidth" and result.evidence and result.summary.params["op"] in _FUNCTIONS
    ]  # fmt: skip
    tables: list[Table] = []
    for kind, results in grouped(measured, lambda result: kind_of(result.summary.params)).items():
        suffix = f"; {kind}" if kind else ""
        tables += [_facts(results, kind), *(_level(level, results, suffix, names) for level in _TITLES)]
    return tables


def _ordered(results: Sequence[Result]) -> list[Result]:
    """Return the results by function, in STREAM's order."""
    return sorted(results, key=lambda result: list(_FUNCTIONS).index(str(result.summary.params["op"])))


def _level(level: str, results: Sequence[Result], suffix: str, names: Sequence[str]) -> Table:
    columns = {rate: f"{level}_{rate}" for rate in _RATES}
    notes = [_OF_ALL_REPEATS]
    if level == "longest":
        columns = {"rank average": f"{RANK_SUM}_average", **columns}
        notes.append(_RANK_AVERAGE)
    # A parameter that a rank chooses is not in the id; it depends on the parameters of the plan.
    varied = [name for name in varying(results) if name != "op" and any(f" {name}=" in result.id for result in results)]
    rows = [
        [*_row_name(result, varied), *_rates(result, columns), names[int(result.evidence[f"{level}_worst_node"])]]
        for result in _ordered(results)
    ]
    headings = ["Function", *(name.replace("_", " ") for name in varied)]
    headings += [*(text for rate in columns for text in (rate, "time")), "worst on"]
    return Table("mpi_stream", f"{_TITLES[level]} ({_placing(results)}{suffix})", headings, rows, notes)


def _row_name(result: Result, names: Sequence[str]) -> Row:
    params = result.summary.params
    return [
        _FUNCTIONS[str(params["op"])],
        *(value_text(name, params[name]) if name in params else None for name in names),
    ]


def _rates(result: Result, columns: Mapping[str, str]) -> Iterator[Quantity]:
    """Yield each rate with its time."""
    for key in columns.values():
        yield Quantity(result.evidence[key], "B/s")
        yield Quantity(result.evidence[f"{key}_s"], "s")


def _placing(results: Sequence[Result]) -> str:
    """Return the numbers of ranks, nodes and threads as text; a number that varies between rows is left out."""
    nodes = int(results[0].facts["nodes"])
    ranks = {int(result.facts["ranks"]) for result in results}
    threads = {int(result.summary.params["threads"]) for result in results}
    parts = [f"{_count(ranks.pop(), 'rank')} on {_count(nodes, 'node')}" if len(ranks) == 1 else _count(nodes, "node")]
    return ", ".join([*parts, *([_count(threads.pop(), "thread")] if len(threads) == 1 else [])])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _facts(results: Sequence[Result], kind: str) -> Table:
    """Return a table like the header of DistributedStream's output, with a row for each configuration.

    A row also names the functions that ran in this configuration.
    """
    rows: dict[tuple[str | Quantity | None, ...], list[str]] = {}
    for result in _ordered(results):
        functions = rows.setdefault(tuple(_configuration(result)), [])
        name = _FUNCTIONS[str(result.summary.params["op"])]
        functions += [name] if name not in functions else []
    headings = [
        "Functions", "element", "elements", "per array", "per process", "per node", "repeats", "processes × threads",
        "processes per node",
    ]  # fmt: skip
    notes = ["Per array, per process and per node are the memory of the arrays that the function uses."]
    body: list[Row] = [[", ".join(functions), *facts] for facts, functions in rows.items()]
    return Table("mpi_stream", f"Configuration{f' ({kind})' if kind else ''}", headings, body, notes)


def _configuration(result: Result) -> Iterator[str | Quantity]:
    params, ranks = result.summary.params, [node.ranks for node in result.node_times]
    array_bytes = int(params["size"])
    process_bytes = _ARRAYS[str(params["op"])] * array_bytes
    yield f"{_ELEMENT_BYTES} B"
    yield f"{array_bytes // _ELEMENT_BYTES:,}"
    yield Quantity(array_bytes, "B")
    yield Quantity(process_bytes, "B")
    yield Quantity(process_bytes * max(ranks), "B")
    yield str(params["repeats"])
    yield f"{sum(ranks)} × {params['threads']}"
    yield str(max(ranks)) if len(set(ranks)) == 1 else f"{min(ranks)} to {max(ranks)}"
