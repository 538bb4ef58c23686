"""Say what the runs of a comparison are, where they are outputs of other tools, and what of these is not read."""

from __future__ import annotations

from collections.abc import Iterable

from nameplate.records.result import Report


def input_notes(runs: Iterable[tuple[str, Report]]) -> list[str]:
    """Return the notes of all runs that were read from outputs of other tools, each after the name of its run.

    They name the files, the parts and files that are not read, and what limited a value.
    """
    return [f"{name}: {note}" for name, report in runs if report.imported for note in report.notes]


def numbered(reports: Iterable[Report]) -> list[tuple[str, Report]]:
    """Return runs with names by their position: "run 1" and so on."""
    return [(run_name(index), report) for index, report in enumerate(reports)]


def run_name(index: int) -> str:
    """Return the name of the run at an index, from 0, of several runs that are compared."""
    return f"run {index + 1}"
