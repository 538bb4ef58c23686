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

    - ``label``: the bound and its number of threads, for example ``fp64, 2 threads``
    - ``value``, ``interval``: the value and its 95 % interval with unit; the interval is "–" if there is none
    - ``ridge``: the arithmetic intensity in FLOP/byte at which a bandwidth meets its peak rate (its ridge point); "–"
      for a peak rate, or if no such peak was measured
    - ``source``: the experiment with its parameters, or the table, from which the value is taken
    """

    label: str
    value: str
    interval: str
    ridge: str
    source: str


@dataclass(frozen=True)
class RooflineCard:
    """The roofline as charts and as a table.

    ``anchor`` is the ``id`` of its HTML element. ``rows`` has one row per bound: the peak rates, then the bandwidths.
    """

    anchor: str
    charts: list[NumberedChart]
    rows: list[RoofRow]


def make_roofline_card(anchor: str, report: Report, charts: list[Chart]) -> RooflineCard | None:
    """Return the page's content about the roofline, and append its charts to ``charts``.

    The result is None if no peak rate or no bandwidth was measured, or if the run was slowed down. ``anchor`` is the
    ``id`` of the HTML element and must be unique in the page. ``charts`` has the charts of the whole page; a chart in
    the card has its index in this list.
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
