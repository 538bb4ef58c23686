"""Print a run: the measured values next to their reference values."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.cells import cell_len
from rich.text import Text

from nameplate.planning.budget import MIN_ROUNDS
from nameplate.records.result import Report
from nameplate.records.result import Table as ProbeTable
from nameplate.report.content import event_text
from nameplate.report.content.experiments import headlines, title_of_table
from nameplate.report.content.first_screen import MAX_WARNINGS, FirstScreen, first_screen
from nameplate.report.content.format import cell_text, count
from nameplate.report.content.remarks import CUT_OFF, INTERRUPTED, warnings_of
from nameplate.report.content.result_rows import HEADINGS, TableSection, explanations, sections
from nameplate.report.content.study_tables import all_tables
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.first_screen import legend_lines, screen_lines, warning_lines

# Columns, the most important one first.
_ALWAYS = ("typical", "95 %", "capability", "share")
_IF_THERE_IS_ROOM = ("reference", "its 95 %", "sustained", "cores")
_SHARE = HEADINGS.index("share")
# Labels reserve at most this width when columns are chosen; a wider label is put above its row.
_LABEL = 36
_GAP = 2
# The first screen should fit a terminal with this number of lines.
MAX_LINES = 25
MAX_NOTES = 12
_STYLES = {"good": "green", "poor": "red", "plain": ""}


def _columns(section: TableSection, width: int) -> list[int]:
    """Return the indices of the columns to show: the important ones, and as many others as fit next to the labels."""
    widths = [max(cell_len(text) for text in (HEADINGS[i], *(row.cells[i] for row in section.rows if row.cells[2])))
              for i in range(len(HEADINGS) - 1)]  # fmt: skip
    used = min(widths[0], _LABEL) + sum(widths[HEADINGS.index(heading)] + _GAP for heading in _ALWAYS)
    indices = [HEADINGS.index(heading) for heading in _ALWAYS]
    for heading in _IF_THERE_IS_ROOM:
        index = HEADINGS.index(heading)
        used += widths[index] + _GAP
        if used + _GAP > width:
            break
        indices.append(index)
    return sorted(indices)


def _lines(section: TableSection, width: int) -> list[Text]:
    columns = _columns(section, width)
    lines = []
    for row in section.rows:
        cells = [Text(cell) for cell in row.cells]
        # A row without a value has no share, so its outcome is coloured.
        cells[_SHARE if row.cells[_SHARE] else 1].stylize(_STYLES[row.mood])
        lines.append(Line(row.cells[0], tuple(cells[i] for i in columns), row.cells[-1]))
    return lay_out([HEADINGS[i] for i in columns], lines, width)


def _section_lines(report: Report, width: int) -> list[Text]:
    """Return the tables of results, one for each probe, and a sentence on intervals that are missing."""
    lines = []
    for section in sections(report):
        lines += [Text(), Text(section.heading, style="bold"), *_lines(section, width)]
    missing = _without_intervals(report)
    return [*lines, Text(), *wrapped(missing, width, "")] if missing else lines


def _without_intervals(report: Report) -> str:
    """Return a sentence on the experiments with too few rounds for an interval, or "" if there are none."""
    measured = [result for result in headlines(report.results) if result.summary.value is not None]
    few = [result.summary.rounds for result in measured if result.summary.ci is None]
    if not few:
        return ""
    got = f"{min(few)} to {max(few)}" if min(few) < max(few) else f"{few[0]}"
    of = f"{len(few)} of {count(len(measured), 'experiment')}"
    return f"{of} without a 95 % interval, which needs {MIN_ROUNDS} rounds (got {got})."


def _over_time_lines(report: Report) -> list[list[Text]]:
    """Return the lines on each series: an empty one, a heading, and its events."""
    return [
        [Text(), Text(f"{result.id} over time", style="bold"),
         *(Text(f"  {line}") for line in event_text.lines(result.summary, result.summary.over_time))]
        for result in report.results if result.summary.over_time is not None
    ]  # fmt: skip


def table_lines(table: ProbeTable, width: int) -> list[Text]:
    """Return the lines of a probe's or a study's table without its title and notes, at most ``width`` characters wide.

    The first line has the headings; ``table`` has at least one. The first cell of each row must be text, the label of
    the row. A single word that is wider than ``width`` makes its line longer.
    """
    rows = [[cell_text(cell) for cell in row] for row in table.rows]
    return lay_out(
        table.headings[1:], [Line(row[0], tuple(map(Text, row[1:]))) for row in rows], width, table.headings[0]
    )


def _lines_of_table(table: ProbeTable, width: int) -> list[Text]:
    """Return an empty line, the title of a table, the table, and its notes."""
    notes = [line for note in table.notes for line in wrapped(f"  {note}", width, "  ")]
    for line in notes:
        line.stylize("dim")
    return [Text(), Text(title_of_table(table), style="bold"), *table_lines(table, width), *notes]


def render(report: Report, path: Path, width: int, has_tables: bool) -> list[Text]:
    """Return the lines of a run to print: the first screen, events of series, tables, warnings, and further commands.

    By default there are at most ``MAX_LINES`` lines, if each area has a line: events and tables are shown if they fit,
    and a command shows the others. With ``has_tables``, all of them are shown, and a table of the results of each
    probe: typical value, interval, capability, share, and as many further columns as fit. The sources of the reference
    values then replace the commands, and up to ``MAX_NOTES`` warnings are shown instead of ``MAX_WARNINGS``. ``path``
    is the run file, which the commands name, and ``width`` the width in characters.
    """
    resume = f"continue it with nameplate run --resume {shlex.quote(str(path))}"
    can_resume = path.suffix == ".jsonl" and report.run.plan.limits.detect is None
    early_ends = {CUT_OFF: f"{path} is incomplete; {resume}", INTERRUPTED: f"The run was interrupted; {resume}"}
    early_ends = early_ends if can_resume else {}
    warnings = [early_ends.get(warning, warning) for warning in warnings_of(report)]
    limit = MAX_NOTES if has_tables else MAX_WARNINGS
    of_warnings = warning_lines(warnings[:limit], max(0, len(warnings) - limit), width)
    below = [Text(), *of_warnings] if of_warnings else []
    tables = all_tables(report)
    of_tools = [_lines_of_table(table, width) for table in tables if not table.probe and table in report.tables]
    of_probes = [_lines_of_table(table, width) for table in tables if table.probe or table not in report.tables]
    blocks = [*_over_time_lines(report), *of_tools, *of_probes]
    screen = first_screen(report)
    if has_tables:
        in_tables = [line for block in [_section_lines(report, width), *blocks] for line in block]
        sources = [Text(line, style="dim") for line in explanations(report)]
        return [*screen_lines(screen, width), *in_tables, *below, Text(), *sources]
    # An empty line, the shortest legend, and two lines of commands or the first command follow.
    min_legend = len(legend_lines(screen, width, 0))
    n_below = len(below) + 1 + min_legend + max(2, len(_commands(screen, path, width, len(blocks))[0]))
    room = MAX_LINES - len(screen_lines(screen, width)) - n_below
    if room < 0:
        screen = first_screen(report, max_rows=max(0, len(screen.rows) + room))
    fitting: list[list[Text]] = []
    for block in blocks:
        if len(block) <= room:
            fitting.append(block)
            room -= len(block)
    lines = [*screen_lines(screen, width), *(line for block in fitting for line in block), *below]
    of_values, of_charts = _commands(screen, path, width, len(blocks) - len(fitting))
    has_room = len(lines) + 1 + min_legend + len(of_values) + len(of_charts) <= MAX_LINES
    commands = [*of_values, *of_charts] if has_room else of_values
    legend = legend_lines(screen, width, MAX_LINES - len(lines) - 1 - len(commands))
    return [*lines, Text(), *legend, *commands]


def _commands(screen: FirstScreen, path: Path, width: int, n_tables: int) -> tuple[list[Text], list[Text]]:
    """Return the lines of the command that shows all values, and those of the one that draws the charts.

    They are broken only between words, so that paths stay whole.

    ``n_tables`` is the number of tables that are not shown.
    """
    hidden = [count(screen.left_out, "further experiment")] * bool(screen.left_out)
    hidden += [count(n_tables, "table")] * bool(n_tables)
    more = f" ({', '.join(hidden)})" if hidden else ""
    all_values = wrapped(f"all values{more}: nameplate show --all {shlex.quote(str(path))}", width, "  ")
    charts = wrapped(f"charts: nameplate report {shlex.quote(str(path))} -o report.html", width, "  ")
    for line in (*all_values, *charts):
        line.stylize("dim")
        line.no_wrap = True
    return all_values, charts


def print_report(report: Report, path: Path, has_tables: bool = False) -> None:
    """Print a run to standard output: the first screen, and with ``has_tables`` the tables of all results.

    ``path`` is the run file that ``report`` summarises, which hints name. The output has colour on a terminal.
    """
    console = make_console()
    for part in render(report, path, console.width, has_tables):
        # rich ignores the no_wrap of a Text that is printed on its own.
        console.print(part, crop=False, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
