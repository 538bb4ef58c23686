"""Draw several runs side by side: each run's values relative to the first run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nameplate.report.charts.common import (
    Chart,
    NumberedChart,
    Point,
    channel,
    chart_of,
    definition,
    legend,
    log_axis,
    placed,
    rounded,
)
from nameplate.report.charts.plot import Axis, Marks, Plot
from nameplate.report.content.format import count
from nameplate.report.content.side_by_side import SideBySideRow

_ROW_PX = 20
# The axis spans at least this factor to either side.
_MIN_SPAN = 1.1
# Up to this span, the axis has the ticks in _CLOSE.
_CLOSE_SPAN = 2.0
_CLOSE = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0)
_MARGIN = 1.02
# A bar is cut at this factor beyond the outermost mark, because one wide interval would hide the others.
_MAX_BAR = 2.0
_CAPTION = (
    "The dashed line is the first run. The axis is logarithmic: twice and half are at equal distances from 1. A bar "
    "spans the ratios of all values within the two runs' 95 % intervals."
)
_COLUMNS = (
    ("experiment", "experiment"), ("line", "run"), ("ratio", "relative to the first run"),
    ("low", "from"), ("high", "to"),
)  # fmt: skip


def append_side_by_side_chart(lines: Sequence[SideBySideRow], charts: list[Chart]) -> list[NumberedChart]:
    """Append a chart of the later runs' values relative to the first run to ``charts``, and return it with its index.

    ``lines`` are the rows that ``report.content.side_by_side`` returns, whose folded rows are not drawn. If no other
    row has a ratio for a later run, the result is empty and ``charts`` does not change.
    """
    drawn = [line for line in lines if not line.is_folded and _points(line)]
    if not drawn:
        return []
    points = [point for line in drawn for point in _points(line)]
    commands = tuple(dict.fromkeys(line.command for line in drawn))
    chart = Chart("Relative to the first run", _meaning(points), _CAPTION, *_drawing(points), _COLUMNS, commands)
    return placed([chart], charts)


def _points(line: SideBySideRow) -> list[Point]:
    return [
        {"experiment": line.short, "line": f"Run {number}", "ratio": rounded(ratio), **_ends(interval)}
        for number, (ratio, interval) in enumerate(zip(line.to_first[1:], line.to_first_ci[1:], strict=True), start=2)
        if ratio is not None
    ]


def _ends(interval: tuple[float, float] | None) -> dict[str, float]:
    return {"low": rounded(interval[0]), "high": rounded(interval[1])} if interval else {}


def _meaning(points: Sequence[Point]) -> str:
    better = sum(float(point["ratio"]) > 1 for point in points)
    return (
        f"A mark to the right of 1 is better than in the first run, a higher rate or a lower time: {better} of "
        f"{count(len(points), 'value')} are. Marks near 1 may be the machine's normal variation. A whole group on one "
        "side has a common cause; a single mark far out was disturbed, or is where the machines really differ."
    )


def _axis(ratios: Sequence[float]) -> tuple[tuple[float, float], list[float]]:
    """Return the ends of the axis (lowest, highest), and its tick values."""
    span = max(*ratios, *(1 / ratio for ratio in ratios), _MIN_SPAN) * _MARGIN
    if span > _CLOSE_SPAN:
        return log_axis(min(*ratios, 1.0), max(*ratios, 1.0))
    return (1 / span, span), [number for number in _CLOSE if 1 / span <= number <= span]


def _drawn_ratios(points: Sequence[Point]) -> list[float]:
    """Return the ratios that the axis must include: all marks, and the bars up to ``_MAX_BAR`` times beyond them."""
    ratios = [float(point["ratio"]) for point in points]
    lowest, highest = min(ratios) / _MAX_BAR, max(ratios) * _MAX_BAR
    ends = [float(point[key]) for point in points for key in ("low", "high") if key in point]
    return [*ratios, *(min(max(end, lowest), highest) for end in ends)]


def _drawing(points: Sequence[Point]) -> tuple[dict[str, Any], Plot]:
    ends, ticks = _axis(_drawn_ratios(points))
    names = list(dict.fromkeys(str(point["line"]) for point in points))
    lines = alt.Scale(domain=names)
    key = legend(names)
    ratios = Axis("relative to the first run", base=10, ends=ends, numbers=ticks)
    x = channel(alt.X, "ratio", ratios)
    y = alt.Y("experiment:N", title=None, sort=None, axis=alt.Axis(labelLimit=320, grid=True))
    first = chart_of([{"ratio": 1.0}]).mark_rule(strokeDash=[4, 4], strokeWidth=1.2).encode(x=x)
    marks = chart_of(points).mark_point(filled=True, size=70, opacity=1)
    drawn = marks.encode(
        x, y, alt.Color("line:N", scale=lines, legend=key), alt.Shape("line:N", scale=lines, legend=key),
        tooltip=[alt.Tooltip(field) for field in ("experiment:N", "line:N", "ratio:Q", "low:Q", "high:Q")],
    )  # fmt: skip
    with_interval = [point for point in points if "low" in point]
    bars = chart_of(with_interval).mark_rule(strokeWidth=1.5, clip=True).encode(
        alt.X("low:Q", title="relative to the first run"), y, x2=alt.X2("high:Q"),
        color=alt.Color("line:N", scale=lines, legend=None),
    )  # fmt: skip
    # Vega warns about a layer without points: it has no extent.
    intervals = [bars] if with_interval else []
    both = alt.layer(first, *intervals, drawn).resolve_scale(color="independent", shape="independent")
    experiments = list(dict.fromkeys(str(point["experiment"]) for point in points))
    spec = definition(both, _ROW_PX * len(experiments))
    spec["description"] = "the value of each run relative to the first one, by experiment"
    marks = [
        Marks("rules", [{"ratio": 1.0}], ("ratio",)),
        Marks("stretches", points, ("low", "experiment", "high"), by="line"),
        Marks("points", points, ("ratio", "experiment"), by="line"),
    ]
    return spec, Plot(ratios, Axis(categories=experiments), marks, names)
