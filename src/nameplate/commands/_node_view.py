"""Read and print the nodes of a job or a fleet, for the commands ``nodes`` and ``fleet``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from nameplate.commands._fleet import read_fleet_report
from nameplate.errors import UsageError
from nameplate.records.distributed_stream_file import is_stream_file, read_stream_run
from nameplate.records.fleet_record import Fleet
from nameplate.records.inputs import is_folder
from nameplate.records.node_record import Nodes
from nameplate.records.run_record import Run
from nameplate.report.content.slow_nodes import main_labels
from nameplate.report.terminal.nodes import print_nodes
from nameplate.results.cached_report import report_of


class NodeView(NamedTuple):
    """The nodes of one or more files: the labels of the main metrics by title, the fleet of several runs, one run."""

    nodes: Nodes
    main: Mapping[str, str] = MappingProxyType({})
    fleet: Fleet | None = None
    run: Run | None = None


def view_of(paths: Sequence[Path]) -> NodeView:
    """Return the nodes of a run file, of a result file of DistributedStream, or of a fleet.

    A fleet is a folder, or several run files.

    Raises:
        UsageError: a single run has no values of several nodes, or a folder has no run files.
        FileError: a file cannot be read.
    """
    path = paths[0]
    if len(paths) > 1 or is_folder(path):
        report = read_fleet_report(paths)
    elif is_stream_file(path):
        from nameplate.results.node_values import judged_stream  # noqa: PLC0415 (scipy takes a tenth of a second to import)

        return NodeView(judged_stream(read_stream_run(path)))
    else:
        report = report_of(path)
    if report.nodes is None:
        raise UsageError(
            f"{path} has no values of several nodes: give runs of several machines, or measure the nodes of a job with "
            'nameplate run PROBE --mpi "mpirun -n 8 …" --per-node in-turn, or nameplate run mpi_stream --mpi …'
        )
    return NodeView(report.nodes, main_labels(report), report.fleet, None if report.fleet else report.run)


def print_view(view: NodeView, as_json: bool, has_all: bool = False) -> None:
    """Print which nodes are slow, with a ranking and a map, or with ``as_json`` every value of every node as JSON.

    Without ``has_all``, the output for a fleet fits a screen.
    """
    if as_json:
        document = msgspec.structs.asdict(view.nodes) | (msgspec.structs.asdict(view.fleet) if view.fleet else {})
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
    else:
        print_nodes(view.nodes, view.main, view.fleet, has_all or view.fleet is None)
