"""What the report's charts share. They are Vega-Lite definitions; colours are named only by the page's theme."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt

from nameplate.records.model import Result, Summary, Value
from nameplate.report.format import parameters

_POINT = 36

Point: TypeAlias = dict[str, str | float]

# More lines than there are colours and shapes to tell apart go into another chart.
LINES_IN_A_CHART = 8

HEIGHT = 260

# Up to this many letters two of a legend's entries stand side by side on a telephone.
SHORT_LABEL = 18

# So many numbers find a place on the axis of a chart of that height.
MAX_TICKS = 13

_SIGNIFICANT = 5

# What Altair writes for a layer that is to draw its chart's data, and Vega takes for data of that name.
_NO_DATA = {"name": "empty"}


@dataclass(frozen=True)
class Chart:
    """A chart and what stands around it.

    ``meaning`` says in a few plain sentences how to read it, and what a bad sign would be. ``columns`` are the fields
    of its points that its table shows, with their headings; ``commands`` measure again what it shows. ``events``: of a
    long series what happened and what moved with it, by the numbers in the chart; None where nothing of the kind was
    looked for.
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
    """A chart with its place in the list that the page's script draws."""

    index: int
    chart: Chart


def placed(new: Sequence[Chart], charts: list[Chart]) -> list[NumberedChart]:
    """New charts at the end of all, with their places there."""
    figures = [NumberedChart(len(charts) + offset, chart) for offset, chart in enumerate(new)]
    charts.extend(new)
    return figures


def rounded(value: float) -> float:
    """To what can be told apart in a chart and in its table."""
    return float(f"{value:.{_SIGNIFICANT}g}")


def definition(chart: Any, height: int | alt.Step, width: str | int | alt.Step = "container") -> dict[str, Any]:
    """A finished chart as the page's script draws it; by default as wide as its place."""
    sized = chart.properties(width=width, height=height, background="transparent")
    made: dict[str, Any] = sized.to_dict()
    # Without its address the page names no other host at all; vega-embed takes Vega-Lite for granted then.
    made.pop("$schema")
    made.pop("config", None)
    for layer in made.get("layer", []):
        if layer.get("data") == _NO_DATA:
            del layer["data"]
    return made


def tick_labels(names: Mapping[float, str]) -> str:
    """What stands at the numbers of an axis, as its ``labelExpr``."""
    return json.dumps({f"{number:.15g}": name for number, name in names.items()}) + "[datum.value]"


def legend(labels: Sequence[str], above: int = 0) -> alt.Legend | None:
    """None for a single line, which needs none. ``above`` are pixels that it leaves free over the chart."""
    columns = 2 if max(map(len, labels)) <= SHORT_LABEL else 1
    shown = alt.Legend(title=None, orient="top", columns=columns, columnPadding=18, labelLimit=320, offset=10 + above)
    return shown if len(labels) > 1 else None


def interval_of(row: Summary, factor: float) -> dict[str, float]:
    """``low`` and ``high`` of a point, where its value has an interval."""
    return {"low": rounded(row.ci[0] / factor), "high": rounded(row.ci[1] / factor)} if row.ci else {}


def lines_with_intervals(
    measured: Any, names: Sequence[str], key: alt.Legend | None, heading: str, is_joined: bool = True
) -> list[Any]:
    """The layers of points by ``line``: the interval of each as a bar, the line, and the points with the legend."""
    lines = alt.Scale(domain=list(names))
    colour = alt.Color("line:N", scale=lines, legend=None)
    bars = measured.mark_rule(strokeWidth=1, opacity=0.6).transform_filter("isValid(datum.low)")
    joined = [measured.mark_line(strokeWidth=1.6).encode(color=colour)] if is_joined else []
    points = measured.mark_point(filled=True, size=_POINT, opacity=1)
    return [
        bars.encode(y=alt.Y("low:Q", title=heading), y2="high:Q", color=colour),
        *joined,
        points.encode(alt.Color("line:N", scale=lines, legend=key), alt.Shape("line:N", scale=lines, legend=key)),
    ]


def lines_along(results: Sequence[Result], swept: str) -> list[list[Result]]:
    """Return what was measured, ascending in one parameter: a line for each set of the others.

    A plan's long series is not in the line of the slices: minutes under load are another experiment.
    """
    measured = [r for r in results if (r.summary.value or 0.0) > 0 and swept in r.summary.params]
    lines: dict[str, list[Result]] = {}
    for result in sorted(measured, key=lambda r: float(r.summary.params[swept])):
        lines.setdefault(line_key(result, swept), []).append(result)
    return list(lines.values())


def labels_of(lines: Sequence[Sequence[Result]], swept: str) -> list[str]:
    """The parameters in which the lines differ."""
    own = [_others(line[0], swept) for line in lines]
    names = list(dict.fromkeys(name for params in own for name in params))
    differing = [name for name in names if any(params.get(name) != own[0].get(name) for params in own)]
    words = [parameters({name: params[name] for name in differing if name in params}) for params in own]
    return [line_label(text, line[0]) for text, line in zip(words, lines, strict=True)]


def line_label(differing: str, first: Result) -> str:
    """Return the name of a line in a chart, from the parameters that it alone has and one of its results."""
    return differing + " series" * first.is_series if differing else "series" if first.is_series else "measured"


def line_key(result: Result, *swept: str) -> str:
    """Return what results have in common that may be in one line, or grid, along the parameters ``swept``."""
    others = {name: value for name, value in result.summary.params.items() if name not in swept}
    return repr((result.is_series, sorted(others.items())))


def _others(result: Result, swept: str) -> dict[str, Value]:
    return {name: value for name, value in result.summary.params.items() if name != swept}


def chunks(lines: Sequence[list[Result]], title: str) -> list[tuple[str, Sequence[list[Result]]]]:
    """No more lines than can be told apart, with the title of each chart."""
    parts = [lines[i : i + LINES_IN_A_CHART] for i in range(0, len(lines), LINES_IN_A_CHART)]
    if len(parts) == 1:
        return [(title, parts[0])]
    return [(f"{title} ({number} of {len(parts)})", part) for number, part in enumerate(parts, start=1)]


def log_axis(low: float, high: float) -> tuple[list[float], list[float]]:
    """For a logarithmic axis that holds a span of values: its two ends, and the numbers on it.

    They are 1, 2 and 5 of each power of ten, or the powers alone where that is too many; the ends are such numbers.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [rounded(digit * 10.0**power) for power in powers for digit in (1, 2, 5)]
    first = max(number for number in numbers if number <= low)
    last = min(number for number in numbers if number >= high and number > first)
    shown = [number for number in numbers if first <= number <= last]
    if len(shown) > MAX_TICKS:
        shown = [number for number in shown if math.log10(number).is_integer()]
    return [first, last], shown
