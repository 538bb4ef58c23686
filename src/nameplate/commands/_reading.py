"""What commands take as runs: a run file, a report, which has its runs inside, or outputs of other tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nameplate.errors import UsageError
from nameplate.records.inputs import read_head
from nameplate.records.model import Report
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.tools.imported_run import read_imported

_BEGINNING = b'{"type":'


def read_reports(paths: Iterable[Path]) -> list[Report]:
    """All runs of these files, in order; those of an HTML report have aliases for their hosts. Raises FileError."""
    return [report for path in paths for report in _runs_in(path)]


def read_report(path: Path) -> Report:
    """The only run of a file. Raises FileError or UsageError."""
    reports = _runs_in(path)
    if len(reports) != 1:
        raise UsageError(
            f"{path} holds {len(reports)} runs, and here one is wanted: show their tables, or name a run file"
        )
    return reports[0]


def _runs_in(path: Path) -> list[Report]:
    if path.suffix.lower() in (".html", ".htm"):
        from nameplate.report.html.embed import read_embedded  # noqa: PLC0415 (charts take a second to import)

        return read_embedded(path)
    if path.is_dir() or not _may_be_run_file(path):
        return [read_imported(path)]
    return [summarise(read_run(path))]


def _may_be_run_file(path: Path) -> bool:
    """What is called one is taken for one, so that what is wrong with it is said of a run file."""
    if path.suffix == ".jsonl":
        return True
    return read_head(path, len(_BEGINNING)) == _BEGINNING
