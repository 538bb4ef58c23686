"""Build the card of the HTML report about one probe: tables, charts, sources and commands."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nameplate import probes
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.report.charts.common import Chart, NumberedChart, lines_along, placed
from nameplate.report.charts.curves import curve_lines, curves, level_ends
from nameplate.report.charts.ecdf import ecdf
from nameplate.report.charts.grids import Grid, grids, holds
from nameplate.report.charts.heatmap import heat_map
from nameplate.report.charts.over_time import over_time
from nameplate.report.charts.pair_map import pair_maps
from nameplate.report.charts.parameters import along, percentiles
from nameplate.report.charts.scaling import thread_scaling
from nameplate.report.content.experiments import common_params, headlines, is_derived, label_of, title_of
from nameplate.report.content.format import count, parameters
from nameplate.report.content.result_rows import MAX_EXPERIMENTS, explanations
from nameplate.report.html.rows import ReportRow, Source, make_row, sources
from nameplate.report.html.tables import HtmlTable, html_table
from nameplate.results.cpu_time import why_slowed


@dataclass(frozen=True)
class Card:
    """The page's content about one probe in one run.

    - ``anchor``: the ``id`` of its HTML element
    - ``title``, ``probe``, ``meaning``: the probe's title, its name, and its description; "" if the probe is not known
    - ``common``: the parameters that all experiments share, as on the command line (``isa=avx512 threads=2``), or ""
    - ``tables``: the probe's own tables, except those in ``tables_of_maps``
    - ``tables_of_maps``: the probe's own tables whose values a heat map shows
    - ``derived``: one row for each value that is computed from several experiments
    - ``rows``: one row for each metric of each experiment, except detail metrics (``Result.is_detail``). For a large
      sweep, these are only the rows without a value.
    - ``folded``: all rows of a large sweep, that is, more than 24 experiments (``MAX_EXPERIMENTS``) that tables or
      charts summarise; otherwise empty
    - ``n_experiments``, ``n_missing``: the number of experiments, and of those without a value
    - ``explanations``: sentences about the reference values
    - ``sources``: the source of each reference value, with the command that repeats the experiment
    - ``curves``, ``along``: charts against size, and against other parameters or of distributions
    - ``heat_maps``, ``pair_maps``: charts over two parameters, and over pairs of parties such as cores or nodes
    - ``scaling``, ``over_time``: charts against the number of threads, and of each experiment's samples over time
    - ``no_series``: why samples over time are not drawn, or ""
    """

    anchor: str
    title: str
    probe: str
    meaning: str
    common: str
    tables: list[HtmlTable]
    tables_of_maps: list[HtmlTable]
    derived: list[ReportRow]
    rows: list[ReportRow]
    folded: list[ReportRow]
    n_experiments: int
    n_missing: int
    explanations: list[str]
    sources: list[Source]
    curves: list[NumberedChart]
    along: list[NumberedChart]
    heat_maps: list[NumberedChart]
    pair_maps: list[NumberedChart]
    scaling: list[NumberedChart]
    over_time: list[NumberedChart]
    no_series: str

    @property
    def drawn(self) -> list[NumberedChart]:
        """Return the charts in the order of the page, except samples over time."""
        return [*self.curves, *self.along, *self.heat_maps, *self.pair_maps, *self.scaling]

    @property
    def is_series(self) -> bool:
        """Return whether ``over_time`` has a long series, which was searched for events, even if it has none."""
        return any(numbered.chart.events is not None for numbered in self.over_time)


class FullCharts(NamedTuple):
    """The charts of a probe that do not depend on ``Detail.points``. ``Card`` describes the fields."""

    curves: list[Chart]
    along: list[Chart]
    heat_maps: list[Chart]
    pair_maps: list[Chart]
    scaling: list[Chart]


def make_card(
    anchor: str,
    report: Report,
    results: list[Result],
    points: int,
    charts: list[Chart],
    cache: dict[str, FullCharts] | None = None,
) -> Card:
    """Return the page's content about one probe, and append its charts to ``charts``.

    - ``anchor``: the ``id`` of the HTML element, unique in the page
    - ``results``: all results of the probe in ``report``, at least one
    - ``points``: the maximum number of samples in a chart over time
    - ``charts``: the charts of the whole page; a chart in the card has its index in this list
    - ``cache``: charts of earlier calls with the same results, by anchor. They are reused, and missing ones are added.
    """
    cache = {} if cache is None else cache
    probe = results[0].summary.probe
    drawn = _drawn_results(results)
    common, is_judged = common_params(results), not why_slowed(report)
    first = headlines(drawn)
    lines = curve_lines(first)
    on_curves = {result.id for line in lines for result in line}
    maps = grids([result for result in drawn if result.id not in on_curves])
    tables = [table for table in report.tables if table.probe == probe]
    repeated = [table for table in tables if any(holds(grid, table) for grid in maps)]
    is_large = len(first) > MAX_EXPERIMENTS and bool(lines or maps or tables)
    if anchor not in cache:
        cache[anchor] = _full_charts(report, results, lines, maps)
    full = cache[anchor]
    series = [result for result in first if not is_large or result.summary.over_time is not None]
    no_series = (
        f"Samples over time are not drawn for {count(len(first), 'experiment')}. Measure an experiment on its own to "
        "see its samples."
    )
    return Card(
        anchor=anchor,
        title=title_of(probe),
        probe=probe,
        meaning=meaning(probe),
        common=parameters(common),
        tables=[html_table(table) for table in tables if table not in repeated],
        tables_of_maps=[html_table(table) for table in repeated],
        derived=[make_row(result, common, is_judged) for result in results if is_derived(result)],
        rows=[make_row(result, common, is_judged) for result in drawn if not is_large or result.summary.value is None],
        folded=[make_row(result, common, is_judged) for result in drawn if is_large],
        n_experiments=len(first),
        n_missing=sum(result.summary.value is None for result in first),
        explanations=[line for line in explanations(report) if line.startswith(f"{probe} ")],
        sources=sources(results, common),
        curves=placed(full.curves, charts),
        along=placed(full.along, charts),
        heat_maps=placed(full.heat_maps, charts),
        pair_maps=placed(full.pair_maps, charts),
        scaling=placed(full.scaling, charts),
        over_time=placed(_series_charts(series, common, points), charts),
        no_series=no_series if is_large else "",
    )


def _drawn_results(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if not is_derived(result) and not result.is_detail]


def _full_charts(
    report: Report, results: Sequence[Result], lines: Sequence[list[Result]], maps: Sequence[Grid]
) -> FullCharts:
    drawn = _drawn_results(results)
    first = headlines(drawn)
    known = probes.load_probes().get(results[0].summary.probe)
    # Lines against the number of threads are left out if another chart shows them completely.
    maps_of_threads = [grid.results for grid in maps if "threads" in (grid.rows, grid.columns)]
    drawn_ids = {result.id for group in (*lines, *maps_of_threads) for result in group}
    by_threads = [line for line in lines_along(first, "threads") if not drawn_ids.issuperset(r.id for r in line)]
    return FullCharts(
        curves=curves(lines, level_ends(report.results)),
        along=[*along(drawn, known.along if known else ()), *percentiles(results), *ecdf(first)],
        heat_maps=[heat_map(grid) for grid in maps],
        pair_maps=pair_maps(first, report.machine),
        scaling=thread_scaling(
            [result for line in by_threads for result in line],
            report.machine.topology.allowed_cores if report.machine else 1,
            not why_slowed(report),
        ),
    )


def _series_charts(results: Sequence[Result], common: Mapping[str, Value], points: int) -> list[Chart]:
    """Return a chart of the samples over time for each result that has several samples."""
    return [
        replace(over_time(result, points), title=label_of(result.summary.params, common))
        for result in results
        if len(result.series.value) > 1
    ]


def meaning(probe: str) -> str:
    """Return the docstring of the module of a probe, which describes it, or "" if this version has no such probe."""
    if probe not in probes.load_probes():
        return ""
    return (importlib.import_module(f"{probes.__name__}.{probe}").__doc__ or "").strip()
