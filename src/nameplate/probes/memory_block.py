"""This probe reads, writes and copies memory block by block, and measures the bandwidth and the time per operation."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import ByProbe, ParameterSweep, Probe, Ratio, elapsed, moved_bytes, operations
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.shared.grid import grids, quantity_of
from nameplate.probes.shared.memory import ARRAYS, remarks
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity, Rated, Result, Table

_NO_REFERENCE = Rated(
    None, "rates by block size are not specified; memory_stream has the memory's reference value", can_be_given=False
)


def _tables(by_probe: ByProbe, _: Machine) -> list[Table]:
    measured = [result for result in by_probe["memory_block"] if result.summary.value is not None]
    return grids("memory_block", measured, rows="block", columns="threads") + _generators(measured)


def _generators(results: Sequence[Result]) -> list[Table]:
    """Return tables that compare generators of offsets: the time of one offset, and of an operation with it."""
    groups: dict[str, dict[str, dict[str, Result]]] = {}
    for result in results:
        params = result.summary.params
        rest = {name: value for name, value in params.items() if name not in ("generator", "pattern")}
        if result.summary.metric == "latency":
            group = groups.setdefault(" ".join(f"{name}={value}" for name, value in rest.items()), {})
            group.setdefault(str(params["generator"]), {})[str(params["pattern"])] = result
    tables = []
    for title, generators in groups.items():
        patterns = sorted({pattern for group in generators.values() for pattern in group}, reverse=True)
        rows: list[list[str | Quantity | None]] = [
            [
                name,
                Quantity(next(iter(group.values())).facts["offset_s"], "s"),
                *(quantity_of(group.get(p)) for p in patterns),
            ]
            for name, group in generators.items()
        ]
        if len(rows) > 1:
            headings = ["generator", "offset alone", *(f"operation, {pattern}" for pattern in patterns)]
            notes = [
                (
                    "precomputed: the offsets are generated before the timed region. rand: the C library's rand(), "
                    "which takes a lock."
                )
            ]
            tables.append(Table("memory_block", f"Generators of offsets: {title}", headings, rows, notes))
    return tables


PROBE = Probe(
    name="memory_block",
    title="Memory block access",
    metrics=(
        Ratio("bandwidth", "B/s", "higher", moved_bytes, elapsed),
        # The time between the ends of consecutive operations, whatever their threads.
        Ratio("latency", "s", "lower", elapsed, operations),
    ),
    is_always_computing=True,
    recorded=Recorded(
        params=("block", "generator", "pattern"), facts=(*ARRAYS, "offset_s"), later_params={"ends": "work"},
    ),
    rated=lambda _, __, ___: _NO_REFERENCE,
    quick=(
        ParameterSweep({"op": "copy", "block": "8KiB", "size": "256MiB"}, 0.02, 0.0005, overhead_s=0.25),
        ParameterSweep({"op": "read", "block": "8", "pattern": "random", "size": "256MiB"},
                       slice_s=0.02, sample_s=0.0005, overhead_s=0.25),
    ),
    full=(
        # Arrays of the usual size take seconds to touch, which is too long for six rounds of a hundred experiments.
        ParameterSweep({"op": "read,write,copy", "pattern": "sequential,random", "block": "8,8KiB,8MiB",
                        "threads": "1,2,4,8", "size": "512MiB"}, slice_s=0.1, overhead_s=0.6),
        ParameterSweep({"op": "read,write,copy", "pattern": "sequential,random", "block": "80MB",
                        "threads": "1,2,4,8"}, slice_s=0.1),
        ParameterSweep({"op": "write", "block": "8", "pattern": "sequential,random", "size": "512MiB",
                        "generator": "precomputed,xoshiro,pcg,rand", "threads": "1"}, slice_s=0.1, overhead_s=0.6),
    ),
    overhead_s=2.0,  # in a guest whose host allocates memory when it is first touched
    remarks=remarks,
    tables=_tables,
)  # fmt: skip
