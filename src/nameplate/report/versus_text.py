"""nameplate beside the reference tools, in the terminal: a table for each tool, with the command lines below."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nameplate.report.format import parameters, quantity
from nameplate.versus import Row

_WORDS = {
    "same": "the same", "more": "nameplate more", "less": "nameplate less", "unsure": "unsure",
    "other work": "not the same work",
}  # fmt: skip
_STYLES = {"same": "green", "more": "", "less": "red"}
_RIGHT = ("nameplate", "ratio", "95 %")


def print_rows(rows: Sequence[Row], console: Console | None = None) -> None:
    """Every tool with its figures, then what is not there or cannot be compared."""
    console = console or Console(highlight=False)
    measured = [row for row in rows if row.ratio is not None]
    for (tool, version), own in groupby(measured, key=lambda row: (row.tool, row.version)):
        console.print(Text(f"\n{tool} {version}".rstrip(), style="bold"))
        console.print(_table(tool, list(own)))
    if measured:
        console.print(
            "\nratio: above 1 nameplate's figure is the better one (more of a rate, less of a time)", style="dim"
        )
    _print_rest(console, [row for row in rows if row.ratio is None or (row.reason and row.verdict != "other work")])


def _table(tool: str, rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", overflow="fold")
    for heading in ("nameplate", tool, "ratio", "95 %"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for command, own in groupby(rows, key=lambda row: row.command):
        for row in own:
            table.add_row(
                f"  {row.work}", _median(row.ours, row.unit), _median(row.theirs, row.unit), f"{row.ratio:.3f}",
                f"{row.ci[0]:.3f} to {row.ci[1]:.3f}" if row.ci else f"{len(row.ours)} pairs only",
                Text(_WORDS[row.verdict], style=_STYLES.get(row.verdict, "dim")),
            )  # fmt: skip
            if row.verdict == "other work":
                table.add_row(Text(f"    {row.reason}", style="dim"))
            table.add_row(Text(f"    {row.probe} {parameters(row.params)}: {row.metric}", style="dim"))
        table.add_row(Text(f"    $ {command}", style="dim"))
    return table


def _median(values: Sequence[float], unit: str) -> str:
    return quantity(statistics.median(values), unit)


def _print_rest(console: Console, rows: Sequence[Row]) -> None:
    if not rows:
        return
    console.print(Text("\nNot compared", style="bold"))
    for row in rows:
        what = " ".join(word for word in (row.tool, row.work or "", f"({row.probe})" if row.probe else "") if word)
        console.print(Text(f"  {what}: {row.reason}" + (f"; to get it: {row.install}" if row.install else "")))
        if row.command:
            console.print(Text(f"    $ {row.command}", style="dim"))
