"""This probe measures the memory bandwidth with STREAM's loops.

It reports the bytes that the user moved and the bytes that the bus moved for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from nameplate.probes import ByProbe, ParameterSweep, Probe, Ratio, ResolvedExperiment, Scaled, elapsed, moved_bytes
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import CoreLine, ScreenLine, is_in_catalogue
from nameplate.probes.shared.memory import ARRAYS, is_beyond_listed_caches, is_in_memory, rated_bandwidth, remarks
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity, Result, Table
from nameplate.records.run_record import Sample
from nameplate.units import size_text

_FUNCTIONS = {"copy": "Copy:", "scale": "Scale:", "add": "Add:", "triad": "Triad:"}
_BUS_BYTES = Scaled(moved_bytes, times_facts=("bus_bytes_per_byte",))


def _reads_for_ownership(experiment: ResolvedExperiment) -> bool:
    return experiment.facts["bus_bytes_per_byte"] > 1


def _remarks(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    chosen = "non-temporal stores" if experiment.facts["nontemporal"] else "regular stores"
    return [*remarks(experiment, samples), *([f"best: {chosen}"] if experiment.params["stores"] == "best" else [])]


def _tables(by_probe: ByProbe, _: Machine) -> list[Table]:
    measured = [
        result for result in by_probe["memory_stream"]
        if result.summary.metric == "bandwidth" and result.summary.value is not None
    ]  # fmt: skip
    return _as_stream_prints(measured) + _nodes(measured)


def _as_stream_prints(results: Sequence[Result]) -> list[Table]:
    """Return tables in the layout of STREAM, one for each set of other parameters.

    A table needs at least two of STREAM's four kernels, measured in samples of whole passes.
    """
    groups: dict[str, list[Result]] = {}
    for result in results:
        rest = {name: value for name, value in result.summary.params.items() if name != "op"}
        # Records of earlier versions lack the parameter unit; their samples are whole passes.
        if result.summary.params["op"] in _FUNCTIONS and rest.get("unit", "pass") == "pass":
            groups.setdefault(repr(rest), []).append(result)
    tables = []
    for group in groups.values():
        by_op = {str(result.summary.params["op"]): result for result in group}
        rows = [_stream_row(by_op[op]) for op in _FUNCTIONS if op in by_op]
        params = group[0].summary.params
        size = size_text(int(params["size"]))
        title = f"STREAM's table: threads={params['threads']} stores={params['stores']} size={size}"
        headings = ["Function", "Best Rate MB/s", "Avg time", "Min time", "Max time"]
        if len(rows) > 1:
            notes = ["Times are seconds per pass. The first sample of each round is left out, as in STREAM."]
            tables.append(Table("memory_stream", title, headings, rows, notes))
    return tables


def _stream_row(result: Result) -> list[str | Quantity | None]:
    """Return the name, the rate in 10^6 B/s and the times in s, without the first sample of each round."""
    pass_bytes = result.facts["pass_bytes"]
    later = [
        value
        for _, samples_of_round in groupby(
            zip(result.series.round, result.series.value, strict=True), key=lambda item: item[0]
        )
        for _, value in list(samples_of_round)[1:]
    ] or result.series.value
    times = [pass_bytes / value for value in later]
    average = sum(times) / len(times)
    return [
        _FUNCTIONS[str(result.summary.params["op"])], f"{max(later) / 1e6:.1f}", f"{average:.6f}", f"{min(times):.6f}",
        f"{max(times):.6f}",
    ]  # fmt: skip


def _nodes(results: Sequence[Result]) -> list[Table]:
    """Return tables of the bandwidth by the NUMA node of the threads and the NUMA node of the memory."""
    groups: dict[str, dict[tuple[int, int], Quantity]] = {}
    for result in results:
        params = result.summary.params
        if "node" in params and "memory_node" in params:
            title = f"NUMA nodes: {params['op']} by node of the threads (rows) and node of the memory (columns)"
            value = Quantity(result.summary.value or 0.0, result.summary.unit, result.summary.ci)
            groups.setdefault(title, {})[(int(params["node"]), int(params["memory_node"]))] = value
    tables = []
    for title, cells in groups.items():
        columns = sorted({memory for _, memory in cells})
        rows: list[list[str | Quantity | None]] = [
            [f"node {node}", *(cells.get((node, memory)) for memory in columns)]
            for node in sorted({node for node, _ in cells})
        ]
        if len(cells) > 1:
            tables.append(Table("memory_stream", title, ["", *(f"memory of {memory}" for memory in columns)], rows))
    return tables


PROBE = Probe(
    name="memory_stream",
    title="Memory bandwidth",
    metrics=(
        Ratio("bandwidth", "B/s", "higher", moved_bytes, elapsed),
        Ratio("bus_bandwidth", "B/s", "higher", _BUS_BYTES, elapsed, when=_reads_for_ownership),
    ),
    is_always_computing=True,
    recorded=Recorded(
        params=("op", "size", "stores", "threads"),
        numbers={"node": 0, "memory_node": 0},
        facts=(*ARRAYS, "pass_bytes", "bus_bytes_per_byte", "nontemporal"),
        divisors=("pass_bytes", "bus_bytes_per_byte"),
        work=("bytes",),
    ),
    defining=("op", "size", "threads"),
    rated=rated_bandwidth,
    screen=(
        ScreenLine(
            "triad, {stores}",
            ("bandwidth",),
            {"op": "triad"},
            when=is_beyond_listed_caches,
            in_core=CoreLine("bandwidth", {"op": "triad"}),
        ),
        ScreenLine("read, {threads}", ("bandwidth",), {"op": "read"}, when=is_in_catalogue),
        ScreenLine(
            "read, {threads}",
            ("bandwidth",),
            {"op": "read"},
            when=is_in_memory,
            in_core=CoreLine("bandwidth", {"op": "read", "threads": "{hardware_threads}", "unit": "step"}),
        ),
    ),
    quick=(
        # Large arrays take seconds to fill and to check, so only the kind of stores that shows the memory is measured.
        ParameterSweep({"op": "triad", "stores": "nontemporal", "unit": "step"}, slice_s=0.03, sample_s=0.0005),
        ParameterSweep({"op": "read", "threads": "1", "size": "16KiB,256KiB,4MiB"}, 0.01, 0.0005, overhead_s=0.03),
        ParameterSweep({"op": "read", "size": "{in_caches}"}, 0.01, 0.0005, overhead_s=0.03),
        ParameterSweep({"op": "read", "threads": "1", "unit": "step"}, slice_s=0.03, sample_s=0.0005),
        # The catalogue of ``nameplate check`` has values of these experiments.
        ParameterSweep({"op": "read,update", "threads": "{hardware_threads}", "unit": "step"}, 0.03, 0.0005),
    ),
    full=(
        ParameterSweep({"op": "copy,scale,add,triad,read,write,update"}, slice_s=0.3),
        ParameterSweep({"op": "copy,scale,add,triad,write", "stores": "nontemporal", "unit": "step"}, slice_s=0.3),
        ParameterSweep({"op": "triad,read", "threads": "1", "unit": "step"}, slice_s=0.3),
        ParameterSweep({"op": "read,update", "threads": "{hardware_threads}", "unit": "step"}, slice_s=0.3),
        ParameterSweep({"op": "read", "threads": "1", "size": "4KiB..{beyond}*2"}, slice_s=0.05, sample_s=0.005),
        ParameterSweep({"op": "read", "size": "{in_caches}"}, slice_s=0.05, sample_s=0.005),
        ParameterSweep({"op": "triad", "block": "4KiB,64KiB,1MiB", "pattern": "sequential,random"}, slice_s=0.2),
        ParameterSweep({"op": "triad", "node": "{nodes}", "memory_node": "{nodes}"}, slice_s=0.3, min_nodes=2),
    ),
    sweep=(ParameterSweep({"op": "copy,scale,add,triad", "stores": "plain,nontemporal"}, slice_s=0.25),),
    overhead_s=0.3,
    remarks=_remarks,
    tables=_tables,
)
