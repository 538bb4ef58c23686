"""Build the section of the HTML report about one area of a machine, such as its memory: charts, then probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from nameplate.probes import probe_of
from nameplate.probes.shared.areas import order_of_area, title_of_area
from nameplate.report.charts.common import NumberedChart
from nameplate.report.html.cards import Card
from nameplate.report.html.roofline_card import RooflineCard

# One roofline and this number of charts fit one printed page, in three rows of three. A second roofline replaces
# another chart.
MAX_OPEN = 8
# The roofline has the peak rates of the cores as its upper bounds.
_AREA_OF_ROOFLINE = "cpu"


@dataclass(frozen=True)
class PlacedChart:
    """A chart with its style and title on the page.

    - ``item``: the chart and its index in the page's list of charts
    - ``kind``: the HTML class of its frame: "roofline", "curve", "plain", "map" or "timeline"
    - ``title``: the title of the probe and of the chart, for example ``Memory latency: Latency against size``
    """

    item: NumberedChart
    kind: str
    title: str


@dataclass(frozen=True)
class AreaSection:
    """The page's content about one area of a machine.

    - ``anchor``: the ``id`` of its HTML element
    - ``title``: the name of the area with a capital letter
    - ``roofline``: the roofline in the section of the CPU; None in other sections, or if there is no roofline
    - ``open``: the charts that are visible at once: long series with events, the rooflines, then the first charts of
      each probe
    - ``folded``: the other charts, except samples over time
    - ``cards``: one card per probe, which has the charts of samples over time
    """

    anchor: str
    title: str
    roofline: RooflineCard | None
    open: list[PlacedChart]
    folded: list[PlacedChart]
    cards: list[Card]


def make_area_sections(anchor: str, cards: Sequence[Card], roofline: RooflineCard | None) -> list[AreaSection]:
    """Return one section per area of the probes in ``cards``, in the order in which nameplate lists areas.

    The ``id`` of a section is ``anchor``, a hyphen and the area's name. ``roofline`` becomes part of the section "cpu".
    All sections together have about 8 visible charts (``MAX_OPEN``): each has at least one if it has any charts, and in
    addition all long series with events.
    """
    areas: dict[str, list[Card]] = {}
    for card in cards:
        areas.setdefault(probe_of(card.probe).area, []).append(card)
    limit = max(1, MAX_OPEN // max(1, len(areas)))
    return [
        _section(f"{anchor}-{area}", area, areas[area], roofline if area == _AREA_OF_ROOFLINE else None, limit)
        for area in sorted(areas, key=order_of_area)
    ]


def _section(anchor: str, area: str, cards: list[Card], roofline: RooflineCard | None, limit: int) -> AreaSection:
    eventful = [PlacedChart(item, "timeline", f"{card.title}: {item.chart.title}") for card in cards
                for item in card.over_time if item.chart.events]  # fmt: skip
    roofs = [PlacedChart(item, "roofline", f"Roofline: {item.chart.title}")
             for item in (roofline.charts if roofline else [])]  # fmt: skip
    # The first chart of each probe, then the second chart of each, and so on.
    in_turn = chain.from_iterable(zip_longest(*map(_drawn, cards)))
    rest = [chart for chart in in_turn if chart is not None]
    limit = max(1, limit + 1 - max(1, len(roofs)))
    charts = [*eventful, *roofs, *rest[:limit]]
    return AreaSection(anchor, title_of_area(area), roofline, charts, rest[limit:], cards)


def _drawn(card: Card) -> Iterator[PlacedChart]:
    for kind, items in (
        ("curve", card.curves),
        ("plain", [*card.scaling, *card.along]),
        ("map", [*card.heat_maps, *card.pair_maps]),
    ):
        yield from (PlacedChart(item, kind, f"{card.title}: {item.chart.title}") for item in items)
