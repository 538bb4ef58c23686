"""Write the HTML report: one offline file with values, charts, tables and the data of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nameplate.records.atomic_write import write_whole
from nameplate.records.replaceable import marked
from nameplate.records.result import Report
from nameplate.report.content.aliases import hider_of, without_names
from nameplate.report.content.judgement import MachineJudgement
from nameplate.report.html.cards import WholeCharts
from nameplate.report.html.judged_tile import make_judged_tile
from nameplate.report.html.page import Detail, render

QUICK_LIMIT = 1_500_000
# For longer plans: `full` has ten times as many experiments.
SIZE_LIMIT = 2_500_000

# In order of decreasing size; the first one below the limit is written.
DETAILS = (Detail(2000, True), Detail(500, True), Detail(200, True), Detail(200, False), Detail(60, False))


def write_html(
    reports: Sequence[Report],
    path: Path,
    identify: bool = False,
    judgements: Sequence[MachineJudgement | None] = (),
    force: bool = False,
) -> None:
    """Write the report of one or several runs to ``path`` as one HTML file, completely or not at all.

    An earlier report is replaced, with ``force`` also another file. The runs are shown in the order of ``reports``,
    which has at least one. Unless ``identify`` is true, hosts are called "machine 1", "machine 2" in the order in which
    they first appear, and addresses, UUIDs and home directories are replaced. ``judgements`` has an item for each
    report, or none at all.

    The file has at most ``SIZE_LIMIT`` bytes, or ``QUICK_LIMIT`` if all runs are of the plan quick. To stay below,
    charts over time get fewer points, and then the embedded data have no single samples, which the page says. If even
    that is too large, the smallest version is written.

    Raises:
        FileError: the file cannot be written, may not be replaced, or is not a regular file.
    """
    named = list(reports) if identify else without_names(reports)
    hide = str if identify else hider_of(reports)
    judged = [
        make_judged_tile(report, judgement, hide) if judgement else None
        for report, judgement in zip(reports, judgements or [None] * len(reports), strict=True)
    ]
    limit = QUICK_LIMIT if all(report.run.plan.name == "quick" for report in reports) else SIZE_LIMIT
    charts: dict[str, WholeCharts] = {}
    for detail in _different_details(reports):
        page = marked(render(named, detail, judged, charts).encode(), b"<!-- ", b" -->")
        if len(page) <= limit:
            break
    write_whole(page, path, force)


def _different_details(reports: Sequence[Report]) -> list[Detail]:
    """Return the details that may give different pages, in the order of ``DETAILS``: short series keep all points."""
    longest = max((len(result.series.value) for report in reports for result in report.results), default=0)
    by_effect = {(min(each.points, longest), each.has_samples): each for each in DETAILS}
    return list(by_effect.values())
