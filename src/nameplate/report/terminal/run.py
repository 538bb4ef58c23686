"""Print a run: the measured values next to their reference values."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from nameplate.planning.budget import MIN_ROUNDS
from nameplate.probes import ResolvedExperiment, load_probes
from nameplate.probes.shared.ceilings import count_ports, textbook_peak
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.records.result import Table as ProbeTable
from nameplate.report import event_words
from nameplate.report.experiments import common_params, headlines, mood_of, own_params, title_of_table
from nameplate.report.first_screen import MAX_WARNINGS, FirstScreen, first_screen, without_loopback
from nameplate.report.format import cell_text, count, parameters, quantity, share, spread
from nameplate.report.remarks import CUT_OFF, warnings_of
from nameplate.report.study_tables import all_tables
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.first_screen import legend_lines, screen_lines, warning_lines

HEADINGS = ("", "typical", "95 %", "capability", "its 95 %", "reference", "share", "sustained", "cores", "notes")
# In the order of their importance.
_ALWAYS = ("typical", "95 %", "capability", "share")
_IF_THERE_IS_ROOM = ("reference", "its 95 %", "sustained", "cores")
_SHARE = HEADINGS.index("share")
# A wider label does not keep a column out; it is put above its row.
_LABEL = 36
_GAP = 2
MAX_EXPERIMENTS = 24
# The lines of a terminal, in which the first screen fits if possible.
MAX_LINES = 24
MAX_NOTES = 12
# The commands below the first screen, in a line each.
_WAYS_ON = 2


@dataclass(frozen=True)
class TableRow:
    """One row of the table of results, as text.

    ``cells`` has one entry for each of ``HEADINGS``, of which the first is the name of the row. A row without a value
    has the outcome, such as "skipped", as its second cell and "" as all further ones; a row about experiments that are
    left out has only the first cell. ``mood`` is "good", "poor" or "plain", which is shown as the colour.
    """

    cells: tuple[str, ...]
    mood: str


@dataclass(frozen=True)
class TableSection:
    """The rows of one probe, under a heading with its title and the parameters common to all of them."""

    heading: str
    rows: list[TableRow]


def sections(report: Report) -> list[TableSection]:
    """Return the results as text, in one section per probe, in the order of ``report.results``.

    Results of one probe must be adjacent, as ``summarise`` returns them. Details (``Result.is_detail``) have no row. If
    a probe with its own tables has more than ``MAX_EXPERIMENTS``, only derived values and experiments without a value
    have rows, and a last row says how many experiments the sweep has.
    """
    grouped = groupby(report.results, key=lambda result: result.summary.probe)
    return [_section(probe, list(results)) for probe, results in grouped]


def _section(probe: str, results: list[Result]) -> TableSection:
    common = common_params(results)
    results, left_out = _in_a_terminal(results)
    known = load_probes().get(probe)
    title = f"{known.title} ({probe} {known.metrics[0].name})" if known else probe
    heading = f"{title}  {parameters(common)}".strip()
    shown = [result for result in results if not result.is_detail]
    first = {id(result) for result in headlines(shown)}
    rows = [TableRow(_cells(result, common, id(result) in first), mood_of(result)) for result in shown]
    if left_out:
        words = (
            f"{left_out} experiments: see the tables and charts, or nameplate show FILE --format csv for every value"
        )
        rows.append(TableRow((words, *("",) * (len(HEADINGS) - 1)), "plain"))
    return TableSection(heading, rows)


def _in_a_terminal(results: list[Result]) -> tuple[list[Result], int]:
    """Return the results to show, and the number of experiments left out.

    Experiments of a large sweep are left out if the probe's tables show them.
    """
    experiments = {result.id for result in results if result.kind != "derived"}
    known = load_probes().get(results[0].summary.probe)
    if len(experiments) <= MAX_EXPERIMENTS or known is None or known.tables is None:
        return results, 0
    return [result for result in results if result.kind == "derived" or result.summary.value is None], len(experiments)


def _cells(result: Result, common: dict[str, Value], is_first: bool) -> tuple[str, ...]:
    """Return the cells of a row. An experiment's name and remarks are in its first row; further rows name their
    metric.
    """
    row = result.summary
    name = _row_name(result, common) if is_first else f"  {row.metric}"
    if row.value is None:
        return (name, row.outcome, *("",) * (len(HEADINGS) - 2))
    return (
        name,
        quantity(row.value, row.unit),
        spread(row.value, row.ci, row.unit),
        quantity(row.capability, row.unit),
        spread(row.capability, row.capability_ci, row.unit),
        quantity(row.rated, row.unit),
        share(row.efficiency),
        quantity(row.sustained, row.unit),
        f"{result.utilisation:.2f}" if result.kind != "derived" else "–",
        ", ".join(_remarks(result) if is_first or result.kind == "derived" else []),
    )


def _row_name(result: Result, common: dict[str, Value]) -> str:
    """Return the parameters that distinguish the experiment, and the metric if it is not the one in the heading."""
    name = own_params(result.summary.params, common)
    known = load_probes().get(result.summary.probe)
    is_in_heading = known is not None and result.summary.metric == known.metrics[0].name
    return name if name and is_in_heading else f"{name} {result.summary.metric}".strip()


def _remarks(result: Result) -> list[str]:
    row = result.summary
    remarks = ["oversubscribed"] * result.oversubscribed
    if row.disturbed > 0:
        remarks.append(f"{row.disturbed * 100:.0f} % disturbed")
    return [*remarks, *result.remarks]


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


def explanations(report: Report) -> list[str]:
    """Return for each probe a line with its highest reference value and the source of that, or why it has none.

    Every line starts with the probe's name and a space. A probe that counts the operations per cycle has a second line,
    with the theoretical peak at the nominal clock. Probes without a measured value have no line. Results of one probe
    must be adjacent.
    """
    lines = []
    for probe, grouped in groupby(report.results, key=lambda result: result.summary.probe):
        results = [r for r in grouped if r.summary.value is not None and r.kind != "derived"]
        rated = [result for result in results if result.summary.rated is not None]
        if rated:
            best = max(rated, key=lambda result: result.summary.rated or 0.0)
            lines.append(
                f"{probe} reference value {quantity(best.summary.rated, best.summary.unit)} = {best.rated.source}"
            )
            lines += _textbook_line(report, best)
        elif results:
            lines.append(f"{probe} has no reference value: {results[0].rated.source}")
    return lines


def _textbook_line(report: Report, result: Result) -> list[str]:
    """Return GHz × cores × operations per cycle for the experiment with the highest ceiling of an arithmetic probe."""
    ports = count_ports(result.facts) if "port_block_s" in result.facts else None
    if ports is None or report.machine is None or result.summary.metric != "rate":
        return []
    cores = ResolvedExperiment(result.summary.params, result.facts, report.machine).cores
    peak = textbook_peak(report.machine, ports * result.facts["operations_per_instruction"], cores)
    return [f"{result.summary.probe} theoretical peak {quantity(peak.value, result.summary.unit)} = {peak.source}"]


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
