"""This probe measures the peak integer rate."""

from __future__ import annotations

from nameplate.probes import Cell, Cells, Probe, Ratio, elapsed
from nameplate.probes.shared.arithmetic import LOOP, peak_by_ports
from nameplate.records.model import Sample


def _ops(_: Cell, sample: Sample) -> float:
    return float(sample.work.ops)


PROBE = Probe(
    name="cpu_intops",
    title="Integer rate",
    metrics=(Ratio("rate", "op/s", "higher", _ops, elapsed),),
    recorded=LOOP,
    rated=peak_by_ports,
    quick=(Cells({"mix": "add"}, slice_s=0.15), Cells({"mix": "mixed"}, slice_s=0.15)),
    full=(
        Cells({"precision": "int32,int64", "mix": "add,mul", "threads": "1"}, slice_s=0.2),
        Cells({"precision": "int32,int64", "mix": "mixed", "threads": "1,2,4,8"}, slice_s=0.2),
        Cells({"mix": "dot"}, slice_s=0.2),
    ),
)
