"""Run ``nameplate history`` after its options have been checked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from nameplate.control_characters import escape_in_json
from nameplate.errors import FileError, InputError, UsageError
from nameplate.history.changes import change_reports, changes_found, metrics_named, run_rows, runs_of, series_of
from nameplate.history.index import Index, load_index, save_index
from nameplate.history.update import run_files, updated
from nameplate.records.run_record import SCHEMA
from nameplate.report.content.metric_names import MetricNames
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.history import print_copies, print_not_read, print_overview, print_series


class Look:
    """The selected part of a folder of runs: some metrics or all, of one machine or of all.

    ``words`` select the metrics that match each of them: a probe, an area such as memory, a metric, or ``name=value``
    for a parameter; without words no metric is followed from run to run, and the changes are those of all metrics.
    ``machine`` is the name of a host or of a job's node, or the host list of a job, None for all. The folder's index is
    updated and saved first, which may take a minute and shows its progress if standard error is a terminal. If it
    cannot be saved, a warning goes to standard error.

    Raises FileError if none of its run files can be read, UsageError if it has none, or no metric matches the words, or
    there is no run of the machine.
    """

    def __init__(self, folder: Path, words: Sequence[str], machine: str | None) -> None:
        index = _current(folder)
        try:
            self._select(folder, index, words, machine)
        except InputError:
            print_not_read(index.entries, make_console(stderr=True))  # which may be why
            raise

    def _select(self, folder: Path, index: Index, words: Sequence[str], machine: str | None) -> None:
        if not any(entry.started for entry in index.entries):
            if index.entries:
                raise FileError(f"{folder}: none of its run files could be read ({index.entries[0].reason})")
            raise UsageError(f"{folder} has no run: write one with nameplate run -o {folder}/NAME.jsonl")
        self._index = index
        self._machine = machine
        self._runs = runs_of(index, machine)
        self._names = MetricNames(index.metrics)
        metrics = metrics_named(index, words) if words else None
        self._series = [] if metrics is None else series_of(index, metrics, machine)
        if words and not self._series:
            where = f"on {machine}; leave out --machine to see where it was" if machine else "in any run of the folder"
            raise UsageError(f"{' '.join(words)}: not measured {where}")
        changes = [
            change
            for change in changes_found(index)
            if (metrics is None or change.metric in metrics) and machine in (None, index.machines[change.machine])
        ]
        self._changes = change_reports(index, changes, folder)

    def draw(self, path: Path, force: bool = False) -> None:
        """Draw the metrics that the words select over time into ``path``, an SVG, PDF or PNG file by its suffix.

        With ``force``, it replaces any file that is no run file.

        There must be words. Raises UsageError for a suffix other than .svg, .pdf and .png or more than 30 metrics,
        FileError if the file cannot be written.
        """
        from nameplate.report.chart_files.history import write_series  # noqa: PLC0415 (charts take a second to import)

        write_series(self._series, self._changes, self._names, path, force)

    def print_json(self) -> None:
        """Print to standard output a JSON object with the runs, changes, series and files that could not be read.

        Its keys are ``schema``, ``runs`` (all runs of the machine), ``changes`` (of the selected metrics), ``series``
        (the selected metrics; empty without words), ``copies`` (path and the path of the same run) and ``not_read``
        (path and reason).
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
        """Print each metric that the words select to ``console``, with a line per machine, and the metrics' changes.

        A line has the number of runs, the usual value and the latest one. For a single metric of a single machine, the
        values of the runs follow, and then the files that could not be read. Without words there is no metric.
        """
        print_series(self._series, self._changes, self._names, console)
        self._print_left_out(console)

    def print_overview(self, console: Console, last: int) -> None:
        """Print the changes, the ``last`` runs (1 or more), and the files that could not be read to ``console``.

        The runs and the changes are those of the selected machine; with fewer runs than ``last``, all are printed.
        """
        entries = [self._index.entries[place] for place in self._runs]
        rows = run_rows(self._index, self._runs[-last:], self._machine)
        print_overview(entries, rows, self._changes, self._names, console)
        self._print_left_out(console)

    def _print_left_out(self, console: Console) -> None:
        print_copies(self._index.entries, console)
        print_not_read(self._index.entries, console)


def _current(folder: Path) -> Index:
    found = run_files(folder)
    before = load_index(folder)
    index = updated(before, folder, found, _on_files)
    if index is not before:
        try:
            save_index(index, folder)
        except FileError as error:
            print(f"nameplate: {error}", file=sys.stderr)
    return index


def _on_files(done: int, files: int) -> None:
    """Show the progress of reading on a terminal, since many files take a minute."""
    if sys.stderr.isatty():
        end = "\n" if done == files else ""
        print(f"\rreading runs: {done} of {files}", end=end, file=sys.stderr, flush=True)
