"""Write the HTML report: one file that works offline, with the values, charts, tables and data of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nameplate.records.atomic_write import write_atomically
from nameplate.records.replaceable import marked
from nameplate.records.result import Report
from nameplate.report.content.aliases import hider_of, without_names
from nameplate.report.content.judgement import MachineJudgement
from nameplate.report.html.cards import FullCharts
from nameplate.report.html.judged_tile import make_judged_tile
from nameplate.report.html.page import Detail, render

QUICK_LIMIT = 1_500_000
# The limit for longer plans; `full` has ten times as many experiments as `quick`.
SIZE_LIMIT = 2_500_000

# The versions of a page, the largest first; the first one below the limit is written.
DETAILS = (Detail(2000, True), Detail(500, True), Detail(200, True), Detail(200, False), Detail(60, False))


def write_html(
    reports: Sequence[Report],
    path: Path,
    identify: bool = False,
    judgements: Sequence[MachineJudgement | None] = (),
    force: bool = False,
) -> None:
    """Write the report on one or several runs to ``path`` as one HTML file, completely or not at all.

    - ``reports``: the runs in the order of the page, at least one
    - ``identify``: whether to show names. Otherwise hosts are called "machine 1", "machine 2" in the order of their
      first appearance, and addresses, UUIDs and home directories are replaced.
    - ``judgements``: the comparison of each run's machine with its expected ranges, or None; empty if there are none
    - ``force``: whether a file that is not an earlier report may be replaced; run files are never replaced

    The file has at most 2.5 MB (``SIZE_LIMIT``), or 1.5 MB (``QUICK_LIMIT``) if all runs have the plan "quick". To stay
    below, charts over time get fewer points, and then the single samples are left out of the embedded data, which the
    page says. If the smallest version is still larger, it is written anyway.

    Raises:
        ValueError: ``judgements`` is neither empty nor as long as ``reports``.
        FileError: the file cannot be written, may not be replaced, or is not a regular file.
    """
    named = list(reports) if identify else without_names(reports)
    hide = str if identify else hider_of(reports)
    judged = [
        make_judged_tile(report, judgement, hide) if judgement else None
        for report, judgement in zip(reports, judgements or [None] * len(reports), strict=True)
    ]
    limit = QUICK_LIMIT if all(report.run.plan.name == "quick" for report in reports) else SIZE_LIMIT
    charts: dict[str, FullCharts] = {}
    # Details that differ only in a number of points above that of all series give the same page.
    longest = max((len(result.series.value) for report in reports for result in report.results), default=0)
    by_effect = {(min(detail.points, longest), detail.has_samples): detail for detail in DETAILS}
    for detail in by_effect.values():
        page = marked(render(named, detail, judged, charts).encode(), b"<!-- ", b" -->")
        if len(page) <= limit:
            break
    write_atomically(page, path, force)
