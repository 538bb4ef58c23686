"""Draw a metric against size, which shows the levels of the memory hierarchy, and mark where the levels end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from nameplate.probes import probe_of
from nameplate.records.result import Result
from nameplate.report.charts.common import (
    Chart,
    Point,
    channel,
    chart_of,
    chunks,
    definition,
    interval_of,
    labels_of,
    legend,
    lines_along,
    lines_with_intervals,
    log_axis,
    rounded,
)
from nameplate.report.charts.line_labels import LogPlane, label_layer, position_labels
from nameplate.report.charts.plot import Axis, Marks, Plot, marks_of_lines
from nameplate.report.content.experiments import is_derived
from nameplate.report.content.format import count, scale
from nameplate.report.content.repeat_commands import sweep_command
from nameplate.units import percent_text, size_text

# With fewer sizes, bars are easier to compare than a curve.
MIN_SIZES = 8

# The minimum length of further lines in the chart, for example one with a stride of a page.
MIN_BESIDE = 3

_HEIGHT = 300
_MESSAGES_MEAN = (
    "The left end shows the cost of every message however small it is; the slope on the right shows the cost of each "
    "further byte. A jump marks a size at which the MPI library changes its protocol, usually from eager to "
    "rendezvous, or the network starts to split messages. A high left end means a slow start-up: a wrong transport, "
    "or a processor that sleeps while it waits."
)
_HIERARCHY_SIGN = (
    "A step at a much smaller size than the cache's listed one means that others share the cache. A slope instead of "
    "a step means that pages are small and their translation takes time."
)
_END_OF_SIZE = "_size"
# On a phone, a label is as wide as one and a half octaves; closer labels are at two heights.
_CLOSE_OCTAVES = 1.5
_LINE_OF_NAMES = 13
_MAX_SIZES_ON_AXIS = 12


@dataclass(frozen=True)
class LevelEnd:
    """The size at which a level of the memory hierarchy ends, as measured; all sizes are in bytes.

    - ``name``: the name of the level, for example "L1d"
    - ``size``: the measured size
    - ``interval``: the bounds of the 95 % interval; both equal ``size`` if there is no interval
    - ``listed``: the size of the cache that the system lists, or None
    """

    name: str
    size: float
    interval: tuple[float, float]
    listed: float | None = None


def level_ends(results: Iterable[Result]) -> list[LevelEnd]:
    """Return the level ends that a run measured, in ascending order of size.

    ``results`` are all results of the run. The sizes are the values of derived metrics whose names end in ``_size``,
    for example ``l1d_size``. If several probes measured the same level, the first one counts. The list is empty if the
    run measured none.
    """
    ends: dict[str, LevelEnd] = {}
    for result in results:
        row = result.summary
        if is_derived(result) and row.metric.endswith(_END_OF_SIZE) and row.value:
            name = _level_label(row.metric.removesuffix(_END_OF_SIZE))
            ends.setdefault(name, LevelEnd(name, row.value, row.ci or (row.value, row.value), row.rated))
    return sorted(ends.values(), key=lambda end: end.size)


def curve_lines(headlines: Sequence[Result]) -> list[list[Result]]:
    """Return the lines of a probe whose parameter ``size`` was swept, each in ascending order of size.

    ``headlines`` are the results that ``headlines`` returns for one probe: the main metric of each experiment. If at
    least one line has 8 sizes (``MIN_SIZES``), all lines of at least 3 sizes (``MIN_BESIDE``) are returned; otherwise
    the list is empty. Results without a value are left out, and so is size 0, since the axis is logarithmic.
    """
    lines = [[result for result in line if _size(result) > 0] for line in lines_along(headlines, "size")]
    lines = [line for line in lines if len(line) >= MIN_BESIDE]
    return lines if any(len(line) >= MIN_SIZES for line in lines) else []


def curves(lines: Sequence[list[Result]], ends: Sequence[LevelEnd]) -> list[Chart]:
    """Return charts of the lines that ``curve_lines`` returned, against size, both axes logarithmic.

    A chart has at most 8 lines (``LINES_IN_A_CHART``). It marks the level ends in ``ends`` that are within its sizes.
    The list is empty if ``lines`` is empty.
    """
    return [_chart(title, chunk, ends) for title, chunk in chunks(lines, _title(lines))] if lines else []


def _title(lines: Sequence[Sequence[Result]]) -> str:
    metric = lines[0][0].summary.metric
    return f"{metric[:1].upper()}{metric[1:]} against size"


def _level_label(name: str) -> str:
    """Return a level's name as in the table of levels: ``L1d`` for l1d, ``level1`` for an unidentified level."""
    return name if name.startswith("level") else f"{name[:1].upper()}{name[1:]}"


def _size(result: Result) -> int:
    return int(result.summary.params["size"])


def _chart(title: str, lines: Sequence[Sequence[Result]], ends: Sequence[LevelEnd]) -> Chart:
    row = lines[0][0].summary
    values = [result.summary.value or 0.0 for line in lines for result in line]
    sizes = sorted({_size(result) for line in lines for result in line})
    # A latency spans several orders of magnitude; in the unit of the largest value, the smallest would be a fraction.
    factor, unit = scale(math.sqrt(min(values) * max(values)), row.unit)
    labels = labels_of(lines, "size")
    points = [_point(label, result, factor) for label, line in zip(labels, lines, strict=True) for result in line]
    within = [end for end in ends if sizes[0] <= end.size <= sizes[-1]]
    heading = f"{row.metric} ({unit})"
    spec, plot = _drawing(points, within, labels, heading, (sizes[0], sizes[-1]))
    spec["description"] = f"{row.metric} of {row.probe} against size, both logarithmic"
    columns = (
        ("line", "parameters"), ("at", "size"), ("value", heading), ("low", "interval from"), ("high", "to"),
    )  # fmt: skip
    commands = tuple(sweep_command(line, "size") for line in lines)
    tooltip = columns if len(lines) > 1 else columns[1:]
    return Chart(title, _meaning(lines, within), _caption(points, sizes, within), spec, plot, tooltip, commands)


def _meaning(lines: Sequence[Sequence[Result]], ends: Sequence[LevelEnd]) -> str:
    first = lines[0][0]
    if probe_of(first.summary.probe).takes_all_ranks:
        return _MESSAGES_MEAN
    longest = max(lines, key=len)
    values = [result.summary.value or 0.0 for result in longest]
    falls = first.better == "higher"
    best, last = (max(values) if falls else min(values)), values[-1]
    change = (
        f"falls to {percent_text(last / best, 0)} of its best"
        if falls
        else f"rises to {last / best:.1f} times its minimum"
    )
    after = f" beyond {size_text(ends[-1].size)}, where the working set no longer fits {ends[-1].name}" if ends else ""
    return f"Each flat part is a level of the memory hierarchy. The curve {change}{after}. {_HIERARCHY_SIGN}"


def _caption(points: Sequence[Point], sizes: Sequence[int], ends: Sequence[LevelEnd]) -> str:
    text = (
        f"{count(len(sizes), 'size')} from {size_text(sizes[0])} to {size_text(sizes[-1])}; both axes are logarithmic."
    )
    if any("low" in point for point in points):
        text += " Bars show the interval of the median."
    if ends:
        names = ", ".join(f"{end.name} {size_text(end.size)}" for end in ends)
        text += (
            f" Vertical lines mark the ends of the levels that this run found ({names}); the bands are their 95 % "
            "intervals."
        )
    if listed := _listed(ends, (sizes[0], sizes[-1])):
        names = ", ".join(f"{mark['name']} {size_text(int(mark['listed']))}" for mark in listed)
        text += f" Dotted lines mark the sizes that the system lists ({names})."
    return text


def _point(label: str, result: Result, factor: float) -> Point:
    row = result.summary
    return {
        "line": label,
        "size": _size(result),
        "at": size_text(_size(result)),
        "value": rounded((row.value or 0.0) / factor),
        **interval_of(row, factor),
    }


def _drawing(
    points: list[Point], ends: Sequence[LevelEnd], labels: list[str], title: str, sizes: tuple[int, int]
) -> tuple[dict[str, Any], Plot]:
    reached = [float(p[key]) for p in points for key in ("value", "low", "high") if key in p]
    domain, numbers = log_axis(min(reached), max(reached))
    x_axis = Axis("size", base=2, ends=sizes, names={size: size_text(size) for size in _sizes_on_axis(*sizes)})
    y_axis = Axis(title, base=10, ends=domain, numbers=numbers)
    x, y = channel(alt.X, "size", x_axis), channel(alt.Y, "value", y_axis)
    marks, listed = _marks(ends, sizes), _listed(ends, sizes)
    at_lines = _labels_at_lines(points, labels, LogPlane(sizes, domain, _HEIGHT))
    key = None if at_lines else legend(labels, max((int(mark["lift"]) + _LINE_OF_NAMES for mark in marks), default=0))
    drawn_columns: list[Any] = [
        alt.Tooltip("line:N"),
        alt.Tooltip("at:N", title="size"),
        alt.Tooltip("value:Q", title=title),
        alt.Tooltip("low:Q"),
        alt.Tooltip("high:Q"),
    ]
    measured = chart_of(points).encode(x=x, y=y, tooltip=drawn_columns if len(labels) > 1 else drawn_columns[1:])
    layers = [
        *_ends_marked(marks),
        *_listed_marked(listed),
        *lines_with_intervals(measured, labels, key, title),
        *label_layer(at_lines, x, y, alt.Color("line:N", scale=alt.Scale(domain=labels), legend=None)),
    ]
    plotted = [
        Marks("spans", marks, ("from", "to")),
        Marks("rules", marks, ("end",)),
        Marks("headings", marks, ("end", "name")),
        Marks("dotted rules", listed, ("listed",)),
        *marks_of_lines(points, "size"),
        Marks("text", at_lines, ("x", "y", "line")),
    ]
    spec = definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), _HEIGHT)
    return spec, Plot(x_axis, y_axis, plotted, labels)


def _labels_at_lines(points: Sequence[Point], labels: Sequence[str], plane: LogPlane) -> list[Point]:
    """Return the labels of several lines with their positions; empty for a single line, or if the labels do not fit."""
    lines = {
        label: [(float(p["size"]), float(p["value"])) for p in points if p["line"] == label]
        for label in labels
    }  # fmt: skip
    return position_labels(lines, plane) if len(labels) > 1 else []


def _sizes_on_axis(first: int, last: int) -> list[int]:
    """Return the powers of two from ``first`` to ``last``, or the powers of four if there would be more than 12 sizes.

    The powers of four include 1 KiB and 1 MiB.
    """
    powers = range(math.ceil(math.log2(first)), math.floor(math.log2(last)) + 1)
    step = 1 if len(powers) <= _MAX_SIZES_ON_AXIS else 2
    return [2**power for power in powers if power % step == 0]


def _marks(ends: Sequence[LevelEnd], sizes: tuple[int, int]) -> list[Point]:
    """Return the marks of the level ends, with their intervals cut to ``sizes`` (lowest, highest).

    The field ``lift`` is the additional height of a label above the plot in pixels.
    """
    marks: list[Point] = []
    for index, end in enumerate(ends):
        is_close = index > 0 and end.size < ends[index - 1].size * 2**_CLOSE_OCTAVES
        is_lifted = is_close and marks[-1]["lift"] == 0
        marks.append({
            "name": end.name,
            "end": round(end.size),
            "from": round(max(end.interval[0], sizes[0])),
            "to": round(min(end.interval[1], sizes[1])),
            "lift": _LINE_OF_NAMES if is_lifted else 0,
        })  # fmt: skip
    return marks


def _listed(ends: Sequence[LevelEnd], sizes: tuple[int, int]) -> list[Point]:
    """Return the sizes listed by the system that are within the chart's sizes."""
    return [
        {"name": end.name, "listed": round(end.listed)}
        for end in ends
        if end.listed is not None and sizes[0] <= end.listed <= sizes[1]
    ]


def _listed_marked(listed: Sequence[Point]) -> list[Any]:
    """Return the layer of the listed sizes."""
    if not listed:
        return []
    rule = chart_of(listed).mark_rule(strokeDash=[1, 3], strokeWidth=1.5)
    return [rule.encode(x=alt.X("listed:Q"), tooltip=[alt.Tooltip("name:N"), alt.Tooltip("listed:Q")])]


def _ends_marked(marks: Sequence[Point]) -> list[Any]:
    """Return the layers of the level ends: the interval as a band, the end as a line, and the label above the plot."""
    if not marks:
        return []
    base = chart_of(marks)
    names = base.mark_text(fontSize=11, color="var(--ink)", baseline="bottom")
    return [
        base.mark_rect(opacity=0.14, color="var(--faint)").encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")),
        base.mark_rule(strokeDash=[5, 3]).encode(x=alt.X("end:Q")),
        *(
            names.transform_filter(f"datum.lift == {lift}").encode(
                x=alt.X("end:Q"), y=alt.value(-3 - lift), text=alt.Text("name:N")
            )
            for lift in sorted({int(mark["lift"]) for mark in marks})
        ),
    ]
