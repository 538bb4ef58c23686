"""Print the comparison with reference tools: one table per tool, followed by the commands that were run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from nameplate.report.content.format import count, first_few, parameters, quantity
from nameplate.report.terminal.columns import Line, lay_out
from nameplate.report.terminal.console import make_console
from nameplate.tools.paired import PairedRow, Verdict
from nameplate.tools.pairing import middle_pair

_TEXTS = {"same": "the same", "more": "better", "less": "worse", "unsure": "unsure", "other work": "other work"}
_IN_SUMMARY: dict[Verdict, str] = {
    "more": "better", "same": "the same", "unsure": "not decided", "other work": "of other work", "less": "worse",
}  # fmt: skip
# The number of metrics with a worse result that the first sentence names.
_MAX_NAMED = 3
_STYLES = {"same": "green", "more": "", "less": "red"}


def print_rows(rows: Sequence[PairedRow], console: Console | None = None) -> None:
    """Print a sentence that counts the verdicts, a table per reference tool with its commands, and a list of the rest.

    Rows with a ratio are in the tables; a ratio above 1 means that nameplate's result is better. Rows without a ratio,
    such as a tool that is not installed, are in the list below "Not compared" with their reason, and so are rows whose
    reason says why no more pairs were measured. Rows of the same tool and version must be adjacent. Without ``rows``,
    nothing is printed. ``console`` is standard output by default.
    """
    console = console or make_console()
    measured = [row for row in rows if row.ratio is not None]
    if measured:
        console.print(Text(summary(measured), style="bold"))
    for (tool, version), rows_of_tool in groupby(measured, key=lambda row: (row.tool, row.version)):
        several = list(rows_of_tool)
        console.print(Text(f"\n{tool} {version}".rstrip(), style="bold"))
        for row in _table(tool, several, console.width):
            console.print(row)
        for line in _commands_run(several):
            console.print(Text(line, style="dim"), soft_wrap=True)
    if measured:
        console.print(
            "\nratio: a value above 1 means that nameplate's result is better (a higher rate or a lower time)",
            style="dim",
        )
    _print_rest(console, [row for row in rows if row.ratio is None or (row.reason and row.verdict != "other work")])


def summary(rows: Sequence[PairedRow]) -> str:
    """Return a sentence with the number of rows in which nameplate's result is better, the same or worse.

    The sentence names up to three rows in which nameplate's result is worse than the tool's, with their ratios. Each of
    ``rows`` must have a ratio.
    """
    numbers = Counter(row.verdict for row in rows)
    counts = [f"{_IN_SUMMARY[verdict]} in {numbers[verdict]}" for verdict in _IN_SUMMARY if numbers[verdict]]
    worse = [f"{row.tool}, {row.probe} {row.metric}: {row.ratio:.3f}" for row in rows if row.verdict == "less"]
    named = f" ({first_few(worse, _MAX_NAMED, '; ')})" if worse else ""
    return f"Of {count(len(rows), 'comparison')}, nameplate's result is {', '.join(counts)}{named}."


def _table(tool: str, rows: Sequence[PairedRow], width: int) -> list[Text]:
    """Return the table of one tool. Commands are listed below it by number, so that it fits a narrow terminal."""
    lines = []
    for number, row in enumerate(rows, start=1):
        ours, theirs = middle_pair(row.ours, row.theirs)
        cells = (
            quantity(ours, row.unit), quantity(theirs, row.unit), f"{row.ratio:.3f}",
            f"{row.ci[0]:.3f} to {row.ci[1]:.3f}" if row.ci else f"{len(row.ours)} pairs only",
        )  # fmt: skip
        verdict = Text(_TEXTS[row.verdict], style=_STYLES.get(row.verdict, "dim"))
        lines.append(Line(f"{number:3d}", (*map(Text, cells), verdict), row.work or ""))
    return lay_out(("nameplate", tool, "ratio", "95 %", "nameplate is"), lines, width)


def _commands_run(rows: Sequence[PairedRow]) -> Iterator[str]:
    """Yield each command once, after the metrics that it measured."""
    numbered = enumerate(rows, start=1)
    for command, rows_of_command in groupby(numbered, key=lambda item: item[1].command):
        for number, row in rows_of_command:
            yield f"{number:3d}  {row.probe} {parameters(row.params)}: {row.metric}"
            if row.verdict == "other work":
                yield f"     {row.reason}"
        yield f"     $ {command}"


def _print_rest(console: Console, rows: Sequence[PairedRow]) -> None:
    if not rows:
        return
    console.print(Text("\nNot compared", style="bold"))
    for row in rows:
        work = " ".join(word for word in (row.tool, row.work or "", f"({row.probe})" if row.probe else "") if word)
        console.print(Text(f"  {work}: {row.reason}" + (f"; to install it: {row.install}" if row.install else "")))
        if row.command:
            console.print(Text(f"    $ {row.command}", style="dim"), soft_wrap=True)
