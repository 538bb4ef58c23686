"""Collect the contents of the HTML report's page and render them with the template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from altair.utils.schemapi import debug_mode
from markupsafe import Markup

from nameplate import __version__
from nameplate.records.result import Report, Result
from nameplate.report.charts.bars import Bars, efficiencies
from nameplate.report.charts.common import Chart
from nameplate.report.charts.same_axes import share_axes
from nameplate.report.charts.side_by_side import append_side_by_side_chart
from nameplate.report.charts.theme import STYLE, THEME
from nameplate.report.content.first_screen import FirstScreen, first_screen
from nameplate.report.content.format import count
from nameplate.report.content.remarks import remarks, warnings_of
from nameplate.report.content.side_by_side import side_by_side
from nameplate.report.html.area_section import AreaSection, make_area_sections
from nameplate.report.html.cards import Card, WholeCharts, make_card
from nameplate.report.html.embed import embedded, packed
from nameplate.report.html.facts import machine_facts, run_facts
from nameplate.report.html.judged_tile import HEADINGS as JUDGED_HEADINGS
from nameplate.report.html.judged_tile import JudgedTile
from nameplate.report.html.node_card import NodeCard, make_node_card
from nameplate.report.html.roofline_card import RooflineCard, make_roofline_card
from nameplate.report.html.rows import DERIVED_COLUMNS, HEADINGS
from nameplate.report.html.scripts import chart_bundle, policy, script_hash
from nameplate.report.html.study_card import StudyCard, make_study_card
from nameplate.report.html.tiles import HEADINGS as TILE_HEADINGS
from nameplate.report.html.tiles import Tile, make_tiles, trust_facts

_TEMPLATES = Path(__file__).parents[1] / "templates"


@dataclass(frozen=True)
class Detail:
    """The amount of data in a page.

    ``points`` is the maximum number of samples in each chart over time. ``has_samples`` says whether the embedded data
    include every single sample.
    """

    points: int
    has_samples: bool


@dataclass(frozen=True)
class PageSection:
    """The page's content about one run.

    ``anchor`` is the ``id`` of its HTML element. ``screen`` is its first screen, whose values ``tiles`` has by area.
    ``trust`` are the facts on which the trust depends, as (label, text). ``judged`` compares the machine with what is
    expected of it; it is None if nothing is known. ``further_warnings`` do not fit the screen.
    ``remarks`` are the basis of the verdict and its limits. ``machine`` and ``run`` are facts as (label, text).
    ``efficiencies`` are the shares of the reference values as bars. ``nodes`` and ``study`` are None for a run without
    them. ``areas`` has the charts and the probes' values by area, and ``roofline``, None for a run without one, is part
    of the CPU's.
    """

    anchor: str
    title: str
    screen: FirstScreen
    tiles: list[Tile]
    trust: list[tuple[str, str]]
    judged: JudgedTile | None
    further_warnings: list[str]
    remarks: list[str]
    machine: list[tuple[str, str]]
    run: list[tuple[str, str]]
    efficiencies: Bars
    roofline: RooflineCard | None
    nodes: NodeCard | None
    study: StudyCard | None
    areas: list[AreaSection]

    @property
    def cards(self) -> list[Card]:
        """Return the cards of all probes, by area."""
        return [card for area in self.areas for card in area.cards]

    def places(self) -> Iterator[tuple[int, tuple[str, str]]]:
        """Yield for each chart its index, and the part of the page and its title.

        The part is "roofline", "nodes", "study", the name of a probe, or the name followed by " over time".
        """
        for part, charts in (
            ("roofline", self.roofline.charts if self.roofline else []),
            ("nodes", self.nodes.maps if self.nodes else []),
            ("study", self.study.charts if self.study else []),
            *((card.probe, card.drawn) for card in self.cards),
            *((f"{card.probe} over time", card.over_time) for card in self.cards),
        ):
            for numbered in charts:
                yield numbered.index, (part, numbered.chart.title)


def render(
    reports: Sequence[Report],
    detail: Detail,
    judged: Sequence[JudgedTile | None] = (),
    kept: dict[str, WholeCharts] | None = None,
) -> str:
    """Return the page as HTML text, with one section per run in the order of ``reports``, which has at least one.

    The page shows the names in ``reports`` unchanged: pass them through ``without_names`` first if it may be passed on.
    ``detail`` limits the size of the page. ``judged`` has an item for each report, or none at all. ``kept`` keeps
    charts for the next call with the same reports, which takes most of the time. Nothing is written.
    """
    charts: list[Chart] = []
    side_by_side_rows = side_by_side(reports)
    # Altair's check of each part of a chart takes a tenth of the time; the tests do it for each kind of chart.
    with debug_mode(False):
        sections = make_sections(reports, detail, charts, judged, kept)
        side_by_side_chart = append_side_by_side_chart(side_by_side_rows, charts)
    bundle = chart_bundle()
    script = (_TEMPLATES / "report.js").read_text(encoding="utf-8")
    return _template().render(
        title=_page_title(reports),
        version=__version__,
        sections=sections,
        side_by_side_rows=side_by_side_rows,
        side_by_side_chart=side_by_side_chart,
        headings=HEADINGS,
        derived_columns=DERIVED_COLUMNS,
        tile_headings=TILE_HEADINGS,
        judged_headings=JUDGED_HEADINGS,
        detail=detail,
        policy=policy(bundle.hash, script_hash(script)),
        style=Markup(STYLE.read_text(encoding="utf-8")),
        script=Markup(script),
        bundle=Markup(bundle.packed),
        drawings=Markup(packed(msgspec.json.encode({"charts": [_drawing(chart) for chart in charts], "theme": THEME}))),
        data=Markup(embedded(reports, detail.has_samples)),
    )


def make_sections(
    reports: Sequence[Report],
    detail: Detail,
    charts: list[Chart],
    judged: Sequence[JudgedTile | None] = (),
    kept: dict[str, WholeCharts] | None = None,
) -> list[PageSection]:
    """Return the page's content about each run, in order, and append its charts to ``charts``.

    Charts of the same values have the same axes in all sections. ``judged`` and ``kept`` are as in ``render``.
    """
    sections = [
        make_section(number, report, detail, charts, tile, kept)
        for number, (report, tile) in enumerate(zip(reports, judged or [None] * len(reports), strict=True), start=1)
    ]
    share_axes([place for section in sections for place in section.places()], charts)
    return sections


def make_section(
    number: int,
    report: Report,
    detail: Detail,
    charts: list[Chart],
    judged: JudgedTile | None = None,
    kept: dict[str, WholeCharts] | None = None,
) -> PageSection:
    """Return the page's content about one run, and append its charts to ``charts``.

    ``number`` is the run's number in the page, from 1. It appears in the title and in the anchors. ``charts`` has the
    charts of the whole page; the index of each chart in the section is its position in this list. Of ``detail``, only
    ``points`` is used. ``kept`` is as in ``make_card``.
    """
    screen = first_screen(report)
    roofline = make_roofline_card(f"run-{number}-roofline", report, charts)
    nodes = make_node_card(f"run-{number}-nodes", report, charts)
    study = make_study_card(f"run-{number}-study", report, charts)
    cards = [
        make_card(f"run-{number}-{index}", report, results, detail.points, charts, kept)
        for index, results in enumerate(_by_probe(report).values(), start=1)
    ]
    return PageSection(
        anchor=f"run-{number}",
        title=f"Run {number}: {_model(report)}{_cores(report)}",
        screen=screen,
        tiles=make_tiles(screen),
        trust=trust_facts(screen.trust),
        judged=judged,
        further_warnings=warnings_of(report)[len(screen.warnings) :],
        remarks=remarks(report),
        machine=machine_facts(report.machine),
        run=run_facts(report),
        efficiencies=efficiencies(report),
        roofline=roofline,
        nodes=nodes,
        study=study,
        areas=make_area_sections(f"run-{number}", cards, roofline),
    )


def _by_probe(report: Report) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in report.results:
        groups.setdefault(result.summary.probe, []).append(result)
    return groups


def _page_title(reports: Sequence[Report]) -> str:
    models = dict.fromkeys(_model(report) for report in reports)
    return "nameplate: what " + ", ".join(models) + " delivers"


def _model(report: Report) -> str:
    cpu = report.machine and report.machine.cpu
    return cpu.model or cpu.architecture if cpu else "an unrecorded machine"


def _cores(report: Report) -> str:
    return f", {count(report.machine.topology.cores, 'core')}" if report.machine else ""


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["zip"] = zip
    return environment.get_template("report.html.j2")


def _drawing(chart: Chart) -> dict[str, Any]:
    return {"spec": chart.spec, "columns": chart.columns}
