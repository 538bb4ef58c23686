"""Print a folder's runs over time."""

from __future__ import annotations

from collections import Counter
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
from nameplate.statistics.trends import MIN_RUNS

# Colours mean better and worse, never larger and smaller.
_STYLES = {"FASTER": "green", "SLOWER": "red"}
_STRIP = 24
_MAX_FILES = 5
_MAX_VALUES = 40
_MAX_METRICS = 12
# A run's worst metric is named only if its value is below this share of the usual value.
_WORTH_NAMING = 0.97


def print_overview(
    entries: Sequence[Entry],
    rows: Sequence[RunRow],
    changes: Sequence[ChangeReport],
    names: MetricNames,
    console: Console,
) -> None:
    """Print the number of runs and their period, what changed in them, and a table of the runs in ``rows``.

    ``entries`` are all selected runs in the order of their starts, at least one. ``rows`` (from ``run_rows``) are the
    runs to list, usually the latest. ``changes`` are from ``change_reports``, and ``names`` is made from all metrics of
    the folder. The table shows the median, over the metrics of a run, of value ÷ usual value − 1 in percent, positive
    if better; the usual value is the median over the runs of the machine. It names the worst metric of a run if it is
    more than 3 % worse than usual.
    """
    machines = {entry.machine for entry in entries}
    first, latest = entries[0].started, entries[-1].started
    console.print(f"{count(len(entries), 'run')} of {count(len(machines), 'machine')}, {first:.10} to {latest:.10}")
    judged = Counter(entry.machine for entry in entries if not entry.slowed)
    print_changes(changes, names, max(judged.values(), default=0), console)
    heading = "runs" if len(rows) == len(entries) else f"the latest {len(rows)} of {len(entries)} runs"
    console.print(Text(f"\n{heading}", style="bold"))
    _print_runs(rows, names, console)


def print_changes(changes: Sequence[ChangeReport], names: MetricNames, n_runs: int, console: Console) -> None:
    """Print the changes in groups, each with the settings of the machine that changed at the same time.

    Adjacent changes of the same machine, kind, time and verdict form a group, so ``changes`` must be in the order of
    ``change_reports``. A group shows at most twelve metrics, each with its change in percent and its values before and
    after the change. If ``changes`` is empty, a line says that no metric changed, or that ``n_runs``, the largest
    number of runs of a machine, are too few to know. ``names`` is made from all metrics of the folder.
    """
    if not changes and n_runs < MIN_RUNS:
        console.print(f"\n{count(n_runs, 'run')} of a machine: {MIN_RUNS} are needed to see a change of its level")
    elif not changes:
        console.print("\nno metric changed its level or drifts")
    groups = groupby(
        changes, key=lambda change: (change.machine, change.kind, change.until, change.since, change.verdict)
    )
    for (machine, kind, _, _, verdict), group in groups:
        changes_of_group = list(group)
        when = f"since {changes_of_group[0].since_started:.10}, {count(changes_of_group[0].runs, 'run')}"
        if kind == "drift":
            when = f"gradually from {changes_of_group[0].until_started:.10} to {changes_of_group[0].since_started:.10}"
        console.print(Text.assemble("\n", (verdict, _STYLES[verdict]), f" {machine} {when}"))
        _print_lines(_changes(changes_of_group[:_MAX_METRICS], names, console.width), console)
        if len(changes_of_group) > _MAX_METRICS:
            console.print(f"  and {len(changes_of_group) - _MAX_METRICS} more metrics")
        for setting in changes_of_group[0].settings:
            console.print(Text(f"  with {setting.name}: {setting.base} → {setting.new}", style="bold"))


def _changes(changes: Sequence[ChangeReport], names: MetricNames, width: int) -> Iterator[Text]:
    for change in changes:
        before, after = (quantity(value, change.key.unit) for value in (change.before, change.after))
        text = f"{_share(change.after / change.before):>8}  {before} → {after}  {names.of(change.key)}"
        yield from wrapped(text, width, "          ", "  ")


def _print_lines(lines: Iterable[Text], console: Console) -> None:
    for line in lines:
        console.print(line)


def _line(label: str, *cells: str) -> Line:
    return Line(label, tuple(map(Text, cells)))


def _print_runs(rows: Sequence[RunRow], names: MetricNames, console: Console) -> None:
    lines = [
        _line(f"{row.started:.16} {row.path}".replace("T", " ", 1)
              + " (unfinished)" * row.unfinished + " (not judged)" * bool(row.slowed),
              row.machine, row.plan, str(row.metrics), _share(row.relative_to_typical))
        for row in rows
    ]  # fmt: skip
    _print_lines(lay_out(("machine", "plan", "metrics", "vs. usual"), lines, console.width, "started, file"), console)
    worst = [(row, row.worst, row.worst_relative_to_typical) for row in rows if not row.slowed]
    outliers = [(row.path, key, ratio) for row, key, ratio in worst if key and ratio and ratio < _WORTH_NAMING]
    if outliers:
        console.print(Text("\nthe worst metric of a run, if it is more than 3 % worse than usual", style="bold"))
    for path, key, ratio in outliers:
        # The ratio is below 1 for a longer time, too; the change is that of the value.
        change = _share(ratio if key.better == "higher" else 1 / ratio)
        console.print(Text(f"  {path}: {change} {names.of(key)}", style="dim"))


def _share(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio - 1:+.1%}".replace("%", " %").replace("-", "−")


def print_not_read(entries: Iterable[Entry], console: Console) -> None:
    """Print how many files could not be read as runs, and the reasons for the first five of these files.

    ``entries`` are all files of the folder; those without a ``reason`` were read. If all were read, nothing is printed.
    """
    _print_files("could not be read", [entry.reason for entry in entries if entry.reason], console)


def print_slowed(entries: Iterable[Entry], console: Console) -> None:
    """Print how many runs a quota or other programs slowed down, and the first five of them with the reason.

    ``entries`` are all files of the folder. Without such runs, nothing is printed.
    """
    slowed = [f"{entry.path}: {entry.slowed}" for entry in entries if entry.slowed]
    _print_files("not judged and not counted for changes and usual values", slowed, console)


def print_copies(entries: Iterable[Entry], console: Console) -> None:
    """Print how many files are copies of runs in other files, and the first five of them with the original's path.

    ``entries`` are all files of the folder; those without ``copy_of`` are no copies. Without copies, nothing is
    printed.
    """
    copies = [f"{entry.path}: the run of {entry.copy_of}" for entry in entries if entry.copy_of]
    _print_files("left out: the same run as another file", copies, console)


def _print_files(heading: str, lines: Sequence[str], console: Console) -> None:
    """Print a heading with the number of ``lines``, each about a file, and the first five of them; nothing without."""
    if not lines:
        return
    console.print(Text(f"\n{count(len(lines), 'file')} {heading}", style="bold"))
    for line in lines[:_MAX_FILES]:
        console.print(Text(f"  {line}"))
    if len(lines) > _MAX_FILES:
        console.print(f"  and {len(lines) - _MAX_FILES} more; --json lists all")


def print_series(
    series: Sequence[MetricHistory], changes: Sequence[ChangeReport], names: MetricNames, console: Console
) -> None:
    """Print for each metric a table with a line per machine, and then the changes of these metrics.

    ``series`` is from ``series_of``: entries of the same metric are adjacent, and each entry has at least one run. A
    line has the number of runs, their median, the latest value and a bar chart of the latest 24 runs. If ``series``
    has only one entry (one metric on one machine), its latest 40 values follow with their 95 % intervals. ``changes``
    are the changes of these metrics, from ``change_reports``; ``names`` is made from all metrics of the folder.
    """
    for key, group in groupby(series, key=lambda metric: metric.key):
        console.print(Text(names.of(key), style="bold"))
        lines = []
        for metric in group:
            values = [point.value for point in metric.points]
            lines.append(
                _line(metric.machine, str(len(values)), quantity(metric.typical, key.unit),
                      quantity(values[-1], key.unit), bars(values[-_STRIP:]))
            )  # fmt: skip
        headings = ("runs", "usual", "latest", "latest runs")
        _print_lines(lay_out(headings, lines, console.width, "machine"), console)
    if len(series) == 1:
        _print_values(series[0], console)
    print_changes(changes, names, max((len(metric.points) for metric in series), default=0), console)


def _print_values(series: MetricHistory, console: Console) -> None:
    points = series.points[-_MAX_VALUES:]
    lines = []
    for point in points:
        interval = interval_text(point.value, point.ci, series.key.unit)
        relative = _share(point.value / series.typical) if series.typical else "–"
        value = quantity(point.value, series.key.unit)
        lines.append(_line(f"{point.started:.16} {point.path}".replace("T", " ", 1), value, interval, relative))
    headings = (series.key.metric, "95 %", "vs. usual")
    console.print()
    _print_lines(lay_out(headings, lines, console.width, "started, file"), console)
    if len(points) < len(series.points):
        console.print(f"and {len(series.points) - len(points)} earlier runs; --json lists all")
