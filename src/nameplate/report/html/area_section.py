"""Build the part of the HTML report about one area of a machine, such as its memory: its charts, then its probes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from nameplate.probes import probe_of
from nameplate.probes.shared.areas import order_of_area, title_of_area
from nameplate.report.charts.common import NumberedChart
from nameplate.report.html.cards import Card
from nameplate.report.html.roofline_card import RooflineCard

# The open charts of all areas, with one roofline, fit one printed page: three rows of three. A second roofline takes
# the place of another chart.
MAX_OPEN = 8
# The roofline has the peak rates of the cores as its upper bounds.
_AREA_OF_ROOFLINE = "cpu"


@dataclass(frozen=True)
class PlacedChart:
    """A chart with its place in the page.

    ``kind`` is the class of its frame: "roofline", "curve", "plain", "map" or "timeline". ``title`` is complete without
    the heading of its probe, such as ``Memory latency: Latency against size``.
    """

    item: NumberedChart
    kind: str
    title: str


@dataclass(frozen=True)
class AreaSection:
    """The page's content about one area of a machine.

    ``anchor`` is the ``id`` of its HTML element, and ``title`` the area's name with a capital letter. ``roofline`` is
    None except in the section of the CPU. ``open`` are the charts that are shown at once: those of series with events,
    the roofline, then the first of each probe. ``folded`` are the others, except samples over time. ``cards`` has one
    card for each probe, with these samples.
    """

    anchor: str
    title: str
    roofline: RooflineCard | None
    open: list[PlacedChart]
    folded: list[PlacedChart]
    cards: list[Card]


def make_area_sections(anchor: str, cards: Sequence[Card], roofline: RooflineCard | None) -> list[AreaSection]:
    """Return a section for each area of the probes in ``cards``, in the order in which areas are listed.

    ``anchor`` is the beginning of the sections' ``id`` attributes. All sections together show about ``MAX_OPEN`` charts
    at once, and each shows at least one if it has any, and in addition those of series with events.
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
    others = [*_in_turn([list(_drawn(card)) for card in cards])]
    limit = max(1, limit + 1 - max(1, len(roofs)))
    shown = [*eventful, *roofs, *others[:limit]]
    return AreaSection(anchor, title_of_area(area), roofline, shown, others[limit:], cards)


def _in_turn(of_each: Iterable[Sequence[PlacedChart]]) -> Iterator[PlacedChart]:
    """Yield the first chart of each probe, then the second of each, and so on."""
    return (chart for chart in chain.from_iterable(zip_longest(*of_each)) if chart is not None)


def _drawn(card: Card) -> Iterator[PlacedChart]:
    for kind, items in (
        ("curve", card.curves),
        ("plain", [*card.scaling, *card.along]),
        ("map", [*card.heat_maps, *card.pair_maps]),
    ):
        yield from (PlacedChart(item, kind, f"{card.title}: {item.chart.title}") for item in items)
