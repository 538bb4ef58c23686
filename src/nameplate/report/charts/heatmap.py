"""Draw a metric by two parameters as a heat map whose cells contain the values."""

from __future__ import annotations

from typing import Any

import altair as alt

from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.report.charts.common import Chart, Point, chart_of, definition
from nameplate.report.charts.grids import Grid
from nameplate.report.charts.plot import Axis, Marks, Plot
from nameplate.report.content.format import interval_text, parameters, quantity
from nameplate.report.content.repeat_commands import sweep_command

# With a larger span, linear shading would leave all small values uncoloured.
LONG_SPAN = 8.0
# Within these limits the text of a cell is readable on both the light and the dark theme.
SHADES = [0.05, 0.5]
# Sizes of a cell in pixels, as wide as its text.
WIDTH, HEIGHT = 68, 30


def heat_map(grid: Grid) -> Chart:
    """Return a chart of a grid from ``grids`` with one cell per result, which shows the value with its unit.

    A cell without a value shows the outcome of its experiment. Cells of oversubscribed experiments (more threads than
    CPUs) are framed. The colour scale is logarithmic if all values are above 0 and the largest is more than 8 times the
    smallest (``LONG_SPAN``), otherwise linear.

    Raises:
        ValueError: the grid has no value.
    """
    row = grid.results[0].summary
    points = [_point(grid, position, result) for position, result in grid.cells.items()]
    columns = (
        ("row", grid.rows), ("column", grid.columns), ("shown", row.metric), ("interval", "95 % interval"),
        ("state", "threads and CPUs"),
    )  # fmt: skip
    spec, plot = _drawing(grid, points)
    spec["description"] = f"{row.metric} of {row.probe} by {grid.rows} and {grid.columns}"
    caption = "A stronger colour means a larger value."
    if any(result.oversubscribed for result in grid.results):
        caption += " Framed cells are oversubscribed: they ran more threads than CPUs."
    command = sweep_command(grid.results, grid.rows, grid.columns)
    return Chart(grid.title, _meaning(grid), caption, spec, plot, columns, (command,))


def _meaning(grid: Grid) -> str:
    """Return sentences that say where the values are best and worst, and what a cell off the pattern means."""
    measured = {position: result for position, result in grid.cells.items() if result.summary.value is not None}
    goodness = 1 if grid.results[0].better == "higher" else -1
    ordered = sorted(measured, key=lambda position: goodness * (measured[position].summary.value or 0.0))
    worst, best = (f"{grid.rows}={_head(grid.rows, row)} {grid.columns}={_head(grid.columns, column)}"
                   for row, column in (ordered[0], ordered[-1]))  # fmt: skip
    return (
        f"The best value is at {best}, the worst at {worst}. A single cell that breaks the pattern of its row and "
        "column was disturbed, or has a limit of its own."
    )


def _head(name: str, value: Value) -> str:
    return parameters({name: value}).partition("=")[2]


def _point(grid: Grid, position: tuple[Value, Value], result: Result) -> Point:
    row = result.summary
    return {
        "row": _head(grid.rows, position[0]),
        "column": _head(grid.columns, position[1]),
        "shown": quantity(row.value, row.unit) if row.value is not None else row.outcome,
        "interval": interval_text(row.value, row.ci, row.unit),
        "state": "oversubscribed" if result.oversubscribed else "one CPU per thread",
        **({"value": row.value} if row.value is not None else {}),
    }


def _drawing(grid: Grid, points: list[Point]) -> tuple[dict[str, Any], Plot]:
    values = [float(point["value"]) for point in points if "value" in point]
    is_long = min(values) > 0 and max(values) / min(values) > LONG_SPAN
    rows = [_head(grid.rows, v) for v in sorted({row for row, _ in grid.cells}, key=float)]
    columns = [_head(grid.columns, v) for v in sorted({column for _, column in grid.cells}, key=float)]
    x_axis = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False, labelOverlap=False)
    y_axis = alt.Axis(ticks=False, domain=False, labelOverlap=False)
    base = chart_of(points).encode(
        x=alt.X("column:O", title=grid.columns, sort=columns, axis=x_axis),
        y=alt.Y("row:O", title=grid.rows, sort=rows, axis=y_axis),
        tooltip=[alt.Tooltip("row:N", title=grid.rows), alt.Tooltip("column:N", title=grid.columns),
                 alt.Tooltip("shown:N", title=grid.results[0].summary.metric), alt.Tooltip("interval:N"),
                 alt.Tooltip("state:N")],
    )  # fmt: skip
    oversubscribed = [point for point in points if point["state"] == "oversubscribed"]
    shade = alt.Scale(type="log" if is_long else "linear", domain=[min(values), max(values)], range=SHADES)
    frames = base.mark_rect(filled=False, stroke="var(--faint)", strokeDash=[3, 2])
    frames = frames.transform_filter("datum.state == 'oversubscribed'")
    layers = [
        base.mark_rect(color="var(--series-1)").transform_filter("isValid(datum.value)")
        .encode(opacity=alt.Opacity("value:Q", scale=shade, legend=None)),
        # Screen readers announce an empty group as an unnamed picture.
        *([frames] if oversubscribed else []),
        base.mark_text(fontSize=10, color="var(--ink)").encode(text=alt.Text("shown:N")),
    ]  # fmt: skip
    plot = Plot(
        Axis(grid.columns, categories=columns),
        Axis(grid.rows, categories=rows),
        [
            Marks("cells", points, ("column", "row", "value")),
            Marks("frames", oversubscribed, ("column", "row")),
            Marks("text", points, ("column", "row", "shown")),
        ],
        shade=Axis(base=10 if is_long else 0, ends=(min(values), max(values))),
    )
    return definition(alt.layer(*layers), alt.Step(HEIGHT), alt.Step(WIDTH)), plot
