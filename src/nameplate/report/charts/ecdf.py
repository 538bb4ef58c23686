"""Draw the distribution of single operations' times: the share of operations that took at most a given time."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from nameplate.probes.shared.grid import labels
from nameplate.records.result import Result
from nameplate.report.charts.common import (
    HEIGHT,
    Chart,
    Point,
    channel,
    chart_of,
    chunks,
    definition,
    legend,
    log_axis,
    rounded,
)
from nameplate.report.charts.plot import Axis, Marks, Plot
from nameplate.report.content.format import scale
from nameplate.report.content.repeat_commands import repeat_commands

# More experiments are easier to read in the table.
MAX_EXPERIMENTS = 32

_MEANING = (
    "The time at a height of 50 % is the median. A steep line means that all operations take about as long. A line "
    "that bends far to the right near its top has rare, long waits. A step in the middle means two kinds of "
    "operations, such as cache hits and misses."
)


def ecdf(results: Sequence[Result]) -> list[Chart]:
    """Return charts of the share of operations that took at most a given time, with one line per experiment.

    ``results`` are the results that ``headlines`` returns for one probe. Experiments that did not time single
    operations are left out. A chart has at most 8 lines (``LINES_IN_A_CHART``). The list is empty if no experiment
    remains, or more than 32 (``MAX_EXPERIMENTS``) remain.
    """
    timed = [[result] for result in results if result.distribution]
    if not timed or len(timed) > MAX_EXPERIMENTS:
        return []
    named = {id(line): label for line, label in zip(timed, labels([line[0] for line in timed]), strict=True)}
    return [_chart(title, [(named[id(line)], line[0]) for line in part])
            for title, part in chunks(timed, "Distribution of operation times")]  # fmt: skip


def _chart(title: str, lines: Sequence[tuple[str, Result]]) -> Chart:
    longest = max(result.distribution[-1][0] for _, result in lines)
    factor, unit = scale(longest, "s")
    points: list[Point] = [
        {"line": label, "time": rounded(time_s / factor), "share": share}
        for label, result in lines for time_s, share in result.distribution
    ]  # fmt: skip
    times = [float(point["time"]) for point in points]
    domain, numbers = log_axis(min(times), max(times))
    heading = f"time ({unit})"
    x = Axis(heading, base=10, ends=domain, numbers=numbers)
    y = Axis("share of operations", ends=(0, 1))
    names = [label for label, _ in lines]
    tooltip = [alt.Tooltip("line:N"), alt.Tooltip("time:Q", title=heading), alt.Tooltip("share:Q", format=".1%")]
    drawn = chart_of(points).mark_line(strokeWidth=1.6, interpolate="step-after").encode(
        channel(alt.X, "time", x),
        alt.Y("share:Q", title=y.title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
        alt.Color("line:N", scale=alt.Scale(domain=names), legend=legend(names)),
        alt.StrokeDash("line:N", scale=alt.Scale(domain=names), legend=legend(names)),
        tooltip=tooltip if len(names) > 1 else tooltip[1:],
    )  # fmt: skip
    columns = (("line", "parameters"), ("share", "share"), ("time", heading))
    caption = "All rounds together; the time axis is logarithmic."
    commands = repeat_commands(result for _, result in lines)
    plot = Plot(x, y, [Marks("steps", points, ("time", "share"), by="line")], names)
    return Chart(
        title, _MEANING, caption, definition(drawn, HEIGHT), plot, columns if len(names) > 1 else columns[1:], commands
    )
