"""``nameplate nodes``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from nameplate.distributed_stream import is_stream_file, read_stream_run
from nameplate.errors import UsageError
from nameplate.model import Nodes
from nameplate.report.node_text import print_nodes, slow_nodes
from nameplate.store import read_run
from nameplate.summarise import summarise

_FOUND_SLOW = 1


def command(
    run: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: bool = False,
) -> int:
    """Find the slow nodes of a cluster: ranking, map, host list. Exit code 1 when there is one.

    Parameters
    ----------
    run
        A run file of several nodes (.jsonl), or DistributedStream's (.dat).
    output
        Write the maps of all metrics too: .svg or .png.
    json
        Every figure of every node, as JSON.
    """
    nodes = _nodes(run)
    if output is not None:
        from nameplate.report.node_picture import write_maps  # noqa: PLC0415 (charts take a second to import)

        write_maps(nodes, output)
    if json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(nodes), indent=2).decode() + "\n")
    else:
        print_nodes(nodes)
    return _FOUND_SLOW if slow_nodes(nodes) else 0


def _nodes(path: Path) -> Nodes:
    if is_stream_file(path):
        from nameplate.node_figures import judged_stream  # noqa: PLC0415 (scipy takes a tenth of a second to import)

        return judged_stream(read_stream_run(path))
    nodes = summarise(read_run(path)).nodes
    if nodes is None:
        raise UsageError(
            f"{path} has no figures of several nodes: measure them with "
            'nameplate run PROBE --mpi "mpirun -n 8 …" --per-node in-turn, or nameplate run mpi_stream --mpi …'
        )
    return nodes
