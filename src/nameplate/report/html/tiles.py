"""Build the tiles at the top of a run in the HTML report: the values of its first screen, one tile per area."""

from __future__ import annotations

from dataclasses import dataclass

from nameplate.probes.shared.areas import title_of_area
from nameplate.report.content.brief import cells
from nameplate.report.content.first_screen import FirstScreen
from nameplate.report.content.format import count
from nameplate.report.content.trust import Trust, level_of

# In the order of ``cells``.
HEADINGS = ("typical", "±95 %", "capability", "reference", "share")


@dataclass(frozen=True)
class TileRow:
    """A row of a tile as text: ``values`` has one cell for each of ``HEADINGS``, or "–" for a missing value.

    ``mood`` ("good", "poor" or "plain") and ``remark`` (text or "") are copied from the ``ScreenRow``.
    """

    label: str
    values: tuple[str, ...]
    mood: str
    remark: str


@dataclass(frozen=True)
class Tile:
    """The values of one area of the machine, whose name is ``title``.

    ``rows`` has one row per value. ``columns`` has the indices of ``HEADINGS`` for which at least one row has a value.
    """

    title: str
    rows: list[TileRow]
    columns: list[int]


def make_tiles(screen: FirstScreen) -> list[Tile]:
    """Return one tile for each area of the first screen, in the same order."""
    areas: dict[str, list[TileRow]] = {}
    for row in screen.rows:
        areas.setdefault(row.area, []).append(TileRow(row.label, cells(row), row.mood, row.remark))
    tiles = []
    for area, rows in areas.items():
        columns = [index for index in range(len(HEADINGS)) if any(row.values[index] != "–" for row in rows)]
        tiles.append(Tile(title_of_area(area), rows, columns))
    return tiles


def trust_facts(trust: Trust) -> list[tuple[str, str]]:
    """Return the facts on which the level of trust in a run's values is based, as (label, text).

    The labels are "disturbed", "rounds", "median interval" and "widest interval", if known, and before them "why" if
    the level does not follow from these numbers alone.
    """
    is_by_numbers = trust.half_width is not None and trust.level == level_of(
        trust.disturbed / max(1, trust.experiments), trust.half_width
    )
    facts = [] if is_by_numbers else [("why", trust.why)]
    if trust.experiments:
        facts += [
            ("disturbed", f"{trust.disturbed} of {count(trust.experiments, 'experiment')}"),
            ("rounds", f"at least {trust.rounds}"),
        ]
    if trust.half_width is not None and trust.widest is not None:
        facts += [("median interval", _plus_minus(trust.half_width)), ("widest interval", _plus_minus(trust.widest))]
    return facts


def _plus_minus(share: float) -> str:
    return f"±{share * 100:.1f} %"
