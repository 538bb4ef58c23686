"""Build the roofline's part of the HTML report: the chart, and a table of its bounds with their sources."""

from __future__ import annotations

from dataclasses import dataclass

from nameplate.records.model import Report
from nameplate.report.charts.common import Chart, NumberedChart, placed
from nameplate.report.charts.roofline import roofline_chart
from nameplate.report.format import digits, interval_text, quantity
from nameplate.report.roofline import Bound, Roofline, roofline


@dataclass(frozen=True)
class RoofRow:
    """One row of the roofline's table: a bound, its ridge point in FLOP/byte, and its source."""

    label: str
    value: str
    interval: str
    ridge: str
    source: str


@dataclass(frozen=True)
class RooflineCard:
    """The roofline as a chart and as a table."""

    anchor: str
    chart: NumberedChart
    rows: list[RoofRow]


def make_roofline_card(anchor: str, report: Report, charts: list[Chart]) -> RooflineCard | None:
    """Return the card, or None if no peak rate or no bandwidth was measured; the chart is appended to ``charts``."""
    roofs = roofline(report)
    if roofs is None:
        return None
    (chart,) = placed([roofline_chart(roofs)], charts)
    rows = [_roof_row(roofs, bound) for bound in [*roofs.peaks, *roofs.slopes]]
    return RooflineCard(anchor, chart, rows)


def _roof_row(roofs: Roofline, bound: Bound) -> RoofRow:
    measured = bound.quantity
    ridge = roofs.ridge(bound) if bound in roofs.slopes else None
    return RoofRow(
        label=bound.label,
        value=quantity(measured.value, measured.unit),
        interval=interval_text(measured.value, measured.ci, measured.unit),
        ridge=digits(ridge) if ridge else "–",
        source=bound.source,
    )
