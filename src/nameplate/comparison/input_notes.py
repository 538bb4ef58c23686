"""Name the runs of a comparison, and list the notes on runs that were read from other tools' outputs."""

from __future__ import annotations

from collections.abc import Iterable

from nameplate.records.result import Report


def input_notes(runs: Iterable[tuple[str, Report]]) -> list[str]:
    """Return the notes of all runs that were read from other tools' outputs, each as ``name: note``.

    ``runs`` are (name, report). The notes name the files, the parts of them that were not read, and limits of a value.
    Runs of nameplate have none.
    """
    return [f"{name}: {note}" for name, report in runs if report.imported for note in report.notes]


def numbered(reports: Iterable[Report]) -> list[tuple[str, Report]]:
    """Return (name, report) for each report, with the names "run 1", "run 2" and so on."""
    return [(run_name(index), report) for index, report in enumerate(reports)]


def run_name(index: int) -> str:
    """Return the name of one of several compared runs: "run 1" for ``index`` 0."""
    return f"run {index + 1}"
