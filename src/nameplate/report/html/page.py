"""Collect the content of the HTML report's page, and render it with the template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2
import msgspec
from altair.utils.schemapi import debug_mode
from markupsafe import Markup

from nameplate import __version__
from nameplate.records.result import Report
from nameplate.report.charts.bars import Bars, efficiencies
from nameplate.report.charts.common import Chart
from nameplate.report.charts.same_axes import share_axes
from nameplate.report.charts.side_by_side import append_side_by_side_chart
from nameplate.report.charts.theme import STYLE, THEME
from nameplate.report.content.experiments import by_probe
from nameplate.report.content.first_screen import FirstScreen, first_screen
from nameplate.report.content.format import count
from nameplate.report.content.remarks import remarks, warnings_of
from nameplate.report.content.side_by_side import side_by_side
from nameplate.report.html.area_section import AreaSection, make_area_sections
from nameplate.report.html.cards import Card, FullCharts, make_card
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

    ``points`` is the maximum number of samples in a chart over time. ``has_samples`` says whether the embedded data
    include all single samples.
    """

    points: int
    has_samples: bool


@dataclass(frozen=True)
class PageSection:
    """The page's content about one run.

    - ``anchor``, ``title``: the ``id`` of its HTML element, and its heading
    - ``screen``, ``tiles``: the first screen of the run, and its values by area
    - ``trust``: the facts on which the level of trust in the values is based, as (label, text)
    - ``judged``: the comparison of the machine with its expected ranges, or None if there are no ranges
    - ``further_warnings``: the warnings that the first screen has no space for
    - ``remarks``: sentences about the basis and the limits of the verdict
    - ``machine``, ``run``: facts as (label, text)
    - ``efficiencies``: the values as shares of their reference values
    - ``nodes``, ``study``: the content about the nodes of a job, and about a published study; None without them
    - ``areas``: the charts and cards of the probes by area
    - ``roofline``: the roofline, which is also in the section of the CPU, or None
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
        """Return the cards of all probes, grouped by area."""
        return [card for area in self.areas for card in area.cards]

    def places(self) -> Iterator[tuple[int, tuple[str, str]]]:
        """Yield (index in the page's list of charts, (part of the page, title)) for each chart of the run.

        The part is "roofline", "nodes", "study", the name of a probe, or the name followed by " over time".
        """
        for part, charts in (
            ("roofline", self.roofline.charts if self.roofline else []),
            ("nodes", [*self.nodes.maps, *self.nodes.distributions] if self.nodes else []),
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
    cache: dict[str, FullCharts] | None = None,
) -> str:
    """Return the page as HTML text, with one section per run. Nothing is written.

    - ``reports``: the runs in the order of the page, at least one. All names in them are shown; call ``without_names``
      first to replace them.
    - ``detail``: the amount of data in the page
    - ``judged``: the tile that compares each run's machine with its expected ranges, or None; empty if there are none
    - ``cache``: a dictionary, at first empty, that keeps charts for later calls with the same reports and another
      detail. Drawing them takes most of the time.
    """
    charts: list[Chart] = []
    side_by_side_rows = side_by_side(reports)
    # Altair's check of each part of a chart takes a tenth of the time; the tests do it for each kind of chart.
    with debug_mode(False):
        sections = make_sections(reports, detail, charts, judged, cache)
        side_by_side_chart = append_side_by_side_chart(side_by_side_rows, charts)
    drawings = [{"spec": chart.spec, "columns": chart.columns} for chart in charts]
    bundle = chart_bundle()
    script = (_TEMPLATES / "report.js").read_text(encoding="utf-8")
    return _template().render(
        title=f"nameplate: what {', '.join(dict.fromkeys(map(_model, reports)))} delivers",
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
        drawings=Markup(packed(msgspec.json.encode({"charts": drawings, "theme": THEME}))),
        data=Markup(embedded(reports, detail.has_samples)),
    )


def make_sections(
    reports: Sequence[Report],
    detail: Detail,
    charts: list[Chart],
    judged: Sequence[JudgedTile | None] = (),
    cache: dict[str, FullCharts] | None = None,
) -> list[PageSection]:
    """Return the page's content about each run, in the order of ``reports``, and append all charts to ``charts``.

    Charts of the same values have the same axes in all sections. ``detail``, ``judged`` and ``cache`` are as in
    ``render``.
    """
    sections = [
        make_section(number, report, detail, charts, tile, cache)
        for number, (report, tile) in enumerate(zip(reports, judged or [None] * len(reports), strict=True), start=1)
    ]
    share_axes([position for section in sections for position in section.places()], charts)
    return sections


def make_section(
    number: int,
    report: Report,
    detail: Detail,
    charts: list[Chart],
    judged: JudgedTile | None = None,
    cache: dict[str, FullCharts] | None = None,
) -> PageSection:
    """Return the page's content about one run, and append its charts to ``charts``.

    - ``number``: the number of the run in the page, from 1, which becomes part of the title and the anchors
    - ``detail``: the amount of data; only ``points`` is used
    - ``charts``: the charts of the whole page; a chart in the section has its index in this list
    - ``judged``: the tile that compares the machine with its expected ranges, or None
    - ``cache``: charts of earlier calls, as in ``make_card``
    """
    screen = first_screen(report)
    roofline = make_roofline_card(f"run-{number}-roofline", report, charts)
    nodes = make_node_card(f"run-{number}-nodes", report, charts)
    study = make_study_card(f"run-{number}-study", report, charts)
    cards = [
        make_card(f"run-{number}-{index}", report, results, detail.points, charts, cache)
        for index, results in enumerate(by_probe(report.results).values(), start=1)
    ]
    cores = f", {count(report.machine.topology.cores, 'core')}" if report.machine else ""
    return PageSection(
        anchor=f"run-{number}",
        title=f"Run {number}: {_model(report)}{cores}",
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


def _model(report: Report) -> str:
    cpu = report.machine and report.machine.cpu
    return cpu.model or cpu.architecture if cpu else "an unrecorded machine"


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
