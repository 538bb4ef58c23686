"""Implement ``nameplate history``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.errors import UsageError
from nameplate.extras import check_extra
from nameplate.records.outputs import check_output
from nameplate.report.terminal.console import make_console

GROUP = "Read results"


def command(
    folder: Path,
    /,
    *metric: str,
    machine: Annotated[str | None, Parameter(show_default=False)] = None,
    last: int = 20,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], show_default=False)] = None,
    force: bool = False,
    json: bool = False,
) -> int:
    """Show what changed between the runs of a folder: which metric, on which machine, and when.

    An index of the runs is kept in the user's cache directory. It is rebuilt whenever it does not match the run files.

    Parameters
    ----------
    folder
        A folder with run files (.jsonl), which may be in subfolders.
    metric
        The metrics to follow from run to run: a probe, parameters or a metric name, such as memory_stream op=triad
        bandwidth.
    machine
        Show only this machine (the name of a host or of a node of a job).
    last
        The number of latest runs to list.
    output
        Draw the selected metrics over time into this file (.svg, .pdf or .png).
    force
        Overwrite the output file even if its checksum does not show that nameplate wrote it. Run files are never
        overwritten.
    json
        Print the runs, the changes and the values of the selected metrics as JSON.
    """
    if last < 1:
        raise UsageError(f"--last {last}: not a number of runs; use 1 or more")
    if output is not None and not metric:
        raise UsageError("-o draws a metric over time: name one, such as memory_stream op=triad bandwidth")

    if output is not None:
        check_extra("report", "-o")
    check_output("-o", output, force=force)
    from nameplate.commands._history import HistoryView  # noqa: PLC0415 (numpy and scipy take half a second)

    console = make_console()
    view = HistoryView(folder, metric, machine)
    if output is not None:
        view.draw(output, force)
    if json:
        view.print_json()
    elif metric:
        view.print_metrics(console)
    else:
        view.print_overview(console, last)
    return 0
