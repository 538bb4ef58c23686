"""Draw a metric along a parameter that its probe names, and the percentiles of single operations."""

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
from nameplate.report.content.format import scale
from nameplate.report.content.repeat_commands import repeat_commands, sweep_command
from nameplate.units import size_text

# Fewer values of a parameter are as easy to read in the table.
MIN_VALUES = 3
_PERCENTILES_MEAN = (
    "p99 is the time that 99 of 100 operations did not exceed. A flat line means that operations take about as long "
    "as each other. A line that rises steeply at its end has a few very slow operations, which are what users notice "
    "first: a flush, a busy device, the scheduler."
)
_SIZES = ("block", "size", "payload")


@dataclass(frozen=True)
class ParameterLine:
    """One line of a chart: its results in the order of the x axis.

    ``label`` is the line's entry in the legend. ``places[i]`` is the text on the x axis at which ``results[i]`` is
    drawn.
    """

    label: str
    places: list[str]
    results: list[Result]


def along(results: Sequence[Result], wanted: Sequence[ParameterChart]) -> list[Chart]:
    """Return the charts that a probe asks for, of a metric against a parameter, from the results of this probe.

    ``wanted`` names the metric, the parameter and the explanation of each chart. The results of a line agree in all
    other parameters; those without a value above 0 are left out. A line has at least ``MIN_VALUES`` results. A chart
    without lines is left out, and one with more than ``LINES_IN_A_CHART`` is split. If the parameter has words as
    values, points are in the order of ``results`` and are not joined.
    """
    return [chart for each in wanted for chart in _along(results, each)]


def _along(results: Sequence[Result], wanted: ParameterChart) -> list[Chart]:
    metric, name = wanted.metric, wanted.parameter
    own = [r for r in results if r.summary.metric == metric and name in r.summary.params and (r.summary.value or 0) > 0]
    groups: dict[str, list[Result]] = {}
    for result in own:
        groups.setdefault(line_key(result, name), []).append(result)
    lines = [line for line in groups.values() if len(line) >= MIN_VALUES]
    if not lines:
        return []
    is_words = any(isinstance(result.summary.params[name], str) for result in own)
    if not is_words:
        lines = [sorted(line, key=lambda r: float(r.summary.params[name])) for line in lines]
    title = f"{_words(metric)} by {name}" if is_words else f"{_words(metric)} against {name}"
    return [
        replace(
            _chart(part_title, _named(part, name), name, is_joined=not is_words),
            meaning=wanted.meaning,
            commands=tuple(sweep_command(line, name) for line in part),
        )
        for part_title, part in chunks(lines, title)
    ]


def _words(metric: str) -> str:
    """Return a metric's name in words: ``Round trips`` for round_trips."""
    return f"{metric[:1].upper()}{metric[1:]}".replace("_", " ")


def _named(lines: Sequence[list[Result]], name: str) -> list[ParameterLine]:
    return [
        ParameterLine(label, [_place(name, result.summary.params[name]) for result in line], line)
        for label, line in zip(_labels(lines, name), lines, strict=True)
    ]


def _labels(lines: Sequence[Sequence[Result]], swept: str) -> list[str]:
    own = labels([line[0] for line in lines])
    differing = [" ".join(w for w in words.split() if not w.startswith(f"{swept}=")) for words in own]
    return [line_label(words, line[0]) for words, line in zip(differing, lines, strict=True)]


def _place(name: str, value: Value) -> str:
    return size_text(float(value)) if name in _SIZES else str(value)


def percentiles(results: Sequence[Result]) -> list[Chart]:
    """Return charts of the times of single operations, with a line from the median to the maximum for each experiment.

    ``results`` are all results of a probe. The percentiles are the detail metrics (``is_detail``) among them, in their
    order; the part of a metric's name after the last ``_``, such as ``p99``, is its place on the x axis. Experiments
    with fewer than ``MIN_VALUES`` percentiles other than None and 0 are left out. A chart has at most
    ``LINES_IN_A_CHART`` lines; the list is empty if there are none.
    """
    experiments: dict[str, list[Result]] = {}
    for result in results:
        if result.is_detail and result.summary.value:
            experiments.setdefault(result.id, []).append(result)
    lines = [own for own in experiments.values() if len(own) >= MIN_VALUES]
    if not lines:
        return []
    named = {id(line): label for line, label in zip(lines, _labels(lines, ""), strict=True)}
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
        _point(line.label, place, result, factor)
        for line in lines for place, result in zip(line.places, line.results, strict=True)
    ]  # fmt: skip
    longest_first = sorted(lines, key=lambda line: -len(line.places))
    order = list(dict.fromkeys(place for line in longest_first for place in line.places))
    spec = _spec(points, [line.label for line in lines], order, (name, heading), is_joined)
    spec["description"] = f"{metric} of {first.probe} by {name}, logarithmic"
    columns = (
        ("line", "parameters"), ("place", name), ("value", heading), ("low", "interval from"), ("high", "to"),
    )  # fmt: skip
    caption = "The value axis is logarithmic. Bars show the interval of the median."
    return Chart(title, "", caption, spec, columns if len(lines) > 1 else columns[1:], ())


def _point(label: str, place: str, result: Result, factor: float) -> Point:
    row = result.summary
    return {"line": label, "place": place, "value": rounded((row.value or 0.0) / factor), **interval_of(row, factor)}


def _spec(points: list[Point], names: list[str], order: list[str], titles: tuple[str, str], is_joined: bool
          ) -> dict[str, Any]:  # fmt: skip
    reached = [float(p[key]) for p in points for key in ("value", "low", "high") if key in p and float(p[key]) > 0]
    domain, numbers = log_axis(min(reached), max(reached))
    x = alt.X(
        "place:N", title=titles[0], sort=order, axis=alt.Axis(labelAngle=0, grid=False), scale=alt.Scale(padding=0.4)
    )
    y = alt.Y("value:Q", title=titles[1], scale=alt.Scale(type="log", domain=domain, nice=False),
              axis=alt.Axis(values=numbers, format="~g"))  # fmt: skip
    shown: list[Any] = [
        alt.Tooltip("line:N"),
        alt.Tooltip("place:N", title=titles[0]),
        alt.Tooltip("value:Q", title=titles[1]),
        alt.Tooltip("low:Q"),
        alt.Tooltip("high:Q"),
    ]
    measured = chart_of(points).encode(x=x, y=y, tooltip=shown if len(names) > 1 else shown[1:])
    layers = lines_with_intervals(measured, names, legend(names), titles[1], is_joined)
    return definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), HEIGHT)
