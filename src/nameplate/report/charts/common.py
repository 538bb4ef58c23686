"""Shared parts of the report's charts. Charts are Vega-Lite definitions; colours are names that the page's theme
defines.

Channels are given as objects, ``alt.Text("name:N")``: for a bare text, Altair hashes its whole schema, 9 ms each time.
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
from nameplate.report.content.format import parameters

_POINT = 36

Point: TypeAlias = dict[str, str | float]

# A chart with more lines is split: there are no more colours and shapes to tell lines apart.
LINES_IN_A_CHART = 8

HEIGHT = 260

# The dashes of a dotted line, which exports draw dotted as well.
DOTS = [1, 3]

# Legend entries up to this length fit side by side on a phone.
SHORT_LABEL = 18

# A legend entry of this length is as wide as a chart on a phone.
LONG_LABEL = 44

# More numbers do not fit the axis of a chart of this height.
MAX_TICKS = 13

_SIGNIFICANT = 5

# Altair writes this for a layer that uses the chart's data; Vega would look for data of this name.
_NO_DATA = {"name": "empty"}


@dataclass(frozen=True)
class Chart:
    """A chart and the text around it.

    ``title`` may be "" if the page has its own heading. ``meaning`` says in a few sentences how to read the chart and
    what a bad sign looks like; ``caption`` describes the marks. ``spec`` is the Vega-Lite definition, as ``definition``
    returns it. ``columns`` are the fields of the chart's points that its table shows, as (field, heading). ``commands``
    are the shell commands that repeat the measurements, or empty if they are not known. ``events`` are the events of a
    long series as (what happened, conditions), numbered from 1 as in the chart, or None if no events were searched for.
    """

    title: str
    meaning: str
    caption: str
    spec: Mapping[str, Any]
    columns: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]
    events: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True)
class NumberedChart:
    """A chart and its index, from 0, in the list that the page's script draws."""

    index: int
    chart: Chart


def placed(new: Sequence[Chart], charts: list[Chart]) -> list[NumberedChart]:
    """Append the charts ``new`` to the list ``charts``, and return them with their indices in it, in the same order."""
    numbered = [NumberedChart(len(charts) + offset, chart) for offset, chart in enumerate(new)]
    charts.extend(new)
    return numbered


def rounded(value: float) -> float:
    """Return a value rounded to five significant digits, which keeps the page small."""
    return float(f"{value:.{_SIGNIFICANT}g}")


def chart_of(points: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """Return an Altair chart of points without marks; each point has its values by field.

    Altair copies a chart whenever it is combined with another one, with each point of a list, but without those of a
    tuple.
    """
    return alt.Chart(alt.InlineData(values=tuple(points)))


def definition(chart: Any, height: int | alt.Step, width: str | int | alt.Step = "container") -> dict[str, Any]:
    """Return the Vega-Lite definition of an Altair chart as the page's script draws it, with a transparent background.

    ``chart`` is a single or layered Altair chart. ``height`` and ``width`` are in pixels, or an ``altair.Step`` for
    each category; "container" makes the chart as wide as the element that contains it. The schema's address and
    Altair's own theme are left out. If layers have no data of their own, set ``data`` of the returned definition.
    """
    sized = chart.properties(width=width, height=height, background="transparent")
    # The check by Vega-Lite's schema takes a second for a report; the tests do it for each kind of chart.
    made: dict[str, Any] = sized.to_dict(validate=False)
    # Without the schema's address the page names no other host; vega-embed then assumes Vega-Lite.
    made.pop("$schema")
    made.pop("config", None)
    for layer in made.get("layer", []):
        if layer.get("data") == _NO_DATA:
            del layer["data"]
    if "datasets" in made:
        made["datasets"] = {name: list(points) for name, points in made["datasets"].items()}
    return made


def tick_labels(names: Mapping[float, str]) -> str:
    """Return the Vega ``labelExpr`` of an axis that shows a name at each of its ticks.

    ``names`` maps the position of every tick, in units of the axis, to its name. A tick without a name has no label.
    The expression does not set the ticks: pass the positions as ``values`` of the axis.
    """
    return json.dumps({f"{number:.15g}": name for number, name in names.items()}) + "[datum.value]"


def legend(labels: Sequence[str], above: int = 0) -> alt.Legend | None:
    """Return the legend above a chart whose lines have these labels, or None if there is only one line.

    Labels are in two columns if none has more than ``SHORT_LABEL`` characters, and those of more than ``LONG_LABEL``
    are in several lines. ``above`` is the additional space in
    pixels between legend and chart.

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
    """Return the fields ``low`` and ``high`` of a point: the bounds of a value's interval in the chart's unit.

    The bounds of ``row``, in the SI base unit, are divided by ``factor``, which ``report.format.scale`` returns with
    the chart's unit. The dictionary is empty if the value has no interval.
    """
    return {"low": rounded(row.ci[0] / factor), "high": rounded(row.ci[1] / factor)} if row.ci else {}


def lines_with_intervals(
    measured: Any, names: Sequence[str], key: alt.Legend | None, heading: str, is_joined: bool = True
) -> list[Any]:
    """Return the layers of a line chart, to be passed to ``altair.layer``: intervals as bars, then lines, then points.

    ``measured`` is an Altair chart with the data and the encoding of both axes; its points have the fields ``line`` (a
    label), and ``low`` and ``high`` in the unit of the y axis if they have an interval. ``names`` are all labels in the
    order of their colours. ``key`` is the legend, from ``legend``, and ``heading`` is the title of the y axis. With
    ``is_joined`` False, there are no lines.
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


def lines_along(results: Sequence[Result], swept: str) -> list[list[Result]]:
    """Return the results with a value above 0 as lines, each in ascending order of the parameter ``swept``.

    ``results`` must be of one probe and one metric, which are not compared. The results of a line agree in all
    parameters other than ``swept``; results without it are left out. Lines are in ascending order of their first
    values of ``swept``. Long series form lines of their own, because minutes under load are another experiment than
    short slices. The list is empty if no result qualifies.

    Raises:
        ValueError: ``swept`` has a word as value.
    """
    measured = [r for r in results if (r.summary.value or 0.0) > 0 and swept in r.summary.params]
    lines: dict[str, list[Result]] = {}
    for result in sorted(measured, key=lambda r: float(r.summary.params[swept])):
        lines.setdefault(line_key(result, swept), []).append(result)
    return list(lines.values())


def labels_of(lines: Sequence[Sequence[Result]], swept: str) -> list[str]:
    """Return a label for each line, in their order: the parameters in which the lines differ, such as ``op=triad``.

    ``lines`` come from ``lines_along`` with the same ``swept``, a parameter that labels never contain. If the lines do
    not differ, the label is "measured", or "series" for a long series.
    """
    own = [_others(line[0], swept) for line in lines]
    names = list(dict.fromkeys(name for params in own for name in params))
    differing = [name for name in names if any(params.get(name) != own[0].get(name) for params in own)]
    words = [parameters({name: params[name] for name in differing if name in params}) for params in own]
    return [line_label(text, line[0]) for text, line in zip(words, lines, strict=True)]


def line_label(differing: str, first: Result) -> str:
    """Return the label of a line: ``differing``, followed by "series" if the line is a long series.

    ``differing`` are the parameters in which lines differ, as text; "" becomes "measured" or "series". ``first`` is any
    result of the line.
    """
    return differing + " series" * first.is_series if differing else "series" if first.is_series else "measured"


def line_key(result: Result, *swept: str) -> str:
    """Return a key that is equal for results that may share a line or grid along the parameters ``swept``.

    Such results agree in all other parameters, and either all or none of them are long series. Probe and metric are not
    compared.
    """
    others = {name: value for name, value in result.summary.params.items() if name not in swept}
    return repr((result.is_series, sorted(others.items())))


def _others(result: Result, swept: str) -> dict[str, Value]:
    return {name: value for name, value in result.summary.params.items() if name != swept}


def chunks(lines: Sequence[list[Result]], title: str) -> list[tuple[str, Sequence[list[Result]]]]:
    """Split lines into charts of at most ``LINES_IN_A_CHART`` lines, and return the title and the lines of each chart.

    The order is kept. A single chart has the title ``title``; the titles of several charts end in ``(1 of 3)``, ``(2 of
    3)`` and so on. The list is empty if there are no lines.
    """
    parts = [lines[i : i + LINES_IN_A_CHART] for i in range(0, len(lines), LINES_IN_A_CHART)]
    if len(parts) == 1:
        return [(title, parts[0])]
    return [(f"{title} ({number} of {len(parts)})", part) for number, part in enumerate(parts, start=1)]


def log_axis(low: float, high: float) -> tuple[list[float], list[float]]:
    """Return the two ends of a logarithmic axis that includes ``low`` and ``high``, and the numbers to show on it.

    The ends are the nearest numbers of the form 1, 2 or 5 times a power of ten, and always differ. The numbers ascend;
    they are all such numbers from end to end, or only powers of ten if there would be more than ``MAX_TICKS``. ``low``
    must be above 0 and at most ``high``.

    Raises:
        ValueError: ``low`` is not above 0.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [rounded(digit * 10.0**power) for power in powers for digit in (1, 2, 5)]
    first = max(number for number in numbers if number <= low)
    last = min(number for number in numbers if number >= high and number > first)
    shown = [number for number in numbers if first <= number <= last]
    if len(shown) > MAX_TICKS:
        shown = [number for number in shown if math.log10(number).is_integer()]
    return [first, last], shown
