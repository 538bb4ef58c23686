"""Shared parts of the report's charts. Charts are Vega-Lite definitions; colours are names that the page's theme
defines.
"""

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

# A chart with more lines is split: there are no more colours and shapes to tell lines apart.
LINES_IN_A_CHART = 8

HEIGHT = 260

# Legend entries up to this length fit side by side on a phone.
SHORT_LABEL = 18

# More numbers do not fit the axis of a chart of this height.
MAX_TICKS = 13

_SIGNIFICANT = 5

# Altair writes this for a layer that uses the chart's data; Vega would look for data of this name.
_NO_DATA = {"name": "empty"}


@dataclass(frozen=True)
class Chart:
    """A chart and the text around it.

    ``meaning`` says in a few sentences how to read the chart and what a bad sign looks like. ``columns`` are the fields
    of its points shown in its table, with their headings. ``commands`` repeat the measurements. ``events`` are the
    events of a long series and their conditions, numbered as in the chart; None if no events were searched for.
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
    """A chart and its index in the list that the page's script draws."""

    index: int
    chart: Chart


def placed(new: Sequence[Chart], charts: list[Chart]) -> list[NumberedChart]:
    """Append charts to ``charts`` and return them with their indices."""
    numbered = [NumberedChart(len(charts) + offset, chart) for offset, chart in enumerate(new)]
    charts.extend(new)
    return numbered


def rounded(value: float) -> float:
    """Return a value with five significant digits, which keeps the page small."""
    return float(f"{value:.{_SIGNIFICANT}g}")


def definition(chart: Any, height: int | alt.Step, width: str | int | alt.Step = "container") -> dict[str, Any]:
    """Return a finished chart as the page's script draws it; by default as wide as its container."""
    sized = chart.properties(width=width, height=height, background="transparent")
    made: dict[str, Any] = sized.to_dict()
    # Without the schema's address the page names no other host; vega-embed then assumes Vega-Lite.
    made.pop("$schema")
    made.pop("config", None)
    for layer in made.get("layer", []):
        if layer.get("data") == _NO_DATA:
            del layer["data"]
    return made


def tick_labels(names: Mapping[float, str]) -> str:
    """Return the ``labelExpr`` of an axis whose ticks have these names."""
    return json.dumps({f"{number:.15g}": name for number, name in names.items()}) + "[datum.value]"


def legend(labels: Sequence[str], above: int = 0) -> alt.Legend | None:
    """Return the legend, or None for a single line. ``above`` is the space in pixels between legend and chart."""
    columns = 2 if max(map(len, labels)) <= SHORT_LABEL else 1
    shown = alt.Legend(title=None, orient="top", columns=columns, columnPadding=18, labelLimit=320, offset=10 + above)
    return shown if len(labels) > 1 else None


def interval_of(row: Summary, factor: float) -> dict[str, float]:
    """Return the ``low`` and ``high`` fields of a point if its value has an interval."""
    return {"low": rounded(row.ci[0] / factor), "high": rounded(row.ci[1] / factor)} if row.ci else {}


def lines_with_intervals(
    measured: Any, names: Sequence[str], key: alt.Legend | None, heading: str, is_joined: bool = True
) -> list[Any]:
    """Return the layers of a chart with the field ``line``: intervals as bars, lines, and points with the legend."""
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
    """Return the measured results in ascending order of one parameter, one line for each set of the other parameters.

    Long series form lines of their own: minutes under load are another experiment than short slices.
    """
    measured = [r for r in results if (r.summary.value or 0.0) > 0 and swept in r.summary.params]
    lines: dict[str, list[Result]] = {}
    for result in sorted(measured, key=lambda r: float(r.summary.params[swept])):
        lines.setdefault(line_key(result, swept), []).append(result)
    return list(lines.values())


def labels_of(lines: Sequence[Sequence[Result]], swept: str) -> list[str]:
    """Return the label of each line: the parameters in which the lines differ."""
    own = [_others(line[0], swept) for line in lines]
    names = list(dict.fromkeys(name for params in own for name in params))
    differing = [name for name in names if any(params.get(name) != own[0].get(name) for params in own)]
    words = [parameters({name: params[name] for name in differing if name in params}) for params in own]
    return [line_label(text, line[0]) for text, line in zip(words, lines, strict=True)]


def line_label(differing: str, first: Result) -> str:
    """Return the label of a line, given the parameters that differ and one of its results."""
    return differing + " series" * first.is_series if differing else "series" if first.is_series else "measured"


def line_key(result: Result, *swept: str) -> str:
    """Return a key that is equal for results that may share a line or grid along the parameters ``swept``."""
    others = {name: value for name, value in result.summary.params.items() if name not in swept}
    return repr((result.is_series, sorted(others.items())))


def _others(result: Result, swept: str) -> dict[str, Value]:
    return {name: value for name, value in result.summary.params.items() if name != swept}


def chunks(lines: Sequence[list[Result]], title: str) -> list[tuple[str, Sequence[list[Result]]]]:
    """Split lines into charts of at most ``LINES_IN_A_CHART``, each with a title."""
    parts = [lines[i : i + LINES_IN_A_CHART] for i in range(0, len(lines), LINES_IN_A_CHART)]
    if len(parts) == 1:
        return [(title, parts[0])]
    return [(f"{title} ({number} of {len(parts)})", part) for number, part in enumerate(parts, start=1)]


def log_axis(low: float, high: float) -> tuple[list[float], list[float]]:
    """Return the two ends of a logarithmic axis that includes ``low`` and ``high``, and the numbers to show on it.

    The numbers are 1, 2 and 5 times powers of ten, or only the powers where that would be too many.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [rounded(digit * 10.0**power) for power in powers for digit in (1, 2, 5)]
    first = max(number for number in numbers if number <= low)
    last = min(number for number in numbers if number >= high and number > first)
    shown = [number for number in numbers if first <= number <= last]
    if len(shown) > MAX_TICKS:
        shown = [number for number in shown if math.log10(number).is_integer()]
    return [first, last], shown
