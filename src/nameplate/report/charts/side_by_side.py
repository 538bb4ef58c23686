"""Several runs side by side as a chart: how much better or worse than the first each of the others is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nameplate.report.charts.common import Chart, NumberedChart, Point, definition, legend, log_axis, placed, rounded
from nameplate.report.format import count
from nameplate.report.html.side_by_side import SideBySideRow

_ROW_PX = 20
# What differs by less is drawn on an axis that shows this much to either side.
_LEAST_SPAN = 1.1
# Up to such a span the axis has numbers closer together than a logarithmic one's.
_CLOSE_SPAN = 2.0
_CLOSE = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0)
_MARGIN = 1.02
_CAPTION = "Dashed line: the first run. Logarithmic: twice and half lie equally far from it."
_COLUMNS = (("cell", "cell"), ("line", "run"), ("ratio", "over the first run"))


def make_beside_figure(lines: Sequence[SideBySideRow], charts: list[Chart]) -> list[NumberedChart]:
    """The chart of those cells that are not folded, at the end of ``charts``; none where no two runs share a value."""
    drawn = [line for line in lines if not line.is_folded and _points(line)]
    if not drawn:
        return []
    points = [point for line in drawn for point in _points(line)]
    commands = tuple(dict.fromkeys(line.command for line in drawn))
    chart = Chart("Beside the first run", _meaning(points), _CAPTION, _spec(points), _COLUMNS, commands)
    return placed([chart], charts)


def _points(line: SideBySideRow) -> list[Point]:
    return [
        {"cell": line.short, "line": f"Run {number}", "ratio": rounded(ratio)}
        for number, ratio in enumerate(line.to_first[1:], start=2)
        if ratio is not None
    ]


def _meaning(points: Sequence[Point]) -> str:
    better = sum(float(point["ratio"]) > 1 for point in points)
    return (
        f"To the right of 1 a run is better than the first, more of a rate or less of a time: {better} of "
        f"{count(len(points), 'figure')} are. Marks near 1 may be what a machine varies by. A whole group on one side "
        "has a cause; a single cell far out was disturbed, or is where the machines really differ."
    )


def _axis(ratios: Sequence[float]) -> tuple[list[float], list[float]]:
    """The two ends, and the numbers shown."""
    span = max(*ratios, *(1 / ratio for ratio in ratios), _LEAST_SPAN) * _MARGIN
    if span > _CLOSE_SPAN:
        return log_axis(min(*ratios, 1.0), max(*ratios, 1.0))
    return [1 / span, span], [number for number in _CLOSE if 1 / span <= number <= span]


def _spec(points: Sequence[Point]) -> dict[str, Any]:
    ends, shown = _axis([float(point["ratio"]) for point in points])
    names = list(dict.fromkeys(str(point["line"]) for point in points))
    lines = alt.Scale(domain=names)
    key = legend(names)
    x = alt.X("ratio:Q", title="over the first run", scale=alt.Scale(type="log", domain=ends, nice=False),
              axis=alt.Axis(values=shown, format="~g", labelOverlap=True))  # fmt: skip
    y = alt.Y("cell:N", title=None, sort=None, axis=alt.Axis(labelLimit=320, grid=True))
    first = alt.Chart(alt.InlineData(values=[{"ratio": 1.0}])).mark_rule(strokeDash=[4, 4], strokeWidth=1.2).encode(x=x)
    marks = alt.Chart(alt.InlineData(values=list(points))).mark_point(filled=True, size=70, opacity=1)
    drawn = marks.encode(
        x, y, alt.Color("line:N", scale=lines, legend=key), alt.Shape("line:N", scale=lines, legend=key),
        tooltip=["cell:N", "line:N", "ratio:Q"],
    )  # fmt: skip
    spec = definition(alt.layer(first, drawn), _ROW_PX * len({point["cell"] for point in points}))
    spec["description"] = "each run over the first one, cell by cell"
    return spec
