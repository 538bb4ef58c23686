"""Print a run: the measured values next to their reference values."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from nameplate.planning.budget import MIN_ROUNDS
from nameplate.records.result import Report
from nameplate.records.result import Table as ProbeTable
from nameplate.report.content import event_words
from nameplate.report.content.experiments import headlines, title_of_table
from nameplate.report.content.first_screen import MAX_WARNINGS, FirstScreen, first_screen, without_loopback
from nameplate.report.content.format import cell_text, count
from nameplate.report.content.remarks import CUT_OFF, warnings_of
from nameplate.report.content.result_rows import HEADINGS, TableRow, TableSection, explanations, sections
from nameplate.report.content.study_tables import all_tables
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.first_screen import legend_lines, screen_lines, warning_lines

# In the order of their importance.
_ALWAYS = ("typical", "95 %", "capability", "share")
_IF_THERE_IS_ROOM = ("reference", "its 95 %", "sustained", "cores")
_SHARE = HEADINGS.index("share")
# A wider label does not keep a column out; it is put above its row.
_LABEL = 36
_GAP = 2
# The lines of a terminal, in which the first screen fits if possible.
MAX_LINES = 24
MAX_NOTES = 12
# The commands below the first screen, in a line each.
_WAYS_ON = 2


_STYLES = {"good": "green", "poor": "red", "plain": ""}


def _styled(row: TableRow) -> list[Text]:
    """Return a row's cells; the mood colours the share, or the outcome of a row without one."""
    cells = [Text(cell) for cell in row.cells]
    cells[_SHARE if row.cells[_SHARE] else 1].stylize(_STYLES[row.mood])
    return cells


def _columns(section: TableSection, width: int) -> list[int]:
    """Return the indices of the columns to show: the important ones, and as many others as fit next to the labels."""
    widths = [max(cell_len(text) for text in (HEADINGS[i], *(row.cells[i] for row in section.rows if row.cells[2])))
              for i in range(len(HEADINGS) - 1)]  # fmt: skip
    used = min(widths[0], _LABEL) + sum(widths[HEADINGS.index(heading)] + _GAP for heading in _ALWAYS)
    shown = [HEADINGS.index(heading) for heading in _ALWAYS]
    for heading in _IF_THERE_IS_ROOM:
        index = HEADINGS.index(heading)
        used += widths[index] + _GAP
        if used + _GAP > width:
            break
        shown.append(index)
    return sorted(shown)


def _lines(section: TableSection, width: int) -> list[Text]:
    shown = _columns(section, width)
    lines = [
        Line(row.cells[0], tuple(_styled(row)[i] for i in shown), row.cells[-1])
        for row in section.rows
    ]  # fmt: skip
    return lay_out([HEADINGS[i] for i in shown], lines, width)


def _section_parts(report: Report, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for section in sections(report):
        parts += [Text(), Text(section.heading, style="bold"), *_lines(section, width)]
    missing = _without_intervals(report)
    return [*parts, Text(), *wrapped(missing, width, "")] if missing else parts


def _without_intervals(report: Report) -> str:
    """Return a sentence on the experiments with too few rounds for an interval, or "" if there are none."""
    measured = [result for result in headlines(report.results) if result.summary.value is not None]
    few = [result.summary.rounds for result in measured if result.summary.ci is None]
    if not few:
        return ""
    got = f"{min(few)} to {max(few)}" if min(few) < max(few) else f"{few[0]}"
    of = f"{len(few)} of {count(len(measured), 'experiment')}"
    return f"{of} without a 95 % interval, which needs {MIN_ROUNDS} rounds (got {got})."


def _over_time_parts(report: Report) -> list[RenderableType]:
    """Return the events of each series."""
    parts: list[RenderableType] = []
    for result in report.results:
        row = result.summary
        if row.over_time is not None:
            lines = event_words.lines(row, row.over_time)
            parts += [Text(), Text(f"{result.id} over time", style="bold"), *(Text(f"  {line}") for line in lines)]
    return parts


def table_lines(table: ProbeTable, width: int) -> list[Text]:
    """Return the lines of a probe's or a study's table without its title and notes, at most ``width`` characters wide.

    The first line has the headings, of which ``table`` has at least one. The first cell of each row is its label, a
    text. As in ``lay_out``, a single word that is wider than ``width`` makes its line longer.
    """
    rows = [[cell_text(cell) for cell in row] for row in table.rows]
    return lay_out(
        table.headings[1:], [Line(row[0], tuple(map(Text, row[1:]))) for row in rows], width, table.headings[0]
    )


def _table_parts(tables: Sequence[ProbeTable], width: int) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for table in tables:
        parts += [
            Text(),
            Text(title_of_table(table), style="bold"),
            *table_lines(table, width),
            *(Padding(Text(note, style="dim"), (0, 0, 0, 2)) for note in table.notes),
        ]
    return parts


def _customary_tables(report: Report) -> list[ProbeTable]:
    """Return the tables that a reader expects without asking: of a study, of a single probe, and of other tools."""
    is_single = len({result.summary.probe for result in report.results}) == 1
    return [table for table in all_tables(report) if report.study or is_single or not table.probe]


def render(report: Report, path: Path, width: int, has_tables: bool) -> list[RenderableType]:
    """Return a run in parts to print: the first screen, events of series, customary tables, and warnings.

    ``path`` is the run file, which hints name. ``width`` is in characters. With ``has_tables``, the tables of all
    results and of all probes are among them, and the sources of the reference values at the end: the value, its
    interval, the capability, the share, and as many further columns as fit. At most ``MAX_NOTES`` warnings are then
    shown.
    """
    screen = first_screen(report)
    tables = all_tables(report) if has_tables else _customary_tables(report)
    below: list[RenderableType] = [
        *_over_time_parts(report), *(_section_parts(report, width) if has_tables else []), *_table_parts(tables, width),
    ]  # fmt: skip
    resume = f"{path} ends before the run did; continue it with nameplate run --resume {path}"
    warnings = [resume if words == CUT_OFF else words for words in warnings_of(report)]
    limit = MAX_NOTES if has_tables else MAX_WARNINGS
    shown = warning_lines(warnings[:limit], max(0, len(warnings) - limit), width)
    below += [Text(), *shown] if shown else []
    if has_tables:
        return [*screen_lines(screen, width), *below, Text(),
                *(Text(line, style="dim") for line in explanations(report))]  # fmt: skip
    # An empty line, a legend and what to do next follow.
    over = len(screen_lines(screen, width)) + len(below) + 2 + len(_next_lines(screen, path, width)) - MAX_LINES
    screen = without_loopback(screen, over)
    parts = [*screen_lines(screen, width), *below]
    commands = _next_lines(screen, path, width)
    # Where the screen is full, one way on must do.
    commands = commands[: max(1, MAX_LINES - len(parts) - 2)] if len(commands) == _WAYS_ON else commands
    legend = legend_lines(screen, width, MAX_LINES - len(parts) - 1 - len(commands))
    return [*parts, Text(), *legend, *commands]


def _next_lines(screen: FirstScreen, path: Path, width: int) -> list[Text]:
    """Return the commands that show more, broken only between words, so that a long path stays whole."""
    more = f" ({count(screen.left_out, 'further experiment')})" if screen.left_out else ""
    words = (
        f"all values{more}: nameplate show --all {shlex.quote(str(path))}",
        f"charts: nameplate report {shlex.quote(str(path))} -o report.html",
    )
    lines = [line for command in words for line in wrapped(command, width, "  ")]
    for line in lines:
        line.stylize("dim")
        line.no_wrap = True
    return lines


def print_report(report: Report, path: Path, has_tables: bool = False) -> None:
    """Print a run to standard output, with colour if it is a terminal; ``has_tables`` adds the tables of all results.

    ``path`` is the run file that ``report`` summarises.
    """
    console = make_console()
    for part in render(report, path, console.width, has_tables):
        # rich ignores the no_wrap of a Text that is printed on its own.
        console.print(part, crop=False, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
