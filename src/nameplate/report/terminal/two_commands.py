"""Show the comparison of two commands: a sentence with the ratio of their times, then a table; and the progress."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.status import Status
from rich.text import Text

from nameplate.comparison.longer_runs import budget_text
from nameplate.comparison.two_commands import CommandComparison, CommandQuantity
from nameplate.report.content.format import count, quantity
from nameplate.report.terminal.columns import Line, lay_out
from nameplate.report.terminal.console import make_console
from nameplate.statistics.paired_change import MIN_ROUNDS
from nameplate.statistics.stats import median

_LABELS = {"elapsed": "time", "cpu": "CPU time", "memory": "peak memory"}
# A shorter time is mostly that of starting a process.
_MIN_TIME_S = 0.005


def print_commands(
    texts: Sequence[str], comparison: CommandComparison, pair_s: float, console: Console | None = None
) -> None:
    """Print the comparison of the commands ``texts``, A and B.

    ``pair_s`` is the time of the comparison in seconds, divided by the number of pairs. ``console`` is standard output
    by default.
    """
    console = console or make_console()
    console.print(Text(sentence(comparison, pair_s), style="bold"))
    console.print()
    for name, text in zip("AB", texts, strict=True):
        console.print(Text(f"{name}: {text}"))
    console.print()
    lines = [_line(item) for item in comparison.quantities]
    for text_of_line in lay_out(("A", "B", "B ÷ A", "99 %"), lines, console.width):
        console.print(text_of_line)
    n_pairs = len(comparison.elapsed.a)
    console.print(
        f"\n{count(n_pairs, 'pair')}. Values are medians of the runs, with the range below; the ratio is the median "
        "of the pairs' ratios."
    )
    if min(*comparison.elapsed.a, *comparison.elapsed.b) < _MIN_TIME_S:
        console.print("Less than 5 ms is mostly the start of a process.")


def sentence(comparison: CommandComparison, pair_s: float) -> str:
    """Return a sentence with the verdict, such as ``A is 1.320 times faster than B (99 % interval 1.270 to 1.360).``

    ``pair_s`` is as in ``print_commands``.
    """
    elapsed = comparison.elapsed
    ratio, ci = elapsed.ratio or 1.0, elapsed.ci
    if comparison.verdict in ("FASTER", "SLOWER"):
        faster, slower = ("A", "B") if comparison.verdict == "SLOWER" else ("B", "A")
        ends = sorted((end if comparison.verdict == "SLOWER" else 1 / end) for end in ci or ())
        interval = f" (99 % interval {ends[0]:.3f} to {ends[1]:.3f})" if ends else ""
        return f"{faster} is {max(ratio, 1 / ratio):.3f} times faster than {slower}{interval}."
    interval = f"B ÷ A is {ratio:.3f}" + (f", 99 % interval {ci[0]:.3f} to {ci[1]:.3f}" if ci else "")
    if comparison.verdict == "SAME":
        return f"A and B take the same time: {interval}."
    return f"Not decided: {interval}. {_advice(comparison, pair_s)}"


def _advice(comparison: CommandComparison, pair_s: float) -> str:
    n_pairs = len(comparison.elapsed.a)
    reason = f"{comparison.reason[:1].upper()}{comparison.reason[1:]}"
    if n_pairs < MIN_ROUNDS:
        reason = f"{count(n_pairs, 'pair')}: a verdict needs {MIN_ROUNDS}"
    needed = comparison.rounds_needed
    if not needed:
        return f"{reason}."
    return f"{reason}; raise --budget to {budget_text(1.2 * pair_s * needed)}."


def _line(item: CommandQuantity) -> Line:
    ratio, interval = "–", "–"
    if item.ratio is not None:
        ratio = f"{item.ratio:.3f}"
        interval = f"{item.ci[0]:.3f} to {item.ci[1]:.3f}" if item.ci else f"needs {MIN_ROUNDS} pairs"
    medians = [quantity(median(values), item.unit) for values in (item.a, item.b)]
    ranges = [
        " to ".join(quantity(end, item.unit) for end in (min(values), max(values))) for values in (item.a, item.b)
    ]
    cells = tuple(map(Text, (*medians, ratio, interval)))
    return Line(_LABELS[item.name], cells, f"A {ranges[0]}, B {ranges[1]}")


class CommandProgress:
    """A line on standard error with the number of pairs, the ratio so far and the time left, removed at the end.

    Without a terminal, or with ``quiet``, nothing is shown.
    """

    def __init__(self, quiet: bool) -> None:
        self._status: Status | None = None
        if not quiet and sys.stderr.isatty():
            self._status = Status("first runs", console=make_console(stderr=True), refresh_per_second=2)

    def __enter__(self) -> CommandProgress:
        """Draw the line."""
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the line."""
        if self._status:
            self._status.stop()

    def show(self, comparison: CommandComparison, left_s: float) -> None:
        """Show the comparison so far, with at most ``left_s`` seconds left."""
        if self._status:
            elapsed = comparison.elapsed
            ratio = f"B ÷ A {elapsed.ratio:.3f}" if elapsed.ratio else ""
            interval = f" ({elapsed.ci[0]:.3f} to {elapsed.ci[1]:.3f})" if elapsed.ci else ""
            self._status.update(f"{count(len(elapsed.a), 'pair')}: {ratio}{interval}, at most {left_s:.0f} s left")
