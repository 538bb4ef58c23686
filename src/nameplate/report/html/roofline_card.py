"""Build the roofline's part of the HTML report: the chart, and a table of its bounds with their sources."""

from __future__ import annotations

from dataclasses import dataclass

from nameplate.records.result import Report
from nameplate.report.charts.common import Chart, NumberedChart, placed
from nameplate.report.charts.roofline import roofline_charts
from nameplate.report.content.format import digits, interval_text, quantity
from nameplate.report.content.roofline import Bound, Roofline, roofline


@dataclass(frozen=True)
class RoofRow:
    """One row of the roofline's table, as text: a measured peak rate or bandwidth.

    ``label`` names the bound and its number of threads (``fp64, 2 threads``). ``value`` and ``interval`` (95 %) have a
    unit; the interval is "–" if there is none. ``ridge`` is the arithmetic intensity in FLOP/byte at which a bandwidth
    meets its peak rate, "–" for a peak rate or if no such peak was measured. ``source`` is the experiment with its
    parameters, or the table that the value is taken from.
    """

    label: str
    value: str
    interval: str
    ridge: str
    source: str


@dataclass(frozen=True)
class RooflineCard:
    """The roofline as charts and as a table, whose rows are the peak rates and then the bandwidths.

    ``anchor`` is the ``id`` of its HTML element.
    """

    anchor: str
    charts: list[NumberedChart]
    rows: list[RoofRow]


def make_roofline_card(anchor: str, report: Report, charts: list[Chart]) -> RooflineCard | None:
    """Return the content about the roofline, and append its charts to ``charts``.

    It is None if no peak rate or no bandwidth was measured. ``anchor`` becomes the ``id`` of the HTML element and must
    be unique in the page. ``charts`` has the charts of the whole page; the index of a chart in the card is its position
    in this list.
    """
    roofs = roofline(report)
    if roofs is None:
        return None
    rows = [_roof_row(roofs, bound) for bound in [*roofs.peaks, *roofs.slopes]]
    return RooflineCard(anchor, placed(roofline_charts(roofs), charts), rows)


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
