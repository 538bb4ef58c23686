"""Build the tiles at the top of a run in the HTML report: the values of its first screen, one tile for each area."""

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
    """A value as text: ``values`` has a cell for each of ``HEADINGS``; ``mood`` and ``remark`` are of ``ScreenRow``."""

    label: str
    values: tuple[str, ...]
    mood: str
    remark: str


@dataclass(frozen=True)
class Tile:
    """The values of an area under its name; ``columns`` are the indices of ``HEADINGS`` that any row has."""

    title: str
    rows: list[TileRow]
    columns: list[int]


def make_tiles(screen: FirstScreen) -> list[Tile]:
    """Return a tile for each area of the first screen, in its order; a column without any value is left out."""
    areas: dict[str, list[TileRow]] = {}
    for row in screen.rows:
        areas.setdefault(row.area, []).append(TileRow(row.label, cells(row), row.mood, row.remark))
    return [_tile(title_of_area(area), rows) for area, rows in areas.items()]


def trust_facts(trust: Trust) -> list[tuple[str, str]]:
    """Return what the trust depends on, as (label, text), for its tile."""
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


def _tile(title: str, rows: list[TileRow]) -> Tile:
    columns = [index for index in range(len(HEADINGS)) if any(row.values[index] != "–" for row in rows)]
    return Tile(title, rows, columns)
