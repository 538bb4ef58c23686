"""Export XML in the format of the public DistributedStream, for programs that read its output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from nameplate.errors import UsageError
from nameplate.probes.shared.job import nodes_of
from nameplate.records.distributed_stream_file import KERNELS, StreamNode, StreamRun, stream_xml
from nameplate.records.result import Report, Result
from nameplate.records.run_record import NodeTimes, Spread


def export(report: Report) -> str:
    """Return the XML text of DistributedStream with each node's times in seconds for Copy, Scale, Add and Triad.

    mpi_stream measured the times. A node has the average time over all processes and repeats, and the minimum and
    maximum over the repeats of the time of the slowest process. If several experiments measured the same function, the
    first experiment is exported. If the run has no machine record of an MPI job, the text has no nodes.

    Raises:
        UsageError: mpi_stream did not measure all four functions, or its nodes used arrays of different sizes.
    """
    return stream_xml(_stream_run(report))


def file_name(report: Report) -> str:
    """Return DistributedStream's file name, ``memory_results-PxT-YYYYMMDD-HHMMSS.dat``.

    P is the highest number of processes on a node, T the number of threads of each process, and the time is the start
    of the run.

    Raises:
        UsageError: mpi_stream did not measure all four functions, or its nodes used arrays of different sizes.
    """
    return _stream_run(report).experiment


def _stream_run(report: Report) -> StreamRun:
    functions = _functions(report)
    first = next(iter(functions.values()))
    times = {kernel: result.node_times for kernel, result in functions.items()}
    sizes = {node.bytes_in_repeat // node.ranks for node in first.node_times}
    if len(sizes) > 1:
        raise UsageError(
            "xml: nodes with fewer processes used larger arrays, and the format has one array size for all nodes; "
            "measure with size="
        )
    processes = max(node.ranks for node in first.node_times)
    threads = int(first.summary.params["threads"])
    started = datetime.fromisoformat(report.run.started)
    return StreamRun(
        experiment=f"memory_results-{processes}x{threads}-{started:%Y%m%d-%H%M%S}.dat",
        processes_per_node=processes,
        threads_per_process=threads,
        size_bytes={
            kernel: times_of_kernel[0].bytes_in_repeat // times_of_kernel[0].ranks
            for kernel, times_of_kernel in times.items()
        },
        nodes=[_node(name, index, times) for index, name in enumerate(nodes_of(report.machine))],
    )


def _node(name: str, index: int, times: Mapping[str, Sequence[NodeTimes]]) -> StreamNode:
    times_of_node = {kernel: nodes[index] for kernel, nodes in times.items()}
    spreads = {
        kernel: Spread(node.rank.average_s, node.longest.minimum_s, node.longest.maximum_s)
        for kernel, node in times_of_node.items()
    }
    return StreamNode(name, times_of_node[KERNELS[0]].ranks, spreads)


def _functions(report: Report) -> dict[str, Result]:
    """Return the first result of each function of DistributedStream, by the name of the function."""
    by_function: dict[str, Result] = {}
    for result in report.results:
        if result.node_times:
            by_function.setdefault(str(result.summary.params["op"]).capitalize(), result)
    missing = [kernel for kernel in KERNELS if kernel not in by_function]
    if missing:
        raise UsageError(
            f"xml: DistributedStream's format needs mpi_stream op={missing[0].lower()}, which the run lacks; measure "
            'it with nameplate run mpi_stream --mpi "mpirun -n 4"'
        )
    return {kernel: by_function[kernel] for kernel in KERNELS}
