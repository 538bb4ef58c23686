"""Read DistributedStream's XML: the average bandwidth of one process, and of all processes of a node together."""

from __future__ import annotations

from collections.abc import Iterator

from nameplate.records.distributed_stream_file import KERNELS, StreamRun, parse_stream_run
from nameplate.records.plan_record import Value
from nameplate.tools.output import Imported, ToolOutput, rounding_of, tool_output


def recognises(text: str) -> bool:
    """Return whether the first 4 KiB of ``text`` contain DistributedStream's root element."""
    return "<stream_run" in text[:4096]


def read(text: str) -> ToolOutput:
    """Return two bandwidths in B/s for each of copy, scale, add and triad, in this order.

    The first is the bandwidth of all processes of a node together (metric ``rank_sum_bandwidth`` of the probe
    mpi_stream), the second the bandwidth of a single process (metric ``bandwidth``). Both are averages over all
    processes and repeats; the file's other values have no counterpart in nameplate. The parameters are ``op``, and
    ``threads`` per process.

    Raises:
        FileError: the text is not an output of DistributedStream.
    """
    run = parse_stream_run(text, "XML")
    return tool_output("", [imported for kernel in KERNELS for imported in _averages(run, kernel)], "kernels")


def _averages(run: StreamRun, kernel: str) -> Iterator[Imported]:
    params: dict[str, Value] = {"op": kernel.lower(), "threads": run.threads_per_process}
    moved = run.size_bytes[kernel] * sum(node.processes for node in run.nodes)
    process_s = sum(node.times[kernel].average_s * node.processes for node in run.nodes)
    node_s = sum(node.times[kernel].average_s for node in run.nodes)
    rounding = max(rounding_of(node.printed[kernel]) for node in run.nodes)
    yield Imported("mpi_stream", params, "rank_sum_bandwidth", moved / node_s, rounding=rounding)
    yield Imported("mpi_stream", params, "bandwidth", moved / process_s, rounding=rounding)
