"""``nameplate history``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.errors import UsageError
from nameplate.records.outputs import check_output
from nameplate.report.terminal.console import make_console


def command(
    folder: Path,
    /,
    *figure: str,
    machine: Annotated[str | None, Parameter(show_default=False)] = None,
    last: int = 20,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], show_default=False)] = None,
    json: bool = False,
) -> int:
    """A folder of runs over time: what changed on which machine and when, and a figure from run to run.

    What the runs say is kept in FOLDER/.nameplate-history, which is made anew whenever it does not fit the run files.

    Parameters
    ----------
    folder
        Run files (.jsonl), also in folders below.
    figure
        A figure to follow, by words it has: memory_stream op=triad bandwidth.
    machine
        This machine only: the name of a host, or of a node of a job.
    last
        How many runs are listed.
    output
        Draw the figure over time: .svg or .png.
    json
        Runs, changes and the figure's values as JSON.
    """
    if last < 1:
        raise UsageError(f"--last {last} is not possible: 1 or more")
    if output is not None and not figure:
        raise UsageError("-o draws a figure over time: name one, such as memory_stream op=triad bandwidth")

    check_output("-o", output)
    from nameplate.commands._history import Look  # noqa: PLC0415 (numpy and scipy take half a second)

    console = make_console()
    look = Look(folder, figure, machine)
    if output is not None:
        look.draw(output)
    if json:
        look.print_json()
    elif figure:
        look.print_figures(console)
    else:
        look.print_overview(console, last)
    return 0
