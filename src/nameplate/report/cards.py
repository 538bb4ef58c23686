"""A probe's card in the HTML report: its table, its charts, its sources and commands."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate import probes
from nameplate.model import Report, Result, Summary, Value
from nameplate.report.cells import common_params, headlines, label_of, mood_of, title_of
from nameplate.report.charts import Chart, over_time, thread_scaling
from nameplate.report.format import digits, parameters, quantity, scale, share
from nameplate.report.text import explanations

HEADINGS = (
    "measured", "95 % interval", "rated", "delivers", "best", "p95", "p99", "sustained", "rounds",
    "samples", "disturbed", "outcome", "stopped by",
)  # fmt: skip
HEADINGS_IN_WORDS = ("outcome", "stopped by")


@dataclass(frozen=True)
class Row:
    """One line of a probe's table, and beside it where its rated value comes from and how to measure it again.

    There are either ``figures``, in the order of ``HEADINGS``, or words why they are ``missing``.
    """

    label: str
    metric: str
    figures: tuple[str, ...]
    missing: str
    mood: str
    is_oversubscribed: bool
    source: str
    command: str


@dataclass(frozen=True)
class Figure:
    """A chart with its place in the list that the page's script draws."""

    index: int
    chart: Chart


@dataclass(frozen=True)
class Card:
    """Everything about one probe in one run."""

    anchor: str
    title: str
    probe: str
    meaning: str
    common: str
    rows: list[Row]
    explanations: list[str]
    scaling: list[Figure]
    over_time: list[Figure]


def make_card(anchor: str, report: Report, results: list[Result], points: int, charts: list[Chart]) -> Card:
    """One probe's card, with at most so many points in a chart; its charts go to the end of ``charts``."""
    probe = results[0].summary.probe
    common = common_params(results)
    first = headlines(results)
    cores = int(report.machine["topology"]["allowed_cores"]) if "topology" in report.machine else 1
    return Card(
        anchor=anchor,
        title=title_of(probe),
        probe=probe,
        meaning=meaning(probe),
        common=parameters(common),
        rows=[_row(result, common) for result in results],
        explanations=[line for line in explanations(report) if line.startswith(f"{probe} ")],
        scaling=_placed(thread_scaling(first, cores), charts),
        over_time=_placed([_titled(r, common, points) for r in first if len(r.series.value) > 1], charts),
    )


def meaning(probe: str) -> str:
    """What a probe's module says of itself."""
    if probe not in probes.load_probes():
        return ""
    return (importlib.import_module(f"{probes.__name__}.{probe}").__doc__ or "").strip()


def _titled(result: Result, common: Mapping[str, Value], limit: int) -> Chart:
    chart = over_time(result, limit)
    return Chart(label_of(result.summary.params, common), chart.caption, chart.spec, chart.columns)


def _placed(new: Sequence[Chart], charts: list[Chart]) -> list[Figure]:
    figures = [Figure(len(charts) + offset, chart) for offset, chart in enumerate(new)]
    charts.extend(new)
    return figures


def _row(result: Result, common: Mapping[str, Value]) -> Row:
    row = result.summary
    return Row(
        label=label_of(row.params, common),
        metric=row.metric,
        figures=_figures(row) if row.value is not None else (),
        mood=mood_of(result),
        is_oversubscribed=result.oversubscribed,
        missing=f"{row.outcome}: {row.reason or 'no reason is known'}" if row.value is None else "",
        source=result.rated.source,
        command=repeat_command(row.probe, row.params),
    )


def _figures(row: Summary) -> tuple[str, ...]:
    def shown(value: float | None) -> str:
        return quantity(value, row.unit)

    return (
        shown(row.value), _interval(row), shown(row.rated), share(row.efficiency), shown(row.best),
        shown(row.p95), shown(row.p99), shown(row.sustained), str(row.rounds), str(row.samples),
        f"{row.disturbed * 100:.0f} %", row.outcome, row.stop or "–",
    )  # fmt: skip


def _interval(row: Summary) -> str:
    if row.ci is None or row.value is None:
        return "–"
    factor, unit = scale(row.value, row.unit)
    return f"{digits(row.ci[0] / factor)} to {digits(row.ci[1] / factor)} {unit}".strip()


def repeat_command(probe: str, params: Mapping[str, Value]) -> str:
    """The command that measures a cell again, fit for a shell."""
    words = [f"{name}={_as_argument(value)}" for name, value in params.items()]
    return shlex.join(["nameplate", "run", probe, *words])


def _as_argument(value: Value) -> str:
    """Without an exponent, which the command line does not take."""
    return f"{value:.15f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
