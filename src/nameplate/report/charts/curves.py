"""Draw a metric against size: the memory hierarchy as a curve, with the ends of its levels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from nameplate.probes import probe_of
from nameplate.records.result import Result
from nameplate.report.charts.common import (
    DOTS,
    Chart,
    Point,
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
    tick_labels,
)
from nameplate.report.charts.line_labels import LogPlane, label_layer, place_labels
from nameplate.report.content.experiments import is_derived
from nameplate.report.content.format import count, scale
from nameplate.report.content.repeat_commands import sweep_command
from nameplate.units import percent_text, size_text

# Fewer sizes are shown as a comparison instead of a curve.
MIN_SIZES = 8

# Another line over sizes joins the chart from this length, such as one with a stride of a page.
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
# On a phone a label is one and a half octaves wide; labels that are closer use two lines.
_CLOSE_OCTAVES = 1.5
_LINE_OF_NAMES = 13
_MAX_SIZES_ON_AXIS = 12


@dataclass(frozen=True)
class LevelEnd:
    """The size in bytes at which a level of the memory hierarchy ends.

    ``name`` is the level as in the table of levels, such as "L1d". ``interval`` has the lower and the upper bound of
    the 95 % interval in bytes, both equal to ``size`` if there is no interval. ``listed`` is the size in bytes that the
    system lists for the cache, or None.
    """

    name: str
    size: float
    interval: tuple[float, float]
    listed: float | None = None


def level_ends(results: Iterable[Result]) -> list[LevelEnd]:
    """Return the ends of the levels that a run found, in ascending order of size, from all results of the run.

    They are read from derived metrics such as ``l1d_size``, whose values are in bytes. If several probes report the
    same level, the first one counts. The list is empty if there are none.
    """
    found: dict[str, LevelEnd] = {}
    for result in results:
        row = result.summary
        if is_derived(result) and row.metric.endswith(_END_OF_SIZE) and row.value:
            name = _shown(row.metric.removesuffix(_END_OF_SIZE))
            found.setdefault(name, LevelEnd(name, row.value, row.ci or (row.value, row.value), row.rated))
    return sorted(found.values(), key=lambda end: end.size)


def curve_lines(headlines: Sequence[Result]) -> list[list[Result]]:
    """Return the lines of a probe that swept the parameter ``size``, each in ascending order of size.

    ``headlines`` are the first results of the probe's experiments. There are lines only if one of them has at least
    ``MIN_SIZES`` sizes; then every line with at least ``MIN_BESIDE`` is returned. Results without a value are left out,
    and so are messages of size 0, since the axis is logarithmic. The list is empty for other probes.
    """
    lines = [[result for result in line if _size(result) > 0] for line in lines_along(headlines, "size")]
    lines = [line for line in lines if len(line) >= MIN_BESIDE]
    return lines if any(len(line) >= MIN_SIZES for line in lines) else []


def curves(lines: Sequence[list[Result]], ends: Sequence[LevelEnd]) -> list[Chart]:
    """Return charts of the lines from ``curve_lines`` against size.

    The list is empty if there are no lines. A chart has at most ``LINES_IN_A_CHART`` lines. It marks the level ends in
    ``ends``, from ``level_ends``, that are within its sizes.
    """
    return [_chart(title, chunk, ends) for title, chunk in chunks(lines, _title(lines))] if lines else []


def _title(lines: Sequence[Sequence[Result]]) -> str:
    metric = lines[0][0].summary.metric
    return f"{metric[:1].upper()}{metric[1:]} against size"


def _shown(name: str) -> str:
    """Return a level's name as in the table of levels: ``L1d`` for l1d, ``level1`` for an unidentified level."""
    return name if name.startswith("level") else f"{name[:1].upper()}{name[1:]}"


def _size(result: Result) -> int:
    return int(result.summary.params["size"])


def _chart(title: str, lines: Sequence[Sequence[Result]], ends: Sequence[LevelEnd]) -> Chart:
    row = lines[0][0].summary
    values = [result.summary.value or 0.0 for line in lines for result in line]
    sizes = sorted({_size(result) for line in lines for result in line})
    # A latency spans several orders of magnitude: in the unit of the largest value the smallest would be a fraction.
    factor, unit = scale(math.sqrt(min(values) * max(values)), row.unit)
    labels = labels_of(lines, "size")
    points = [_point(label, result, factor) for label, line in zip(labels, lines, strict=True) for result in line]
    within = [end for end in ends if sizes[0] <= end.size <= sizes[-1]]
    heading = f"{row.metric} ({unit})"
    spec = _spec(points, within, labels, heading, (sizes[0], sizes[-1]))
    spec["description"] = f"{row.metric} of {row.probe} against size, both logarithmic"
    columns = (
        ("line", "parameters"), ("at", "size"), ("value", heading), ("low", "interval from"), ("high", "to"),
    )  # fmt: skip
    commands = tuple(sweep_command(line, "size") for line in lines)
    shown = columns if len(lines) > 1 else columns[1:]
    return Chart(title, _meaning(lines, within), _caption(points, sizes, within), spec, shown, commands)


def _meaning(lines: Sequence[Sequence[Result]], ends: Sequence[LevelEnd]) -> str:
    first = lines[0][0]
    if probe_of(first.summary.probe).takes_whole_job:
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
    words = (
        f"{count(len(sizes), 'size')} from {size_text(sizes[0])} to {size_text(sizes[-1])}; both axes are logarithmic."
    )
    if any("low" in point for point in points):
        words += " Bars show the interval of the median."
    if ends:
        found = ", ".join(f"{end.name} {size_text(end.size)}" for end in ends)
        words += (
            f" Vertical lines mark the ends of the levels that this run found ({found}); the bands are their 95 % "
            "intervals."
        )
    if listed := _listed(ends, (sizes[0], sizes[-1])):
        found = ", ".join(f"{mark['name']} {size_text(int(mark['listed']))}" for mark in listed)
        words += f" Dotted lines mark the sizes that the system lists ({found})."
    return words


def _point(label: str, result: Result, factor: float) -> Point:
    row = result.summary
    return {
        "line": label,
        "size": _size(result),
        "at": size_text(_size(result)),
        "value": rounded((row.value or 0.0) / factor),
        **interval_of(row, factor),
    }


def _spec(
    points: list[Point], ends: Sequence[LevelEnd], labels: list[str], title: str, sizes: tuple[int, int]
) -> dict[str, Any]:
    reached = [float(p[key]) for p in points for key in ("value", "low", "high") if key in p]
    domain, numbers = log_axis(min(reached), max(reached))
    numbered = _sizes_on_axis(*sizes)
    names = tick_labels({size: size_text(size) for size in numbered})
    x = alt.X("size:Q", title="size", scale=alt.Scale(type="log", base=2, domain=list(sizes), nice=False),
              axis=alt.Axis(values=numbered, labelExpr=names))  # fmt: skip
    y = alt.Y("value:Q", title=title, scale=alt.Scale(type="log", domain=domain, nice=False),
              axis=alt.Axis(values=numbers, format="~g"))  # fmt: skip
    marks = _marks(ends, sizes)
    at_lines = _labels_at_lines(points, labels, LogPlane(sizes, (domain[0], domain[-1]), _HEIGHT))
    key = None if at_lines else legend(labels, max((int(mark["lift"]) + _LINE_OF_NAMES for mark in marks), default=0))
    shown: list[Any] = [
        alt.Tooltip("line:N"),
        alt.Tooltip("at:N", title="size"),
        alt.Tooltip("value:Q", title=title),
        alt.Tooltip("low:Q"),
        alt.Tooltip("high:Q"),
    ]
    measured = chart_of(points).encode(x=x, y=y, tooltip=shown if len(labels) > 1 else shown[1:])
    layers = [
        *_ends_marked(marks),
        *_listed_marked(_listed(ends, sizes)),
        *lines_with_intervals(measured, labels, key, title),
        *label_layer(at_lines, x, y, alt.Color("line:N", scale=alt.Scale(domain=labels), legend=None)),
    ]
    return definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), _HEIGHT)


def _labels_at_lines(points: Sequence[Point], labels: Sequence[str], plane: LogPlane) -> list[Point]:
    """Return the labels of several lines, placed at the lines, or an empty list if there is one or they do not fit."""
    lines = {
        label: [(float(p["size"]), float(p["value"])) for p in points if p["line"] == label]
        for label in labels
    }  # fmt: skip
    return place_labels(lines, plane) if len(labels) > 1 else []


def _sizes_on_axis(first: int, last: int) -> list[int]:
    """Return powers of two, or of four where those would be too many; 1 KiB and 1 MiB are among them."""
    powers = range(math.ceil(math.log2(first)), math.floor(math.log2(last)) + 1)
    step = 1 if len(powers) <= _MAX_SIZES_ON_AXIS else 2
    return [2**power for power in powers if power % step == 0]


def _marks(ends: Sequence[LevelEnd], sizes: tuple[int, int]) -> list[Point]:
    """Return the marks of the levels' ends, with their intervals cut to the sizes; ``lift`` is a label's height in
    pixels.
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
    """Return the listed sizes of the levels that are within the chart's sizes."""
    return [
        {"name": end.name, "listed": round(end.listed)}
        for end in ends
        if end.listed is not None and sizes[0] <= end.listed <= sizes[1]
    ]


def _listed_marked(listed: Sequence[Point]) -> list[Any]:
    """Return the layer of the listed sizes."""
    if not listed:
        return []
    rule = chart_of(listed).mark_rule(strokeDash=DOTS, strokeWidth=1.5)
    return [rule.encode(x=alt.X("listed:Q"), tooltip=[alt.Tooltip("name:N"), alt.Tooltip("listed:Q")])]


def _ends_marked(marks: Sequence[Point]) -> list[Any]:
    """Return the layers of the ends: interval as a band, end as a line, label above."""
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
