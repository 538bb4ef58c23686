"""Run ``nameplate history`` after its options have been checked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from nameplate.commands._fleet import addresses_below, show_files_read
from nameplate.control_characters import escape_in_json
from nameplate.errors import FileError, InputError, UsageError
from nameplate.history.changes import change_reports, metrics_named, run_rows, runs_of, series_of, significant_changes
from nameplate.history.index import Index, load_index, save_index
from nameplate.history.update import run_files, updated
from nameplate.records.run_record import SCHEMA
from nameplate.report.content.metric_names import MetricNames
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.history import print_copies, print_not_read, print_overview, print_series, print_slowed


class HistoryView:
    """A selected part of the runs in a folder: some metrics or all of them, on one machine or on all.

    - ``folder``: the folder with the run files
    - ``terms``: the strings that select the metrics to follow from run to run. A metric is selected if it matches every
      term: a probe, an area such as memory, a metric, or ``name=value`` for a parameter. Without terms no metric is
      followed, and the changes of all metrics are shown
    - ``machine``: the name of a host or of a node of a job, or the host list of a job; None means all machines

    The folder's index is updated and saved first, which may take a minute; progress is shown if standard error is a
    terminal. If the index cannot be saved, a warning goes to standard error.

    Raises:
        FileError: none of the folder's run files can be read.
        UsageError: the folder has no run files, no metric matches the terms, or there is no run of the machine.
    """

    def __init__(self, folder: Path, terms: Sequence[str], machine: str | None) -> None:
        index = _current(folder)
        try:
            self._select(folder, index, terms, machine)
        except InputError:
            print_not_read(index.entries, make_console(stderr=True))  # unread files may be the cause
            raise

    def _select(self, folder: Path, index: Index, terms: Sequence[str], machine: str | None) -> None:
        if not any(entry.started for entry in index.entries):
            if index.entries:
                raise FileError(f"{folder}: none of its run files could be read ({index.entries[0].reason})")
            raise UsageError(f"{folder} has no run: write one with nameplate run -o {folder}/NAME.jsonl")
        self._index = index
        self._machine = machine
        self._runs = runs_of(index, machine)
        self._names = MetricNames(index.metrics)
        metrics = metrics_named(index, terms) if terms else None
        self._series = [] if metrics is None else series_of(index, metrics, machine)
        if terms and not self._series:
            where = f"on {machine}; leave out --machine to see where it was" if machine else "in any run of the folder"
            raise UsageError(f"{' '.join(terms)}: not measured {where}")
        changes = [
            change
            for change in significant_changes(index)
            if (metrics is None or change.metric in metrics) and machine in (None, index.machines[change.machine])
        ]
        self._changes = change_reports(index, changes, folder)

    def draw(self, path: Path, force: bool = False) -> None:
        """Draw the metrics that the terms select into a picture, with one chart of each metric over time.

        The suffix of ``path``, .svg, .pdf or .png, chooses the format. An earlier picture of nameplate is replaced;
        with ``force``, any file is replaced that is not a run file. The view must have terms.

        Raises:
            UsageError: the suffix is another one, or more than 30 metrics are selected.
            FileError: the file cannot be written or may not be replaced.
        """
        from nameplate.report.chart_files.history import write_series  # noqa: PLC0415 (charts take a second to import)

        write_series(self._series, self._changes, self._names, path, force)

    def print_json(self) -> None:
        """Print to standard output a JSON object with the runs, changes and series, and with files that were left out.

        - ``schema``: the version of the format
        - ``runs``: all runs of the machine
        - ``changes``: the changes of the selected metrics, or of all metrics without terms
        - ``series``: the values of the selected metrics; empty without terms
        - ``copies``: for each run file that repeats the run of another file, its ``path`` and the path of the other
          file, ``of``
        - ``not_read``: for each file that could not be read, its ``path`` and the ``reason``
        """
        not_read = [{"path": entry.path, "reason": entry.reason} for entry in self._index.entries if entry.reason]
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "runs": run_rows(self._index, self._runs, self._machine),
            "changes": self._changes,
            "series": self._series,
            "copies": [{"path": entry.path, "of": entry.copy_of} for entry in self._index.entries if entry.copy_of],
            "not_read": not_read,
        }
        sys.stdout.write(escape_in_json(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()) + "\n")

    def print_metrics(self, console: Console) -> None:
        """Print to ``console`` each metric that the terms select, with a line per machine, and the metrics' changes.

        A line has the number of runs, the median of their values and the latest value. If the terms select one metric
        of one machine, the value of each run follows. The files that could not be read come last. Without terms no
        metric is printed.
        """
        print_series(self._series, self._changes, self._names, console)
        self._print_left_out(console)

    def print_overview(self, console: Console, last: int) -> None:
        """Print to ``console`` the changes, the latest runs, and the files that could not be read.

        ``last`` is the maximum number of runs to print, 1 or more. The runs and the changes are those of the selected
        machine.
        """
        entries = [self._index.entries[index] for index in self._runs]
        rows = run_rows(self._index, self._runs[-last:], self._machine)
        print_overview(entries, rows, self._changes, self._names, console)
        self._print_left_out(console)

    def _print_left_out(self, console: Console) -> None:
        print_slowed(self._index.entries, console)
        print_copies(self._index.entries, console)
        print_not_read(self._index.entries, console)


def _current(folder: Path) -> Index:
    files = run_files(folder)
    # Hosts of a fleet may have the same host name, and keep their address when they start anew.
    addresses = {str(path.relative_to(folder)): address for path, address in addresses_below(folder).items()}
    files = [msgspec.structs.replace(file, machine=addresses.get(file.path, "")) for file in files]
    before = load_index(folder)
    index = updated(before, folder, files, show_files_read)
    if index is not before:
        try:
            save_index(index, folder)
        except FileError as error:
            print(f"nameplate: {error}", file=sys.stderr)
    return index
