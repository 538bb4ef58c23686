"""Read the runs that commands take: run files, reports, which contain their runs, and outputs of other tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nameplate.errors import UsageError
from nameplate.records.inputs import files_in, is_folder, modified_s, read_head
from nameplate.records.result import Report
from nameplate.results.cached_report import report_of
from nameplate.tools.imported_run import read_imported

_BEGINNING = b'{"type":'


def read_reports(paths: Iterable[Path]) -> list[Report]:
    """Return all runs of the files, in the order of ``paths`` and within a file in its order.

    A path is a run file, an HTML report with its runs (``.html`` or ``.htm``), the output of another tool, a folder
    with run files, of which the one that was last written is read, or a folder of outputs, which is one run. Runs of an
    HTML report have aliases as host names, unless it was written with ``--identify``. Raises FileError for a file that
    cannot be read or is of no known kind. A run that is incomplete or
    was interrupted is returned, too.
    """
    return [report for path in paths for report in _runs_in(path)]


def read_report(path: Path) -> Report:
    """Return the run of a file, which may be of any kind that ``read_reports`` reads.

    Raises FileError if it cannot be read, UsageError if it does not have exactly one run.
    """
    reports = _runs_in(path)
    if len(reports) != 1:
        raise UsageError(
            f"{path} has {len(reports)} runs, but one is needed: use a run file, or --format table to show all"
        )
    return reports[0]


def _runs_in(path: Path) -> list[Report]:
    if path.suffix.lower() in (".html", ".htm"):
        from nameplate.report.html.embed import read_embedded  # noqa: PLC0415 (charts take a second to import)

        return read_embedded(path)
    if is_folder(path):
        newest = _newest_run(path)
        return [report_of(newest) if newest else read_imported(path)]
    return [report_of(path) if _may_be_run_file(path) else read_imported(path)]


def _newest_run(folder: Path) -> Path | None:
    """Return the run file in the folder that was last written, not in its subfolders; None if it has none."""
    runs = [path for path in files_in(folder) if path.suffix == ".jsonl" and not path.name.startswith(".")]
    return max(runs, key=lambda path: (modified_s(path), path.name), default=None)


def _may_be_run_file(path: Path) -> bool:
    """Return whether to read a file as a run file: any ``*.jsonl`` file, so that errors in it are reported as such."""
    if path.suffix == ".jsonl":
        return True
    return read_head(path, len(_BEGINNING)) == _BEGINNING
