"""DistributedStream's XML: the median over the nodes of each function's bandwidth."""

from __future__ import annotations

import io
import statistics
from collections.abc import Sequence

from nameplate.distributed_stream import KERNELS, parse_stream_run
from nameplate.importers import Imported


def recognises(text: str) -> bool:
    """By its root."""
    return "<stream_run" in text[:4096]


def read(text: str) -> Sequence[Imported]:
    """The bandwidth of a node by its average time. Raises FileError."""
    run = parse_stream_run(io.StringIO(text), "it")
    return [
        Imported(
            "mpi_stream",
            {"op": kernel.lower(), "threads": run.threads_per_process},
            "node_bandwidth",
            statistics.median(run.size_bytes[kernel] * n.processes / n.times[kernel].average_s for n in run.nodes),
        )
        for kernel in KERNELS
    ]
