"""Write the HTML report: one offline file with values, charts, tables and the data of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nameplate.records.atomic_write import write_whole
from nameplate.records.model import Report
from nameplate.report.aliases import without_names
from nameplate.report.html.page import Detail, render

QUICK_LIMIT = 1_500_000
# For longer plans: `full` has ten times as many experiments.
SIZE_LIMIT = 2_500_000

# In order of decreasing size; the first one below the limit is written.
DETAILS = (Detail(2000, True), Detail(500, True), Detail(200, True), Detail(200, False), Detail(60, False))


def write_html(reports: Sequence[Report], path: Path, identify: bool = False) -> None:
    """Write a report of one or several runs, completely or not at all.

    Hosts are called "machine 1", "machine 2" unless ``identify`` is true. The file stays below ``SIZE_LIMIT``, or below
    ``QUICK_LIMIT`` for the plan quick: charts get fewer points, and for very long runs the embedded data have no single
    samples, which the page then says.

    Raises:
        FileError: the file cannot be written.
    """
    named = list(reports) if identify else without_names(reports)
    limit = QUICK_LIMIT if all(report.run.plan.name == "quick" for report in reports) else SIZE_LIMIT
    for detail in DETAILS:
        page = render(named, detail).encode()
        if len(page) <= limit:
            break
    write_whole(page, path)
