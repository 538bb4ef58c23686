"""List the charts of a run, each with a file name and a title that is complete without the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nameplate.records.result import Report
from nameplate.report.charts.common import Chart
from nameplate.report.content.experiments import ALL_COMMON
from nameplate.report.html.page import Detail, PageSection, make_sections

# One day with a sample per second; longer series are thinned.
_MAX_POINTS = 100_000
_LONGEST_NAME = 80


@dataclass(frozen=True)
class NamedChart:
    """A chart of the report with a file name and a complete title.

    - ``part``: the part of the page: "roofline", "nodes", "study", the name of a probe, or the name followed by " over
      time"
    - ``name``: a file name without suffix of lower-case letters, digits and hyphens, for example
      ``memory-latency-latency-against-size``. It ends in ``-2``, ``-3`` and so on if earlier charts have the same name.
    - ``title``: a title that is complete without the page, unlike ``chart.title``; that of a study's chart begins with
      the name of the plan
    """

    part: str
    name: str
    title: str
    chart: Chart


def named_charts(report: Report) -> list[NamedChart]:
    """Return all charts of the report on one run, in the order of the page; see ``named_charts_of``."""
    return named_charts_of([report])[0]


def named_charts_of(reports: Sequence[Report]) -> list[list[NamedChart]]:
    """Return all charts of the report on one or several runs: one list per run, in the order of the page.

    Charts of the same values have the same axes in all runs. The list of a run without charts is empty. A chart over
    time has at most 100,000 points; ``thin`` chooses the points of longer series.
    """
    charts: list[Chart] = []
    sections = make_sections(reports, Detail(_MAX_POINTS, has_samples=True), charts)
    return [_named(section, charts) for section in sections]


def _named(section: PageSection, charts: Sequence[Chart]) -> list[NamedChart]:
    seen: Counter[str] = Counter()
    named = []
    for position, label in sorted(section.places()):
        part, heading = label
        of_study = section.study.plan if section.study and part == "study" else part
        title = ": ".join(text for text in (of_study, heading) if text not in ("", ALL_COMMON))
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_LONGEST_NAME].rstrip("-")
        seen[name] += 1
        named.append(NamedChart(part, name if seen[name] == 1 else f"{name}-{seen[name]}", title, charts[position]))
    return named
