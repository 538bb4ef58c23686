"""Provide the parts that the report's charts share.

A chart is a Vega-Lite definition, whose colours are names that the page's style sheet defines. Pass channels as
objects, ``alt.Text("name:N")``: for plain strings, Altair hashes its whole schema, which takes 9 ms each time.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt

from nameplate.records.plan_record import Value
from nameplate.records.result import Result, Summary
from nameplate.report.charts.plot import Axis, Marks, Plot
from nameplate.report.content.format import parameters

_POINT = 36
_LABEL_Y = -6  # above the plot

Point: TypeAlias = dict[str, str | float]

# The number of different colours and shapes; a chart with more lines is split.
LINES_IN_A_CHART = 8

HEIGHT = 260

# Legend entries up to this length fit side by side on a phone.
SHORT_LABEL = 18

# A legend entry of this length is as wide as a chart on a phone.
LONG_LABEL = 44

# The approximate number of ticks where Vega chooses them.
_TICKS = 6

# More ticks do not fit the axis of a chart of HEIGHT pixels.
MAX_TICKS = 13

_SIGNIFICANT = 5

# Altair writes this for a layer that uses the chart's data, but Vega takes it as the name of a data set.
_NO_DATA = {"name": "empty"}


@dataclass(frozen=True)
class Chart:
    """A chart and the text around it.

    - ``title``: the title, or "" if the page has a heading for the chart
    - ``meaning``: a few sentences that say how to read the chart, and what a bad sign looks like
    - ``caption``: a description of the marks
    - ``spec``: the Vega-Lite definition, as returned by ``definition``
    - ``plot``: the axes and marks, for programs other than Vega-Lite
    - ``columns``: the fields of the chart's points that the table of the chart shows, as (field, heading)
    - ``commands``: the shell commands that repeat the measurements; empty if they are not known
    - ``events``: the events of a long series as (event, conditions at that time), numbered from 1 as in the chart; None
      if no events were searched for
    """

    title: str
    meaning: str
    caption: str
    spec: Mapping[str, Any]
    plot: Plot
    columns: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]
    events: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True)
class NumberedChart:
    """A chart, and its index (from 0) in the list of charts that the page's script draws."""

    index: int
    chart: Chart


def placed(new: Sequence[Chart], charts: list[Chart]) -> list[NumberedChart]:
    """Append the charts ``new`` to the list ``charts``, and return them with their indices in ``charts``.

    The order of ``new`` is kept.
    """
    numbered = [NumberedChart(len(charts) + offset, chart) for offset, chart in enumerate(new)]
    charts.extend(new)
    return numbered


def rounded(value: float) -> float:
    """Return a value rounded to five significant digits, which keeps the page small."""
    return float(f"{value:.{_SIGNIFICANT}g}")


def chart_of(points: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """Return an Altair chart without marks, whose data are ``points``: mappings from field names to values.

    The points are passed as a tuple: when charts are combined, Altair copies every point of a list, but none of a
    tuple.
    """
    return alt.Chart(alt.InlineData(values=tuple(points)))


def definition(chart: Any, height: int | alt.Step, width: str | int | alt.Step = "container") -> dict[str, Any]:
    """Return the Vega-Lite definition of a chart in the form that the page's script draws.

    - ``chart``: a single or layered Altair chart
    - ``height``, ``width``: pixels, or an ``altair.Step`` with the pixels per category; the width "container" makes the
      chart as wide as its HTML element

    The background is transparent. The definition has neither ``$schema`` nor Altair's theme (``config``). If the layers
    have no data of their own, set the key ``data`` of the returned definition.
    """
    sized = chart.properties(width=width, height=height, background="transparent")
    # The check by Vega-Lite's schema takes a second for a report; the tests do it for each kind of chart.
    made: dict[str, Any] = sized.to_dict(validate=False)
    # The page must not name any host, so remove the schema's URL; vega-embed then assumes Vega-Lite.
    made.pop("$schema")
    made.pop("config", None)
    for layer in made.get("layer", []):
        if layer.get("data") == _NO_DATA:
            del layer["data"]
    if "datasets" in made:
        made["datasets"] = {name: list(points) for name, points in made["datasets"].items()}
    return made


def channel(kind: Any, field: str, axis: Axis, scale: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Return the Altair channel that draws the numbers of ``field`` along ``axis``.

    ``kind`` is ``altair.X`` or ``altair.Y``. ``scale`` has additional arguments of ``altair.Scale``. ``options`` are
    arguments of ``altair.Axis`` and take precedence over the ticks of ``axis``.
    """
    of_axis: dict[str, Any] = {"type": "log", "nice": False} if axis.base else {}
    if axis.base not in (0, 10):
        of_axis["base"] = axis.base
    if axis.ends:
        of_axis["domain"] = list(axis.ends)
    if axis.has_zero:
        of_axis["zero"] = True
    return kind(
        f"{field}:Q",
        title=axis.title,
        scale=alt.Scale(**of_axis, **(scale or {})),
        axis=alt.Axis(**{**(ticks(axis) or {"tickCount": _TICKS}), **options}),
    )


def ticks(axis: Axis) -> dict[str, Any]:
    """Return Vega-Lite's ``axis`` options for the ticks of a numeric axis; empty if Vega-Lite is to choose them."""
    if axis.names:
        names = {f"{number:.15g}": name for number, name in axis.names.items()}
        return {"values": list(axis.names), "labelExpr": json.dumps(names) + "[datum.value]"}
    return {"values": list(axis.numbers), "format": "~g"} if axis.numbers else {}


def legend(labels: Sequence[str], above: int = 0) -> alt.Legend | None:
    """Return the legend above a chart whose lines have the labels ``labels``, or None if there is only one line.

    The legend has two columns if no label is longer than 18 characters (``SHORT_LABEL``), otherwise one. A label of
    more than 44 characters (``LONG_LABEL``) is wrapped. ``above`` is additional space between legend and chart in
    pixels.

    Raises:
        ValueError: ``labels`` is empty.
    """
    longest = max(map(len, labels))
    if len(labels) == 1:
        return None
    # An expression that returns a list draws one line for each item.
    lines = {label: textwrap.wrap(label, LONG_LABEL) for label in labels} if longest > LONG_LABEL else {}
    return alt.Legend(
        title=None, orient="top", columns=2 if longest <= SHORT_LABEL else 1, columnPadding=18, labelLimit=0,
        offset=10 + above, labelExpr=f"{json.dumps(lines)}[datum.label]" if lines else alt.Undefined,
    )  # fmt: skip


def interval_of(row: Summary, factor: float) -> dict[str, float]:
    """Return the fields ``low`` and ``high`` of a point: the bounds of the 95 % interval in the chart's unit.

    The bounds in ``row.ci``, in the SI base unit, are divided by ``factor``, which ``report.content.format.scale``
    returns together with the chart's unit. The dictionary is empty if the value has no interval.
    """
    return {"low": rounded(row.ci[0] / factor), "high": rounded(row.ci[1] / factor)} if row.ci else {}


def lines_with_intervals(
    measured: Any, names: Sequence[str], key: alt.Legend | None, heading: str | None, is_joined: bool = True
) -> list[Any]:
    """Return the layers of a line chart for ``altair.layer``: intervals as bars, then lines, then points.

    - ``measured``: an Altair chart with the data and the encoding of both axes. Its points have the field ``line`` (the
      label of their line), and ``low`` and ``high`` in the unit of the y axis if they have an interval.
    - ``names``: the labels of all lines, in the order of their colours
    - ``key``: the legend, as returned by ``legend``
    - ``heading``: the title of the y axis
    - ``is_joined``: whether lines connect the points
    """
    lines = alt.Scale(domain=list(names))
    colour = alt.Color("line:N", scale=lines, legend=None)
    bars = measured.mark_rule(strokeWidth=1, opacity=0.6).transform_filter("isValid(datum.low)")
    joined = [measured.mark_line(strokeWidth=1.6).encode(color=colour)] if is_joined else []
    points = measured.mark_point(filled=True, size=_POINT, opacity=1)
    return [
        bars.encode(y=alt.Y("low:Q", title=heading), y2=alt.Y2("high:Q"), color=colour),
        *joined,
        points.encode(alt.Color("line:N", scale=lines, legend=key), alt.Shape("line:N", scale=lines, legend=key)),
    ]


def layers_of_positions(positions: Sequence[Point], x: Any, label: str) -> tuple[list[Any], list[Marks]]:
    """Return the layers and the marks of dashed vertical lines with labels above the plot.

    ``positions`` has one point per line. ``x`` is the Altair channel of the field with its position, and ``label`` is
    the name of the field with its label. Without positions, the list of layers is empty, and the marks have no rows.
    """
    at = x.shorthand.removesuffix(":Q")
    drawn = chart_of(positions).encode(x=x)
    text = drawn.mark_text(align="left", dx=3, fontWeight="bold", color="var(--ink)")
    layers = [
        drawn.mark_rule(strokeDash=[2, 3], color="var(--ink)", opacity=0.5),
        text.encode(y=alt.value(_LABEL_Y), text=alt.Text(f"{label}:N")),
    ]
    return layers if positions else [], [Marks("rules", positions, (at,)), Marks("headings", positions, (at, label))]


def lines_along(results: Sequence[Result], swept: str) -> list[list[Result]]:
    """Return the results with a value above 0 as lines, each in ascending order of the parameter ``swept``.

    ``results`` must be of one probe and one metric, which is not checked. The results of a line agree in all other
    parameters; results without the parameter ``swept`` are left out. Lines are in ascending order of their lowest value
    of ``swept``. Long series form separate lines, because minutes under load differ from short samples. The list is
    empty if no result qualifies.

    Raises:
        ValueError: a value of ``swept`` is not a number.
    """
    measured = [r for r in results if (r.summary.value or 0.0) > 0 and swept in r.summary.params]
    lines: dict[str, list[Result]] = {}
    for result in sorted(measured, key=lambda r: float(r.summary.params[swept])):
        lines.setdefault(line_key(result, swept), []).append(result)
    return list(lines.values())


def labels_of(lines: Sequence[Sequence[Result]], swept: str) -> list[str]:
    """Return one label per line, in the order of ``lines``: the parameters in which the lines differ (``op=triad``).

    ``lines`` are the lines that ``lines_along`` returns for the parameter ``swept``, which no label contains. If the
    lines do not differ, the label is "measured", or "series" for a long series.
    """
    params_of_lines = [_fixed_params(line[0], swept) for line in lines]
    names = list(dict.fromkeys(name for params in params_of_lines for name in params))
    differing = [
        name for name in names if any(params.get(name) != params_of_lines[0].get(name) for params in params_of_lines)
    ]
    texts = [parameters({name: params[name] for name in differing if name in params}) for params in params_of_lines]
    return [line_label(text, line[0]) for text, line in zip(texts, lines, strict=True)]


def line_label(differing: str, first: Result) -> str:
    """Return the label of a line: the text ``differing``, followed by "series" if the line is a long series.

    ``differing`` has the parameters in which the lines of the chart differ. If it is empty, the label is "measured" or
    "series". ``first`` is any result of the line.
    """
    return differing + " series" * first.is_series if differing else "series" if first.is_series else "measured"


def line_key(result: Result, *swept: str) -> str:
    """Return a key that is equal for results that may share a line, or a grid, along the parameters ``swept``.

    Such results agree in all parameters except ``swept``, and either all or none of them are long series. The probe and
    the metric are not part of the key.
    """
    rest = {name: value for name, value in result.summary.params.items() if name not in swept}
    return repr((result.is_series, sorted(rest.items())))


def _fixed_params(result: Result, swept: str) -> dict[str, Value]:
    return {name: value for name, value in result.summary.params.items() if name != swept}


def chunks(lines: Sequence[list[Result]], title: str) -> list[tuple[str, Sequence[list[Result]]]]:
    """Split lines into charts of at most 8 lines (``LINES_IN_A_CHART``), and return (title, lines) for each chart.

    The order is kept. A single chart has the title ``title``; with several charts, the titles end in ``(1 of 3)``, ``(2
    of 3)`` and so on. The result is empty if ``lines`` is empty.
    """
    parts = [lines[i : i + LINES_IN_A_CHART] for i in range(0, len(lines), LINES_IN_A_CHART)]
    if len(parts) == 1:
        return [(title, parts[0])]
    return [(f"{title} ({number} of {len(parts)})", part) for number, part in enumerate(parts, start=1)]


def log_axis(low: float, high: float) -> tuple[tuple[float, float], list[float]]:
    """Return the ends (lowest, highest) of a logarithmic axis that includes ``low`` to ``high``, and its tick values.

    The ends are the nearest numbers of the form 1, 2 or 5 times a power of ten, and always differ. The ascending tick
    values are all numbers of this form between the ends, or only the powers of ten if there were more than 13
    (``MAX_TICKS``). ``low`` must be above 0 and at most ``high``.

    Raises:
        ValueError: ``low`` is not above 0.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [rounded(digit * 10.0**power) for power in powers for digit in (1, 2, 5)]
    first = max(number for number in numbers if number <= low)
    last = min(number for number in numbers if number >= high and number > first)
    ticks = [number for number in numbers if first <= number <= last]
    if len(ticks) > MAX_TICKS:
        ticks = [number for number in ticks if math.log10(number).is_integer()]
    return (first, last), ticks
