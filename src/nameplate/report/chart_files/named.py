"""List the charts of one run, each with a file name and a title that is complete without the page around it."""

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

    ``part`` is "roofline", "nodes", "study", the name of a probe, or the name followed by " over time" for samples over
    time. ``name`` is the file name without a suffix. It consists of lower-case letters, digits and hyphens, such as
    ``memory-latency-latency-against-size``, and ends in ``-2``, ``-3`` if earlier charts have the same name. ``title``
    is complete without the page around the chart, unlike the title of ``chart``.
    """

    part: str
    name: str
    title: str
    chart: Chart


def named_charts(report: Report) -> list[NamedChart]:
    """Return all charts of the report on one run, in the order of the page, as ``named_charts_of`` does."""
    return named_charts_of([report])[0]


def named_charts_of(reports: Sequence[Report]) -> list[list[NamedChart]]:
    """Return all charts of the report on one or several runs, by run and in the order of the page.

    The list of a run is empty if the page would have no chart of it. A chart over time has at most 100000 points;
    longer series are thinned.
    """
    charts: list[Chart] = []
    sections = make_sections(reports, Detail(_MAX_POINTS, has_samples=True), charts)
    return [_named(section, charts) for section in sections]


def _named(section: PageSection, charts: Sequence[Chart]) -> list[NamedChart]:
    seen: Counter[str] = Counter()
    named = []
    for place, words in sorted(section.places()):
        title = ": ".join(part for part in words if part not in ("", ALL_COMMON))
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_LONGEST_NAME].rstrip("-")
        seen[name] += 1
        named.append(NamedChart(words[0], name if seen[name] == 1 else f"{name}-{seen[name]}", title, charts[place]))
    return named
