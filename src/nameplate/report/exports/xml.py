"""Export XML in the format of the public DistributedStream, for programs that read its output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from nameplate.errors import UsageError
from nameplate.probes.shared.job import nodes_of
from nameplate.records.distributed_stream import KERNELS, StreamNode, StreamRun, stream_xml
from nameplate.records.result import Report, Result
from nameplate.records.run_record import NodeTimes, Spread


def export(report: Report) -> str:
    """Return the XML text of DistributedStream with each node's times in seconds for Copy, Scale, Add and Triad.

    The times are those of mpi_stream: the average of all processes and repeats, and the minimum and maximum of the
    slowest process in each repeat. If a function was measured by several experiments, the first one counts. Without a
    machine record of an MPI job, the text has no nodes.

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
            "xml: nodes with fewer processes used larger arrays, and the format has one size for all; measure with "
            "size="
        )
    processes = max(node.ranks for node in first.node_times)
    threads = int(first.summary.params["threads"])
    started = datetime.fromisoformat(report.run.started)
    return StreamRun(
        experiment=f"memory_results-{processes}x{threads}-{started:%Y%m%d-%H%M%S}.dat",
        processes_per_node=processes,
        threads_per_process=threads,
        size_bytes={kernel: own[0].bytes_in_repeat // own[0].ranks for kernel, own in times.items()},
        nodes=[_node(name, place, times) for place, name in enumerate(nodes_of(report.machine))],
    )


def _node(name: str, place: int, times: Mapping[str, Sequence[NodeTimes]]) -> StreamNode:
    own = {kernel: nodes[place] for kernel, nodes in times.items()}
    return StreamNode(name, own[KERNELS[0]].ranks, {kernel: _spread(node) for kernel, node in own.items()})


def _functions(report: Report) -> dict[str, Result]:
    """Return the results by DistributedStream's name of the function; of several for one function, the first."""
    found: dict[str, Result] = {}
    for result in report.results:
        if result.node_times:
            found.setdefault(str(result.summary.params["op"]).capitalize(), result)
    missing = [kernel for kernel in KERNELS if kernel not in found]
    if missing:
        raise UsageError(
            f"xml: the run has no mpi_stream op={missing[0].lower()}, which DistributedStream reports; measure it "
            'with nameplate run mpi_stream --mpi "mpirun -n 4"'
        )
    return {kernel: found[kernel] for kernel in KERNELS}


def _spread(times: NodeTimes) -> Spread:
    return Spread(times.rank.average_s, times.longest.minimum_s, times.longest.maximum_s)
