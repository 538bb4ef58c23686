"""Print a folder's runs over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from nameplate.history.changes import ChangeReport, MetricHistory, RunRow
from nameplate.history.index import Entry
from nameplate.report.content.format import count, interval_text, quantity
from nameplate.report.content.metric_names import MetricNames
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.strip import bars

# Colours mean better and worse, never larger and smaller.
_STYLES = {"FASTER": "green", "SLOWER": "red"}
_STRIP = 24
_MAX_REASONS = 5
_MAX_VALUES = 40
_MAX_METRICS = 12
# A run's worst value is named only if it is below this share of the usual value.
_WORTH_NAMING = 0.97


def print_overview(
    entries: Sequence[Entry],
    rows: Sequence[RunRow],
    changes: Sequence[ChangeReport],
    names: MetricNames,
    console: Console,
) -> None:
    """Print the number of runs and their period, what changed in them, and a table of the runs in ``rows``.

    ``entries`` are all selected runs in the order of their starts, at least one, and ``rows`` those of them to list,
    usually the latest (``run_rows``). ``changes`` are from ``change_reports``, and ``names`` is made from all metrics
    of the folder. The table shows the median ratio to the usual values as a difference in percent, and names a run's
    worst metric if it is more than 3 % worse than usual.
    """
    machines = {entry.machine for entry in entries}
    first, latest = entries[0].started, entries[-1].started
    console.print(f"{count(len(entries), 'run')} of {count(len(machines), 'machine')}, {first:.10} to {latest:.10}")
    print_changes(changes, names, console)
    heading = "runs" if len(rows) == len(entries) else f"the latest {len(rows)} of {len(entries)} runs"
    console.print(Text(f"\n{heading}", style="bold"))
    _print_runs(rows, names, console)


def print_changes(changes: Sequence[ChangeReport], names: MetricNames, console: Console) -> None:
    """Print the changes in groups, each with the settings of the machine that changed at the same time.

    Adjacent changes of the same machine, kind, time and verdict form a group, so ``changes`` must be in the order of
    ``change_reports``. A group shows at most twelve metrics, with their levels before and after. If there are no
    changes, a line says so. ``names`` is made from all metrics of the folder.
    """
    if not changes:
        console.print("\nno metric changed its level or drifts")
    groups = groupby(changes, key=lambda each: (each.machine, each.kind, each.until, each.since, each.verdict))
    for (machine, kind, _, _, verdict), group in groups:
        own = list(group)
        when = f"since {own[0].since_started:.10}, {count(own[0].runs, 'run')}"
        if kind == "drift":
            when = f"gradually from {own[0].until_started:.10} to {own[0].since_started:.10}"
        console.print(Text.assemble("\n", (verdict, _STYLES[verdict]), f" {machine} {when}"))
        _print_lines(_changes(own[:_MAX_METRICS], names, console.width), console)
        if len(own) > _MAX_METRICS:
            console.print(f"  and {len(own) - _MAX_METRICS} more metrics")
        for setting in own[0].settings:
            console.print(Text(f"  with {setting.name}: {setting.base} → {setting.new}", style="bold"))


def _changes(changes: Sequence[ChangeReport], names: MetricNames, width: int) -> Iterator[Text]:
    for each in changes:
        before, after = (quantity(value, each.key.unit) for value in (each.before, each.after))
        words = f"{_share(each.after / each.before):>8}  {before} → {after}  {names.of(each.key)}"
        yield from wrapped(words, width, "          ", "  ")


def _print_lines(lines: Iterable[Text], console: Console) -> None:
    for line in lines:
        console.print(line)


def _line(label: str, *cells: str) -> Line:
    return Line(label, tuple(map(Text, cells)))


def _print_runs(rows: Sequence[RunRow], names: MetricNames, console: Console) -> None:
    lines = [
        _line(f"{row.started:.16} {row.path}".replace("T", " ", 1) + (" (unfinished)" if row.unfinished else ""),
              row.machine, row.plan, str(row.metrics), _share(row.relative_to_usual))
        for row in rows
    ]  # fmt: skip
    _print_lines(lay_out(("machine", "plan", "metrics", "vs. usual"), lines, console.width, "started, file"), console)
    for row in rows:
        if row.worst is not None and (row.worst_relative_to_usual or 1.0) < _WORTH_NAMING:
            console.print(Text(f"{row.path}: {_share(row.worst_relative_to_usual)} {names.of(row.worst)}", style="dim"))


def _share(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio - 1:+.1%}".replace("%", " %").replace("-", "−")


def print_not_read(entries: Iterable[Entry], console: Console) -> None:
    """Print how many files could not be read as runs, and the reasons of the first five; nothing if all could be read.

    ``entries`` may include runs, which are ignored.
    """
    reasons = [entry.reason for entry in entries if entry.reason]
    if not reasons:
        return
    console.print(Text(f"\n{count(len(reasons), 'file')} could not be read", style="bold"))
    for reason in reasons[:_MAX_REASONS]:
        console.print(Text(f"  {reason}"))
    if len(reasons) > _MAX_REASONS:
        console.print(f"  and {len(reasons) - _MAX_REASONS} more; --json lists all")


def print_copies(entries: Iterable[Entry], console: Console) -> None:
    """Print which files are copies of runs, the first five by name; nothing if there is none."""
    copies = [entry for entry in entries if entry.copy_of]
    if not copies:
        return
    console.print(Text(f"\n{count(len(copies), 'file')} left out: the same run as another file", style="bold"))
    for entry in copies[:_MAX_REASONS]:
        console.print(Text(f"  {entry.path}: the run of {entry.copy_of}"))
    if len(copies) > _MAX_REASONS:
        console.print(f"  and {len(copies) - _MAX_REASONS} more; --json lists all")


def print_series(
    series: Sequence[MetricHistory], changes: Sequence[ChangeReport], names: MetricNames, console: Console
) -> None:
    """Print for each metric a table with a line per machine, and then the changes.

    ``series`` is from ``series_of``: metrics are adjacent, and each has at least one run. A line has the number of
    runs, the median, the latest value and a chart of the latest 24 runs. If there is only one metric on one machine,
    its latest 40 values follow, with their 95 % intervals. ``changes`` are those of these metrics, from
    ``change_reports``, and ``names`` is made from all metrics of the folder.
    """
    for key, group in groupby(series, key=lambda each: each.key):
        console.print(Text(names.of(key), style="bold"))
        lines = []
        for each in group:
            values = [point.value for point in each.points]
            lines.append(
                _line(each.machine, str(len(values)), quantity(each.usual, key.unit), quantity(values[-1], key.unit),
                      bars(values[-_STRIP:]))
            )  # fmt: skip
        headings = ("runs", "usual", "latest", "latest runs")
        _print_lines(lay_out(headings, lines, console.width, "machine"), console)
    if len(series) == 1:
        _print_values(series[0], console)
    print_changes(changes, names, console)


def _print_values(series: MetricHistory, console: Console) -> None:
    shown = series.points[-_MAX_VALUES:]
    lines = []
    for point in shown:
        interval = interval_text(point.value, point.ci, series.key.unit)
        relative = _share(point.value / series.usual) if series.usual else "–"
        value = quantity(point.value, series.key.unit)
        lines.append(_line(f"{point.started:.16} {point.path}".replace("T", " ", 1), value, interval, relative))
    headings = (series.key.metric, "95 %", "vs. usual")
    console.print()
    _print_lines(lay_out(headings, lines, console.width, "started, file"), console)
    if len(shown) < len(series.points):
        console.print(f"and {len(series.points) - len(shown)} earlier runs; --json lists all")
