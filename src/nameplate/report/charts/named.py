"""List the charts of one run, each with a file name and a title that is complete without the page around it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from nameplate.records.model import Report
from nameplate.report.charts.common import Chart
from nameplate.report.experiments import ALL_COMMON
from nameplate.report.html.page import Detail, PageSection, make_section

# One day with a sample per second; longer series are thinned.
_MAX_POINTS = 100_000
_LONGEST_NAME = 80


@dataclass(frozen=True)
class NamedChart:
    """A chart of the report; ``part`` is a probe, "roofline", "nodes" or "study".

    ``name`` consists of lower-case letters, digits and hyphens: ``memory-latency-latency-against-size``.
    """

    part: str
    name: str
    title: str
    chart: Chart


def named_charts(report: Report) -> list[NamedChart]:
    """Return the charts in the order of the report."""
    charts: list[Chart] = []
    section = make_section(1, report, Detail(_MAX_POINTS, has_samples=True), charts)
    seen: Counter[str] = Counter()
    named = []
    for place, words in sorted(_places(section)):
        title = ": ".join(part for part in words if part not in ("", ALL_COMMON))
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_LONGEST_NAME].rstrip("-")
        seen[name] += 1
        named.append(NamedChart(words[0], name if seen[name] == 1 else f"{name}-{seen[name]}", title, charts[place]))
    return named


def _places(section: PageSection) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the part and the title for each chart."""
    if section.roofline:
        yield section.roofline.chart.index, ("roofline", "")
    for part, charts in (
        ("nodes", section.nodes.maps if section.nodes else []),
        ("study", section.study.charts if section.study else []),
        *((card.probe, card.drawn) for card in section.cards),
    ):
        for numbered in charts:
            yield numbered.index, (part, numbered.chart.title)
    for card in section.cards:
        for numbered in card.over_time:
            yield numbered.index, (f"{card.probe} over time", numbered.chart.title)
