"""Compare mpi_stream with memory_stream on the same threads of one node: as one rank, and as one rank per thread.

Pass the number of pairs as the first argument (default 15).
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from nameplate.execution.core_process import CoreProcess, OnRecord
from nameplate.execution.launch import launch_with
from nameplate.records.plan_record import Value

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import comparison, measure

THREADS = 2
ARRAY_BYTES = 128 << 20
SECONDS = 0.6
PAIRS = 15


def start(launcher: str, on_record: OnRecord) -> CoreProcess:
    """Start the core with a launcher."""
    return CoreProcess(on_record, launch=launch_with(launcher))


def hybrid(ranks: int) -> float:
    """Measure with mpi_stream and return the node's average bandwidth in GB/s."""
    launcher = f"mpirun.openmpi --bind-to {'none' if ranks == 1 else 'core'} -n {ranks}"
    params: dict[str, Value] = {"op": "triad", "threads": THREADS // ranks, "size": ARRAY_BYTES // ranks}
    _, samples, _ = measure("mpi_stream", params, SECONDS, start=partial(start, launcher))
    nodes = [node for sample in samples if isinstance(sample.nodes, list) for node in sample.nodes]
    moved = sum(node.bytes_in_repeat * node.repeats for node in nodes)
    return moved / sum(node.window.average_s * node.repeats for node in nodes) * 1e-9


def threads() -> float:
    """Measure with memory_stream and return the bandwidth in GB/s."""
    params: dict[str, Value] = {"op": "triad", "threads": THREADS, "size": ARRAY_BYTES}
    _, samples, _ = measure("memory_stream", params, SECONDS)
    return sum(s.work.bytes for s in samples) / sum(s.elapsed_s for s in samples) * 1e-9


def main() -> None:
    """Print a line per number of ranks."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    print(f"mpi_stream and memory_stream, triad, {THREADS} threads in all")
    for ranks in (1, THREADS):
        print(comparison(f"{ranks} ranks", partial(hybrid, ranks), threads, pairs, "GB/s"), flush=True)


if __name__ == "__main__":
    main()
