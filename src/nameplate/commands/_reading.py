"""Read the runs that commands take, from run files, from HTML reports, and from outputs of other tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nameplate.errors import UsageError
from nameplate.records.inputs import files_in, is_folder, modified_s, read_head
from nameplate.records.result import Report
from nameplate.results.cached_report import report_of

_RECORD_START = b'{"type":'


def read_reports(paths: Iterable[Path]) -> list[Report]:
    """Return all runs of the files, in the order of ``paths`` and, within a file, in the order of the file.

    A path is one of these:

    - a run file; a run that is incomplete or was interrupted is returned as well
    - an HTML report (``.html`` or ``.htm``), which contains its runs; their host names are aliases, unless the report
      was written with ``--identify``
    - the output of another tool
    - a folder with run files, for the run file that was written last
    - a folder with outputs of another tool, which are one run

    Raises FileError if a file cannot be read or is of no known kind.
    """
    return [report for path in paths for report in _runs_in(path)]


def read_report(path: Path) -> Report:
    """Return the only run of a file or folder of any kind that ``read_reports`` reads.

    Raises FileError if it cannot be read, and UsageError if it does not have exactly one run.
    """
    return the_only(_runs_in(path), path)


def the_only(reports: Sequence[Report], path: Path) -> Report:
    """Return the only one of the runs in the file or folder ``path``.

    Raises UsageError if there is not exactly one.
    """
    if len(reports) != 1:
        raise UsageError(
            f"{path} has {len(reports)} runs, but one is needed: give the run file of one; nameplate show lists all"
        )
    return reports[0]


def _runs_in(path: Path) -> list[Report]:
    if path.suffix.lower() in (".html", ".htm"):
        from nameplate.report.html.embed import read_embedded  # noqa: PLC0415 (charts take a second to import)

        return read_embedded(path)
    run = _newest_run(path) if is_folder(path) else path
    # Any *.jsonl file counts as a run file, so that errors in it are reported as such.
    if run is not None and (run.suffix == ".jsonl" or read_head(run, len(_RECORD_START)) == _RECORD_START):
        return [report_of(run)]
    from nameplate.tools.imported_run import read_imported  # noqa: PLC0415 (run files need none of the tools)

    return [read_imported(path)]


def _newest_run(folder: Path) -> Path | None:
    """Return the run file that was written last in a folder, without its subfolders; None if it has no run file."""
    runs = [path for path in files_in(folder) if path.suffix == ".jsonl" and not path.name.startswith(".")]
    return max(runs, key=lambda path: (modified_s(path), path.name), default=None)
