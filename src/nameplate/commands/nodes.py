"""Implement ``nameplate nodes``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.commands._exit_codes import SLOW, slow_code
from nameplate.commands._node_view import print_view, view_of
from nameplate.errors import UsageError
from nameplate.execution.core_process import describe_core
from nameplate.execution.launch import launch_with
from nameplate.execution.measuring import RunEnvironment, make_run, measure_to_file
from nameplate.execution.session import NodeTurns as NodesInTurn
from nameplate.extras import check_extra
from nameplate.hostlist import compress
from nameplate.planning.places import check_places
from nameplate.planning.sweep import split_arguments
from nameplate.probes.shared.job import nodes_of
from nameplate.records.node_record import Nodes
from nameplate.records.outputs import check_output
from nameplate.records.run_record import Run
from nameplate.records.run_writer import RunWriter
from nameplate.report.content.slow_nodes import slow_nodes
from nameplate.report.terminal.nodes import print_findings, print_nodes
from nameplate.report.terminal.progress import make_progress

GROUP = "Read results"


def command(
    *runs: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    recheck: Annotated[Path | None, Parameter(show_default=False)] = None,
    mpi: Annotated[str | None, Parameter(show_default=False)] = None,
    force: bool = False,
    all: bool = False,  # noqa: A002
    json: bool = False,
) -> int:
    """Find the slow nodes of a cluster or fleet, and show a ranking, a map and a host list.

    The exit code is 1 if a node is slow.

    Parameters
    ----------
    runs
        A run file of several nodes (.jsonl), or a result file of DistributedStream (.dat). Or the runs of a fleet, each
        of which measured one machine: run files, and folders with run files. With --recheck, the paths that the run was
        measured on follow, as name=value, such as file=/scratch.
    output
        Also draw the maps of all metrics into this file (.svg, .pdf or .png).
    recheck
        Measure the slow nodes again, one node at a time, with up to three healthy nodes for comparison, into this run
        file. The result says whether a node is slow persistently, only under contention, or no longer.
    mpi
        The MPI launcher for --recheck, of a job that includes these nodes: "mpirun -n 8 …", "srun -N 8".
    force
        Overwrite the output file even if its checksum does not show that nameplate wrote it. Run files are never
        overwritten.
    all
        Show all rankings and the map of a fleet, however many lines they need.
    json
        Print every value of every node as JSON.
    """
    places = [str(path) for path in runs if "=" in str(path) and not path.exists()]
    files = [path for path in runs if str(path) not in places]
    if not files:
        raise UsageError("no run: give a run file of several nodes, or run files or a folder of several machines")
    check_output("-o", output, inputs=files, force=force)
    if output is not None:
        check_extra("report", "-o")
    view = view_of(files)
    nodes = view.nodes
    if recheck is not None:
        if output is not None or json:
            raise UsageError("--recheck prints its findings only: leave out -o and --json")
        return _recheck(nodes, view.run, recheck, mpi, places)
    if places:
        raise UsageError(f"'{places[0]}': only --recheck takes paths; leave it out, or add --recheck NEW")
    if output is not None:
        from nameplate.report.chart_files.node_picture import write_maps  # noqa: PLC0415 (charts take a second to import)

        write_maps(nodes, output, force)
    print_view(view, json, all)
    return slow_code(nodes)


def _recheck(nodes: Nodes, first: Run | None, target: Path, mpi: str | None, places: Sequence[str]) -> int:
    from nameplate.comparison.recheck import findings, suspects_of  # noqa: PLC0415 (the view alone needs no launcher)

    if mpi is None or first is None:
        raise UsageError(
            '--recheck needs a run file and a launcher: nameplate nodes RUN --recheck NEW --mpi "srun -N 8"'
        )
    if not slow_nodes(nodes):
        print_nodes(nodes)
        return 0
    suspects = suspects_of(nodes, first.plan)
    launch = launch_with(mpi)
    core = describe_core(launch)
    check_places(suspects.plan.experiments, core.probes, split_arguments(places), "the run")
    header = make_run(suspects.plan, None, first.rated, "normal", "in-turn")
    positions = _positions(suspects.nodes, nodes_of(core.machine))
    environment = RunEnvironment(core.machine, launch, nodes=NodesInTurn(positions, at_once=False))
    with RunWriter.create(target) as writer:
        recheck = measure_to_file(
            header, writer, None, make_progress(False, False, header.plan.experiments), environment
        )
    results = findings(nodes, suspects, recheck.nodes, first)
    print_findings(results)
    return SLOW if any(finding.label in ("persistent", "not measured") for finding in results) else 0


def _positions(requested: Sequence[str], present: Sequence[str]) -> list[int]:
    missing = [name for name in requested if name not in present]
    if missing:
        raise UsageError(
            f"--mpi: the job does not include {compress(missing)}; use a launcher that starts ranks there, too"
        )
    return [present.index(name) for name in requested]
