"""Draw a metric against a parameter that its probe names, and the percentiles of single operations' times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from nameplate.probes import ParameterChart
from nameplate.probes.shared.grid import labels
from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.report.charts.common import (
    HEIGHT,
    Chart,
    Point,
    channel,
    chart_of,
    chunks,
    definition,
    interval_of,
    legend,
    line_key,
    line_label,
    lines_with_intervals,
    log_axis,
    rounded,
)
from nameplate.report.charts.plot import Axis, Plot, marks_of_lines
from nameplate.report.content.format import scale
from nameplate.report.content.repeat_commands import repeat_commands, sweep_command
from nameplate.units import size_text

# With fewer values of a parameter, the table is as easy to read.
MIN_VALUES = 3
_PERCENTILES_MEAN = (
    "p99 is the time that 99 of 100 operations did not exceed. A flat line means that operations take about as long "
    "as each other. A line that rises steeply at its end has a few very slow operations, which are what users notice "
    "first: a flush, a busy device, the scheduler."
)
_KINDS = {"read_latency": "reads", "write_latency": "writes"}
_SIZES = ("block", "size", "payload")


@dataclass(frozen=True)
class ParameterLine:
    """One line of a chart, with its results in the order of the x axis.

    ``label`` is the line's entry in the legend. ``places[i]`` is the category on the x axis at which ``results[i]`` is
    drawn.
    """

    label: str
    places: list[str]
    results: list[Result]


def along(results: Sequence[Result], charts: Sequence[ParameterChart]) -> list[Chart]:
    """Return the charts that a probe declares: a metric against a parameter, from the results of this probe.

    ``charts`` declares the metric, the parameter and the explanation of each chart. The results of a line agree in all
    other parameters. Results without a value above 0 are left out, and so are lines with fewer than 3 results
    (``MIN_VALUES``) and charts without lines. A chart with more than 8 lines (``LINES_IN_A_CHART``) is split. If the
    values of the parameter are text, the points are in the order of ``results`` and are not joined by lines.
    """
    return [chart for chart_of_parameter in charts for chart in _along(results, chart_of_parameter)]


def _along(results: Sequence[Result], chart: ParameterChart) -> list[Chart]:
    metric, name = chart.metric, chart.parameter
    results_of_metric = [
        r for r in results if r.summary.metric == metric and name in r.summary.params and (r.summary.value or 0) > 0
    ]
    groups: dict[str, list[Result]] = {}
    for result in results_of_metric:
        groups.setdefault(line_key(result, name), []).append(result)
    lines = [line for line in groups.values() if len(line) >= MIN_VALUES]
    if not lines:
        return []
    is_text = any(isinstance(result.summary.params[name], str) for result in results_of_metric)
    if not is_text:
        lines = [sorted(line, key=lambda r: float(r.summary.params[name])) for line in lines]
    title = f"{_metric_title(metric)} by {name}" if is_text else f"{_metric_title(metric)} against {name}"
    return [
        replace(
            _chart(part_title, _named(part, name), name, is_joined=not is_text),
            meaning=chart.meaning,
            commands=tuple(sweep_command(line, name) for line in part),
        )
        for part_title, part in chunks(lines, title)
    ]


def _metric_title(metric: str) -> str:
    """Return a metric's name as a title: ``Round trips`` for round_trips."""
    return f"{metric[:1].upper()}{metric[1:]}".replace("_", " ")


def _named(lines: Sequence[list[Result]], name: str) -> list[ParameterLine]:
    return [
        ParameterLine(label, [_tick(name, result.summary.params[name]) for result in line], line)
        for label, line in zip(_labels(lines, name), lines, strict=True)
    ]


def _labels(lines: Sequence[Sequence[Result]], swept: str) -> list[str]:
    texts = labels([line[0] for line in lines])
    differing = [" ".join(w for w in text.split() if not w.startswith(f"{swept}=")) for text in texts]
    return [line_label(text, line[0]) for text, line in zip(differing, lines, strict=True)]


def _tick(name: str, value: Value) -> str:
    return size_text(float(value)) if name in _SIZES else str(value)


def percentiles(results: Sequence[Result]) -> list[Chart]:
    """Return charts of the times of single operations, with one line per experiment from the median to the maximum.

    ``results`` are all results of one probe. The percentiles are the results with ``is_detail``, in their order; the
    part of the metric's name after the last ``_``, such as ``p99``, is the category on the x axis. The part before is
    ``latency``; a mixture of reads and writes also has a line each for ``read_latency`` and ``write_latency``.
    Experiments with fewer than 3 percentiles (``MIN_VALUES``) above 0 are left out. A chart has at most 8 lines
    (``LINES_IN_A_CHART``). The list is empty if no experiment remains.
    """
    by_line: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.is_detail and result.summary.value:
            by_line.setdefault((result.id, result.summary.metric.rpartition("_")[0]), []).append(result)
    by_line = {key: line for key, line in by_line.items() if len(line) >= MIN_VALUES}
    if not by_line:
        return []
    lines = list(by_line.values())
    named = {
        id(line): f"{label} {_KINDS.get(metric, '')}".strip()
        for ((_, metric), line), label in zip(by_line.items(), _labels(lines, ""), strict=True)
    }
    return [
        replace(
            _chart(
                title,
                [ParameterLine(named[id(line)], [_tail(r) for r in line], line) for line in part],
                "percentile",
                True,
            ),
            meaning=_PERCENTILES_MEAN,
            commands=repeat_commands(line[0] for line in part),
        )
        for title, part in chunks(lines, "Times of single operations")
    ]


def _tail(result: Result) -> str:
    return result.summary.metric.rpartition("_")[2]


def _chart(title: str, lines: Sequence[ParameterLine], name: str, is_joined: bool) -> Chart:
    first = lines[0].results[0].summary
    metric = "latency" if name == "percentile" else first.metric
    values = [result.summary.value or 0.0 for line in lines for result in line.results]
    factor, unit = scale(max(values), first.unit)
    heading = f"{metric} ({unit})"
    points = [
        _point(line.label, tick, result, factor)
        for line in lines for tick, result in zip(line.places, line.results, strict=True)
    ]  # fmt: skip
    longest_first = sorted(lines, key=lambda line: -len(line.places))
    order = list(dict.fromkeys(tick for line in longest_first for tick in line.places))
    spec, plot = _drawing(points, [line.label for line in lines], order, (name, heading), is_joined)
    spec["description"] = f"{metric} of {first.probe} by {name}, logarithmic"
    columns = (
        ("line", "parameters"), ("place", name), ("value", heading), ("low", "interval from"), ("high", "to"),
    )  # fmt: skip
    centre = "percentile" if name == "percentile" else "median"
    caption = f"The value axis is logarithmic. Bars show the interval of the {centre}."
    return Chart(title, "", caption, spec, plot, columns if len(lines) > 1 else columns[1:], ())


def _point(label: str, tick: str, result: Result, factor: float) -> Point:
    row = result.summary
    return {"line": label, "place": tick, "value": rounded((row.value or 0.0) / factor), **interval_of(row, factor)}


def _drawing(points: list[Point], names: list[str], order: list[str], titles: tuple[str, str], is_joined: bool
             ) -> tuple[dict[str, Any], Plot]:  # fmt: skip
    reached = [float(p[key]) for p in points for key in ("value", "low", "high") if key in p and float(p[key]) > 0]
    domain, numbers = log_axis(min(reached), max(reached))
    x = alt.X(
        "place:N", title=titles[0], sort=order, axis=alt.Axis(labelAngle=0, grid=False), scale=alt.Scale(padding=0.4)
    )
    y_axis = Axis(titles[1], base=10, ends=domain, numbers=numbers)
    y = channel(alt.Y, "value", y_axis)
    tooltip: list[Any] = [
        alt.Tooltip("line:N"),
        alt.Tooltip("place:N", title=titles[0]),
        alt.Tooltip("value:Q", title=titles[1]),
        alt.Tooltip("low:Q"),
        alt.Tooltip("high:Q"),
    ]
    measured = chart_of(points).encode(x=x, y=y, tooltip=tooltip if len(names) > 1 else tooltip[1:])
    layers = lines_with_intervals(measured, names, legend(names), titles[1], is_joined)
    plot = Plot(Axis(titles[0], categories=order), y_axis, marks_of_lines(points, "place", is_joined), names)
    return definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), HEIGHT), plot
