"""What commands take as runs: a run file, or an HTML report, which has its runs inside."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nameplate.errors import UsageError
from nameplate.model import Report
from nameplate.store import read_run
from nameplate.summarise import summarise


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
    if path.suffix.lower() not in (".html", ".htm"):
        return [summarise(read_run(path))]
    from nameplate.report.embed import read_embedded  # noqa: PLC0415 (charts take a second to import)

    return read_embedded(path)
