"""The report's charts, as Vega-Lite definitions. Colours are named only by the page's theme, never here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import altair as alt

from nameplate.model import Result, Series, Value
from nameplate.report.format import parameters, scale

Point = dict[str, str | float]

# More lines than there are colours and shapes to tell apart go into another chart.
LINES_IN_A_CHART = 8

# A span of threads or of values beyond which a linear axis hides its small end.
LONG_SPAN = 8.0

# Up to this many letters two of a legend's entries stand side by side on a telephone.
SHORT_LABEL = 18

_SIGNIFICANT = 5
_HEIGHT, _SMALL_HEIGHT = 260, 120


@dataclass(frozen=True)
class Chart:
    """A chart and what stands around it. ``columns`` are the fields of its points that its table shows."""

    title: str
    caption: str
    spec: Mapping[str, Any]
    columns: tuple[tuple[str, str], ...]


def thread_scaling(results: Sequence[Result], cores: int) -> list[Chart]:
    """Value against threads, one line for each set of the other parameters that was measured with several."""
    lines = [line for line in _by_other_parameters(results) if len({_threads(r) for r in line}) > 1]
    chunks = [lines[i : i + LINES_IN_A_CHART] for i in range(0, len(lines), LINES_IN_A_CHART)]
    title = "Thread scaling" if len(chunks) == 1 else "Thread scaling ({} of {})"
    return [
        _scaling_chart(title.format(number, len(chunks)), chunk, cores) for number, chunk in enumerate(chunks, start=1)
    ]


def over_time(result: Result, limit: int) -> Chart:
    """Every sample's value, or of each stretch of time the least and the greatest where there are over ``limit``."""
    row = result.summary
    factor, unit = scale(row.value or 0.0, row.unit)
    shown = thin(result.series, limit)
    points = [_sample_point(result.series, index, factor) for index in shown]
    count = len(result.series.value)
    caption = f"{count} samples, {sum(result.series.disturbed)} disturbed."
    if len(shown) < count:
        caption += f" {len(shown)} of them are drawn: the least and the greatest of each stretch of time."
    spec = {
        **_time_spec(unit),
        "data": {"values": points},
        "description": f"{row.metric} in {unit} over time, {row.probe} {parameters(row.params)}",
    }
    return Chart("", caption, spec, (("start", "start (s)"), ("value", f"{row.metric} ({unit})"), ("state", "state")))


def thin(series: Series, limit: int) -> list[int]:
    """At most ``limit`` indices that keep the outline: minimum and maximum of each of ``limit / 2`` stretches."""
    count = len(series.value)
    if count <= limit:
        return list(range(count))
    stretches = max(1, limit // 2)
    kept: set[int] = set()
    for k in range(stretches):
        stretch = range(k * count // stretches, (k + 1) * count // stretches)
        kept.add(min(stretch, key=series.value.__getitem__))
        kept.add(max(stretch, key=series.value.__getitem__))
    return sorted(kept)


def _rounded(value: float) -> float:
    return float(f"{value:.{_SIGNIFICANT}g}")


def _sample_point(series: Series, index: int, factor: float) -> Point:
    return {
        "start": round(series.start_s[index], 3),
        "value": _rounded(series.value[index] / factor),
        "state": "disturbed" if series.disturbed[index] else "undisturbed",
    }


@cache
def _time_spec(unit: str) -> dict[str, Any]:
    x = alt.X("start:Q", title="seconds of measuring", scale=alt.Scale(padding=6), axis=alt.Axis(tickCount=5))
    y = alt.Y("value:Q", title=unit, scale=alt.Scale(zero=False, nice=False, padding=6), axis=alt.Axis(tickCount=4))
    states = alt.Scale(domain=["undisturbed", "disturbed"], range=["circle", "triangle-up"])
    colours = alt.Scale(domain=["undisturbed", "disturbed"], range=["var(--series-1)", "var(--series-2)"])
    base = alt.Chart(alt.InlineData(values=[]))
    points = base.mark_point(filled=True, size=34, opacity=0.75).encode(
        x=x,
        y=y,
        shape=alt.Shape("state:N", scale=states, legend=None),
        color=alt.Color("state:N", scale=colours, legend=None),
        tooltip=[alt.Tooltip("start:Q", title="seconds"), alt.Tooltip("value:Q", title=unit), "state:N"],
    )
    middle = base.mark_rule(strokeDash=[4, 3]).encode(y=alt.Y("median(value):Q", title=unit))
    return _definition(alt.layer(middle, points), _SMALL_HEIGHT)


def _definition(chart: Any, height: int) -> dict[str, Any]:
    sized = chart.properties(width="container", height=height, background="transparent")
    definition: dict[str, Any] = sized.to_dict()
    # Without its address the page names no other host at all; vega-embed takes Vega-Lite for granted then.
    definition.pop("$schema")
    definition.pop("config", None)
    return definition


def _threads(result: Result) -> int:
    return int(result.summary.params["threads"])


def _others(result: Result) -> dict[str, Value]:
    return {name: value for name, value in result.summary.params.items() if name != "threads"}


def _by_other_parameters(results: Sequence[Result]) -> Iterator[list[Result]]:
    measured = [r for r in results if (r.summary.value or 0.0) > 0 and "threads" in r.summary.params]
    groups: dict[str, list[Result]] = {}
    for result in sorted(measured, key=_threads):
        groups.setdefault(repr(sorted(_others(result).items())), []).append(result)
    yield from groups.values()


def _labels(lines: Sequence[Sequence[Result]]) -> list[str]:
    """The parameters in which the lines differ."""
    own = [_others(line[0]) for line in lines]
    differing = [name for name in own[0] if any(params.get(name) != own[0][name] for params in own)]
    return [parameters({name: params[name] for name in differing if name in params}) or "measured" for params in own]


def _scaling_chart(title: str, lines: Sequence[Sequence[Result]], cores: int) -> Chart:
    row = lines[0][0].summary
    factor, unit = scale(max(r.summary.value or 0.0 for line in lines for r in line), row.unit)
    labelled = list(zip(_labels(lines), lines, strict=True))
    points = [_scaling_point(label, result, factor) for label, line in labelled for result in line]
    ideals = _has_ideal(lines[0][0])
    ideal = [p for label, line in labelled for p in _ideal_points(label, line, cores, factor)] if ideals else []
    caption = "Bars: interval of the median. Hollow: oversubscribed, more threads than CPUs."
    if ideals:
        caption += f" Dashed: ideal scaling from the fewest threads, up to the {cores} cores that are allowed."
    columns = (
        ("line", "parameters"), ("threads", "threads"), ("value", f"{row.metric} ({unit})"),
        ("low", "interval from"), ("high", "to"), ("state", "threads and CPUs"),
    )  # fmt: skip
    spec = _scaling_spec(points, ideal, [label for label, _ in labelled], f"{row.metric} ({unit})")
    spec["description"] = f"{row.metric} of {row.probe} against threads"
    return Chart(title, caption, spec, columns)


def _has_ideal(result: Result) -> bool:
    """Rates add up over threads; frequencies, latencies and rates per cycle do not."""
    return result.better == "higher" and result.summary.unit.endswith("/s")


def _scaling_point(label: str, result: Result, factor: float) -> Point:
    row = result.summary
    low, high = row.ci or (row.value or 0.0, row.value or 0.0)
    return {
        "line": label,
        "threads": _threads(result),
        "value": _rounded((row.value or 0.0) / factor),
        "low": _rounded(low / factor),
        "high": _rounded(high / factor),
        "state": "oversubscribed" if result.oversubscribed else "a CPU for each",
    }


def _ideal_points(label: str, line: Sequence[Result], cores: int, factor: float) -> list[Point]:
    threads = sorted({_threads(result) for result in line})
    corner = {cores} if threads[0] < cores < threads[-1] else set()
    per_thread = (line[0].summary.value or 0.0) / factor / min(threads[0], cores)
    return [
        {"line": label, "threads": n, "ideal": _rounded(per_thread * min(n, cores))}
        for n in sorted({*threads, *corner})
    ]


def _scaling_spec(points: list[Point], ideal: list[Point], labels: list[str], title: str) -> dict[str, Any]:
    x, y = _scaling_axes(points, title)
    lines = alt.Scale(domain=labels)
    legend = _legend(labels)
    colour = alt.Color("line:N", scale=lines, legend=None)
    tooltip = ["line:N", "threads:Q", alt.Tooltip("value:Q", title=title), "low:Q", "high:Q", "state:N"]
    measured = alt.Chart(alt.InlineData(values=points)).encode(x=x, y=y)
    layers = [
        alt.Chart(alt.InlineData(values=ideal)).mark_line(strokeDash=[4, 4], strokeWidth=1.2)
        .encode(x=x, y=alt.Y("ideal:Q", title=title), color=colour),
        measured.mark_line().encode(color=colour),
        measured.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=title), y2="high:Q", color=colour),
        measured.mark_point(filled=True, size=90, opacity=1).encode(
            alt.Color("line:N", scale=lines, legend=legend),
            alt.Shape("line:N", scale=lines, legend=legend),
            tooltip=tooltip,
        ),
        measured.mark_point(filled=True, size=24, opacity=1, color="var(--card)")
        .transform_filter("datum.state == 'oversubscribed'")
        .encode(shape=alt.Shape("line:N", scale=lines, legend=None)),
    ]  # fmt: skip
    # One scale for all layers would draw one legend for each kind of mark.
    return _definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), _HEIGHT)


def _legend(labels: Sequence[str]) -> alt.Legend | None:
    columns = 2 if max(map(len, labels)) <= SHORT_LABEL else 1
    legend = alt.Legend(title=None, orient="top", columns=columns, columnPadding=18, labelLimit=320)
    return legend if len(labels) > 1 else None


def _scaling_axes(points: list[Point], title: str) -> tuple[alt.X, alt.Y]:
    """Linear from zero, or logarithmic where a linear axis would hide the small end."""
    threads = sorted({int(p["threads"]) for p in points})
    values = [float(p["value"]) for p in points]
    low, high = min(values), max(values)
    is_long = threads[-1] / threads[0] > LONG_SPAN or high / low > LONG_SPAN**2
    x_axis = alt.Axis(values=threads, format="d", grid=False)
    if not is_long:
        return (
            alt.X("threads:Q", title="threads", axis=x_axis, scale=alt.Scale(zero=True, padding=14)),
            alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=6), scale=alt.Scale(zero=True)),
        )
    y_axis = alt.Axis(values=_round_numbers(low, high), format="~g")
    logarithmic = alt.Scale(type="log", nice=False, padding=14)
    return (
        alt.X("threads:Q", title="threads", axis=x_axis, scale=logarithmic),
        alt.Y("value:Q", title=title, axis=y_axis, scale=logarithmic),
    )


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each power of ten in a span and just beyond it, or the powers alone where that is too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) <= 3 else (1,)
    return [_rounded(digit * 10.0**power) for power in powers for digit in digits]
