"""Draw a metric against the number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nameplate.records.result import Result
from nameplate.report.charts.common import (
    HEIGHT,
    Chart,
    Point,
    channel,
    chart_of,
    chunks,
    definition,
    labels_of,
    legend,
    lines_along,
    log_axis,
    rounded,
)
from nameplate.report.charts.plot import Axis, Marks, Plot, marks_of_lines
from nameplate.report.content.format import count, parameters, scale
from nameplate.report.content.repeat_commands import sweep_command

# With a larger span of threads or values, a linear axis hides its small end.
LONG_SPAN = 8.0

_ARITHMETIC = ("FLOP/s", "op/s")


def thread_scaling(results: Sequence[Result], cores: int, is_judged: bool = True) -> list[Chart]:
    """Return charts of a probe's first metric against the number of threads.

    - ``results``: the results that ``headlines`` returns for one probe. A result without the parameter ``threads`` or
      without a value above 0 is left out.
    - ``cores``: the number of cores that the run may use, 1 or more. For rates in FLOP/s or op/s without a parameter
      ``size``, a dashed line shows ideal scaling up to this number.
    - ``is_judged``: False if a quota or other programs slowed the run down, so that its lines have no explanation

    There is one line for each combination of the other parameters that was measured with at least two thread counts.
    More than 8 lines (``LINES_IN_A_CHART``) are split over several charts. The list is empty if there are no lines.
    """
    lines = [line for line in lines_along(results, "threads") if len({_threads(r) for r in line}) > 1]
    return [_chart(title, chunk, cores, is_judged) for title, chunk in chunks(lines, "Thread scaling")]


def _threads(result: Result) -> int:
    return int(result.summary.params["threads"])


def _chart(title: str, lines: Sequence[Sequence[Result]], cores: int, is_judged: bool) -> Chart:
    row = lines[0][0].summary
    factor, unit = scale(max(r.summary.value or 0.0 for line in lines for r in line), row.unit)
    labelled = list(zip(labels_of(lines, "threads"), lines, strict=True))
    points = [_point(label, result, factor) for label, line in labelled for result in line]
    ideals = _has_ideal(lines[0][0])
    ideal = [p for label, line in labelled for p in _ideal_points(label, line, cores, factor)] if ideals else []
    caption = "Bars show the interval of the median. Hollow marks are oversubscribed: they ran more threads than CPUs."
    if ideals:
        caption += (
            f" The dashed line is ideal scaling from the lowest thread count, up to the {cores} cores that are allowed."
        )
    columns = (
        ("line", "parameters"), ("threads", "threads"), ("value", f"{row.metric} ({unit})"),
        ("low", "interval from"), ("high", "to"), ("state", "threads and CPUs"),
    )  # fmt: skip
    spec, plot = _drawing(points, ideal, [label for label, _ in labelled], f"{row.metric} ({unit})")
    spec["description"] = f"{row.metric} of {row.probe} against threads"
    commands = tuple(sweep_command(line, "threads") for line in lines)
    return Chart(title, _meaning(lines, ideals, is_judged), caption, spec, plot, columns, commands)


def _meaning(lines: Sequence[Sequence[Result]], has_ideal: bool, is_judged: bool) -> str:
    """Return the speed-up at the highest thread count with one CPU per thread, and how to read the chart."""
    within_cores = [r for r in lines[0] if not r.oversubscribed]
    few, many = (within_cores[0], within_cores[-1]) if len(within_cores) > 1 else (lines[0][0], lines[0][-1])
    times = (many.summary.value or 0.0) / (few.summary.value or 1.0)
    sentence = (
        f"{count(_threads(many), 'thread')} reach {times:.2f} times the value of {count(_threads(few), 'thread')}"
    )
    rest = {name: value for name, value in lines[0][0].summary.params.items() if name != "threads"}
    label = labels_of(lines, "threads")[0] if len(lines) > 1 else parameters(rest)
    where = f" ({label})" if label else ""
    if not is_judged:
        return f"{sentence}{where}. The run was slowed down, so it does not show how the machine scales."
    if has_ideal:
        return (
            f"{sentence}{where}. Arithmetic should follow the dashed line. If it falls short early, the clock drops "
            "under load or two threads share a core."
        )
    return (
        f"{sentence}{where}. A line levels off where a shared resource is saturated: the memory, a device or a link. A "
        "value that falls with more threads means contention, for a lock or a cache line."
    )


def _has_ideal(result: Result) -> bool:
    """Return whether ideal scaling applies, as for arithmetic rates, which add up over threads."""
    # Cores have their own arithmetic but share the memory, which a few of them saturate: no healthy machine comes near
    # a bandwidth that grows with the threads, nor does arithmetic on a working set that may be in memory.
    return result.summary.unit in _ARITHMETIC and "size" not in result.summary.params


def _point(label: str, result: Result, factor: float) -> Point:
    row = result.summary
    low, high = row.ci or (row.value or 0.0, row.value or 0.0)
    return {
        "line": label,
        "threads": _threads(result),
        "value": rounded((row.value or 0.0) / factor),
        "low": rounded(low / factor),
        "high": rounded(high / factor),
        "state": "oversubscribed" if result.oversubscribed else "one CPU per thread",
    }


def _ideal_points(label: str, line: Sequence[Result], cores: int, factor: float) -> list[Point]:
    threads = sorted({_threads(result) for result in line})
    corner = {cores} if threads[0] < cores < threads[-1] else set()
    per_thread = (line[0].summary.value or 0.0) / factor / min(threads[0], cores)
    return [
        {"line": label, "threads": n, "ideal": rounded(per_thread * min(n, cores))} for n in sorted({*threads, *corner})
    ]


def _drawing(points: list[Point], ideal: list[Point], labels: list[str], title: str) -> tuple[dict[str, Any], Plot]:
    x_axis, y_axis = _axes(points, title)
    padding = {"padding": 14}
    x = channel(alt.X, "threads", x_axis, padding, format="d", grid=False)
    y = channel(alt.Y, "value", y_axis, padding if y_axis.base else {})
    lines = alt.Scale(domain=labels)
    key = legend(labels)
    colour = alt.Color("line:N", scale=lines, legend=None)
    tooltip = [
        alt.Tooltip("line:N"),
        alt.Tooltip("threads:Q"),
        alt.Tooltip("value:Q", title=title),
        alt.Tooltip("low:Q"),
        alt.Tooltip("high:Q"),
        alt.Tooltip("state:N"),
    ]
    measured = chart_of(points).encode(x=x, y=y)
    oversubscribed = [point for point in points if point["state"] == "oversubscribed"]
    layers = [
        measured.mark_line().encode(color=colour),
        measured.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), color=colour),
        measured.mark_point(filled=True, size=90, opacity=1).encode(
            alt.Color("line:N", scale=lines, legend=key),
            alt.Shape("line:N", scale=lines, legend=key),
            tooltip=tooltip,
        ),
    ]
    marks = [*marks_of_lines(points, "threads"), Marks("dots", oversubscribed, ("threads", "value"), by="line")]
    # Vega warns about a layer without points: it has no extent.
    if ideal:
        highest = [{**max(ideal, key=lambda point: float(point["ideal"])), "name": "ideal"}]
        layers = [*_ideal_layers(ideal, highest, x, alt.Y("ideal:Q", title=title), colour), *layers]
        marks = [Marks("dashed line", ideal, ("threads", "ideal"), by="line"),
                 Marks("text on the left", highest, ("threads", "ideal", "name")), *marks]  # fmt: skip
    if oversubscribed:
        hollow = measured.mark_point(filled=True, size=24, opacity=1, color="var(--card)")
        layers.append(
            hollow.transform_filter("datum.state == 'oversubscribed'")
            .encode(shape=alt.Shape("line:N", scale=lines, legend=None))
        )  # fmt: skip
    # A shared scale for all layers would draw a legend for each kind of mark.
    spec = definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), HEIGHT)
    return spec, Plot(x_axis, y_axis, marks, labels)


def _ideal_layers(ideal: list[Point], highest: list[Point], x: alt.X, y: alt.Y, colour: alt.Color) -> list[Any]:
    """Return the layers of the dashed ideal lines, with the word "ideal" at the end of the highest line."""
    dashed = chart_of(ideal).mark_line(strokeDash=[4, 4], strokeWidth=1.2)
    word = chart_of(highest).mark_text(align="right", dx=-8, fontSize=11, color="var(--ink)")
    return [dashed.encode(x=x, y=y, color=colour), word.encode(x=x, y=y, text=alt.Text("name:N"))]


def _axes(points: list[Point], title: str) -> tuple[Axis, Axis]:
    """Return linear axes that start at zero, or logarithmic axes if linear ones would hide the small values."""
    threads = sorted({int(p["threads"]) for p in points})
    values = [float(p["value"]) for p in points]
    low, high = min(values), max(values)
    if threads[-1] / threads[0] <= LONG_SPAN and high / low <= LONG_SPAN**2:
        return Axis("threads", numbers=threads, has_zero=True), Axis(title, has_zero=True)
    return Axis("threads", base=10, numbers=threads), Axis(title, base=10, numbers=log_axis(low, high)[1])
