"""Build the part of the HTML report about one probe: tables, charts, sources and commands."""

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


@dataclass(frozen=True)
class Card:
    """The page's content about one probe in one run.

    ``anchor`` is the ``id`` of its HTML element, ``title`` the probe's title, ``probe`` its name, and ``meaning`` its
    description, or "" if it is not known. ``common`` has the parameters that all experiments share, as on the command
    line (``isa=avx512 threads=2``), or "".

    ``tables`` are the probe's own tables, except the tables whose values a heat map shows: ``tables_of_maps``.
    ``derived`` are the values computed from several experiments. ``rows`` has a row for each metric of each experiment,
    except for details (``Result.is_detail``). In a sweep of more than ``MAX_EXPERIMENTS`` that tables or charts
    summarise, ``folded`` has all these rows, ``rows`` only those without a value, and ``no_series`` says why samples
    are not drawn; otherwise ``folded`` is empty and ``no_series`` is "". ``n_experiments`` is the number of
    experiments, without derived values, and ``n_missing`` the number of those without a value. ``explanations`` are
    sentences about the reference values, and ``sources`` has the source of each with the command that repeats the
    experiment.

    Each list of charts may be empty: ``curves`` against a size or a similar parameter, ``along`` against other
    parameters or as distributions, ``heat_maps`` over two parameters, ``pair_maps`` over pairs of nodes or ranks,
    ``scaling`` against the number of threads, and ``over_time`` with the samples of each experiment.
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
        """Return the charts in the order of the page, except those over time."""
        return [*self.curves, *self.along, *self.heat_maps, *self.pair_maps, *self.scaling]

    @property
    def is_series(self) -> bool:
        """Return whether a chart over time is of a series, in which events were searched for (there may be none)."""
        return any(numbered.chart.events is not None for numbered in self.over_time)


class WholeCharts(NamedTuple):
    """The charts of a probe that show all of its values, whatever the detail of the page, as ``Card`` names them."""

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
    kept: dict[str, WholeCharts] | None = None,
) -> Card:
    """Return the page's content about one probe, and append its charts to ``charts``.

    ``anchor`` becomes the ``id`` of the HTML element and must be unique in the page. ``results`` are all results in
    ``report`` of one probe, at least one. ``points`` is the maximum number of samples in a chart over time. ``charts``
    has the charts of the whole page; the index of each chart in the card is its position in this list. ``kept`` has
    charts of the same results by anchor, which are not drawn again; others are added to it.
    """
    kept = {} if kept is None else kept
    probe = results[0].summary.probe
    shown = _shown(results)
    common = common_params(results)
    first = headlines(shown)
    lines = curve_lines(first)
    maps = grids(_without(shown, [result for line in lines for result in line]))
    tables = [table for table in report.tables if table.probe == probe]
    repeated = [table for table in tables if any(holds(grid, table) for grid in maps)]
    is_large = len(first) > MAX_EXPERIMENTS and bool(lines or maps or tables)
    if anchor not in kept:
        kept[anchor] = _whole_charts(report, results, lines, maps)
    whole = kept[anchor]
    return Card(
        anchor=anchor,
        title=title_of(probe),
        probe=probe,
        meaning=meaning(probe),
        common=parameters(common),
        tables=[html_table(table) for table in tables if table not in repeated],
        tables_of_maps=[html_table(table) for table in repeated],
        derived=[make_row(result, common) for result in results if is_derived(result)],
        rows=[make_row(result, common) for result in shown if not is_large or result.summary.value is None],
        folded=[make_row(result, common) for result in shown if is_large],
        n_experiments=len(first),
        n_missing=sum(result.summary.value is None for result in first),
        explanations=[line for line in explanations(report) if line.startswith(f"{probe} ")],
        sources=sources(results, common),
        curves=placed(whole.curves, charts),
        along=placed(whole.along, charts),
        heat_maps=placed(whole.heat_maps, charts),
        pair_maps=placed(whole.pair_maps, charts),
        scaling=placed(whole.scaling, charts),
        over_time=placed(_series_charts(_drawn_over_time(first, is_large), common, points), charts),
        no_series=_no_series(len(first)) if is_large else "",
    )


def _shown(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if not is_derived(result) and not result.is_detail]


def _whole_charts(
    report: Report, results: Sequence[Result], lines: Sequence[list[Result]], maps: Sequence[Grid]
) -> WholeCharts:
    shown = _shown(results)
    first = headlines(shown)
    known = probes.load_probes().get(results[0].summary.probe)
    by_threads = _not_drawn_yet(first, [result for line in lines for result in line] + _by_threads(maps))
    return WholeCharts(
        curves=curves(lines, level_ends(report.results)),
        along=[*along(shown, known.along if known else ()), *percentiles(results), *ecdf(first)],
        heat_maps=[heat_map(grid) for grid in maps],
        pair_maps=pair_maps(first, report.machine),
        scaling=thread_scaling(by_threads, _allowed_cores(report)),
    )


def meaning(probe: str) -> str:
    """Return the description of a probe: the docstring of its module, or "" if this version does not know the probe."""
    if probe not in probes.load_probes():
        return ""
    return (importlib.import_module(f"{probes.__name__}.{probe}").__doc__ or "").strip()


def _allowed_cores(report: Report) -> int:
    return report.machine.topology.allowed_cores if report.machine else 1


def _without(results: Sequence[Result], others: Sequence[Result]) -> list[Result]:
    """Return the results whose experiments are not among ``others``."""
    shown = {result.id for result in others}
    return [result for result in results if result.id not in shown]


def _not_drawn_yet(first: Sequence[Result], others: Sequence[Result]) -> list[Result]:
    """Return results measured with several thread counts, except lines that another chart already shows completely."""
    shown = {result.id for result in others}
    lines = [line for line in lines_along(first, "threads") if not all(result.id in shown for result in line)]
    return [result for line in lines for result in line]


def _by_threads(maps: Sequence[Grid]) -> list[Result]:
    return [result for grid in maps if "threads" in (grid.rows, grid.columns) for result in grid.results]


def _drawn_over_time(first: Sequence[Result], is_large: bool) -> list[Result]:
    """Return all results, or only the long series of a large sweep."""
    return [result for result in first if not is_large or result.summary.over_time is not None]


def _no_series(n_experiments: int) -> str:
    return (
        f"Samples over time are not drawn for {count(n_experiments, 'experiment')}. Measure an experiment on its own "
        "to see its samples."
    )


def _series_charts(first: Sequence[Result], common: Mapping[str, Value], limit: int) -> list[Chart]:
    return [_titled(result, common, limit) for result in first if len(result.series.value) > 1]


def _titled(result: Result, common: Mapping[str, Value], limit: int) -> Chart:
    chart = over_time(result, limit)
    return replace(chart, title=label_of(result.summary.params, common))
