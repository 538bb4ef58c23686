"""The HTML report: one offline file with figures, charts, tables and the run's data inside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nameplate.records.atomic_write import write_whole
from nameplate.records.model import Report
from nameplate.report.aliases import without_names
from nameplate.report.html.page import Detail, render

QUICK_LIMIT = 1_500_000
# Of anything longer: the plan `full` has ten times as many cells.
SIZE_LIMIT = 2_500_000

# From the fullest to the smallest: the first that stays below the limit is written.
DETAILS = (Detail(2000, True), Detail(500, True), Detail(200, True), Detail(200, False), Detail(60, False))


def write_html(reports: Sequence[Report], path: Path, identify: bool = False) -> None:
    """Writes a report of one or several runs, whole or not at all. Raises FileError.

    Hosts are called "machine 1", "machine 2" unless ``identify``.

    It stays below ``SIZE_LIMIT``, of the plan quick below ``QUICK_LIMIT``, by drawing fewer points, and, for very long
    runs, by leaving single samples out of the embedded data; the page says so.
    """
    named = list(reports) if identify else without_names(reports)
    limit = QUICK_LIMIT if all(report.run.plan.name == "quick" for report in reports) else SIZE_LIMIT
    for detail in DETAILS:
        page = render(named, detail).encode()
        if len(page) <= limit:
            break
    write_whole(page, path)
