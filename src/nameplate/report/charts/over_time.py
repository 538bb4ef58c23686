"""Draw the samples of one experiment over time."""

from __future__ import annotations

from functools import cache
from typing import Any

import altair as alt

from nameplate.records.result import Result, Series
from nameplate.records.series_events import Event, OverTime
from nameplate.report.charts.common import Chart, Point, channel, chart_of, definition, layers_of_positions, rounded
from nameplate.report.charts.plot import Axis, Marks, Plot
from nameplate.report.content.event_text import cause, happening
from nameplate.report.content.format import parameters, quantity, scale
from nameplate.report.content.repeat_commands import repeat_command
from nameplate.statistics.stats import median, percentile

_HEIGHT = 120
_HEIGHT_WITH_EVENTS = 220
# The minimum drift that is reported, and the minimum spread that counts as wide, as shares of the level.
_STEADY, _WIDE = 0.03, 0.2
_MIN_FOR_DRIFT = 20
_X = Axis("measuring time (s)")
# A sample that is slower than the median by this factor was disturbed, even if no interference was recorded.
_SLOW = 1.5
_STATES = {
    "undisturbed": ("circle", "var(--series-1)"),
    "disturbed": ("triangle-up", "var(--series-2)"),
    "unexplained": ("square", "var(--series-5)"),
}
_UNDISTURBED, _DISTURBED, _UNEXPLAINED = _STATES


def over_time(result: Result, limit: int) -> Chart:
    """Return a chart of an experiment's samples over measuring time, and of the events if it is a long series.

    ``result`` is the result of the experiment's first metric, with at least one sample. ``limit`` is the maximum number
    of samples to draw; if there are more, ``thin`` chooses which are drawn. The chart's ``title`` is "", and its
    ``events`` are None unless the experiment is a long series.
    """
    row = result.summary
    factor, unit = scale(row.value or 0.0, row.unit)
    series = thin(result.series, limit)
    states = sample_states(result)
    points = [_point(result.series, index, factor, states[index]) for index in series]
    count = len(result.series.value)
    slow = f", {states.count(_UNEXPLAINED)} slow for a cause that was not recorded" if _UNEXPLAINED in states else ""
    caption = f"{count} samples, {sum(result.series.disturbed)} disturbed{slow}."
    if len(series) < count:
        caption += f" {len(series)} of them are drawn: the minimum and maximum of each stretch of time."
    seen = row.over_time
    samples = Marks("points", points, ("start", "value"), by="state")
    if seen is None:
        middle = [{"value": median([float(point["value"]) for point in points])}]
        layers, marks = _spec(unit), [Marks("level", middle, ("value",)), samples]
    else:
        layers, marks_of_events = _with_events(unit, seen, result.series, factor)
        marks = [samples, *marks_of_events]
    spec = {
        **layers,
        "data": {"values": points},
        "description": f"{row.metric} in {unit} over time, {row.probe} {parameters(row.params)}",
    }
    columns = (("start", "start (s)"), ("value", f"{row.metric} ({unit})"), ("state", "state"))
    events = tuple((happening(e), cause(e)) for e in seen.events) if seen else None
    plot = Plot(_X, Axis(unit), marks, [*_STATES])
    return Chart("", _meaning(result), caption, spec, plot, columns, (repeat_command(result),), events)


def sample_states(result: Result) -> list[str]:
    """Return the state of each sample of ``result.series``: "disturbed", "unexplained" or "undisturbed".

    A sample is "disturbed" if an interference was recorded during the sample. Another sample is "unexplained" if it is
    more than 1.5 times slower (``_SLOW``) than the median of all samples without interference. The series must have at
    least one sample.
    """
    values, flags = result.series.value, result.series.disturbed
    typical = median([value for value, is_disturbed in zip(values, flags, strict=True) if not is_disturbed] or values)
    is_rate = result.better == "higher"

    def state(value: float, is_disturbed: bool) -> str:
        is_slow = value * _SLOW < typical if is_rate else value > typical * _SLOW
        return _DISTURBED if is_disturbed else _UNEXPLAINED if is_slow else _UNDISTURBED

    return [state(value, is_disturbed) for value, is_disturbed in zip(values, flags, strict=True)]


def _meaning(result: Result) -> str:
    seen = result.summary.over_time
    return _meaning_of_samples(result) if seen is None else _meaning_of_series(seen, result.summary.unit)


def _meaning_of_series(seen: OverTime, unit: str) -> str:
    """Return sentences that say whether the machine sustains its initial level."""
    share = seen.sustained / seen.burst
    said = f"The series starts at {quantity(seen.burst, unit)} and sustains {quantity(seen.sustained, unit)}"
    if abs(share - 1) <= _STEADY:
        return f"{said}: the level holds. A lasting drop would mean a limit of power, heat or burst credits."
    return (
        f"{said}, {share * 100:.0f} %. A lasting drop means a limit of power or heat, or a guest that has used up its "
        "burst credits. Dips that recur mean a periodic task. The table lists what changed at the same time."
    )


def _meaning_of_samples(result: Result) -> str:
    """Return sentences that say how much the samples vary, with the most likely cause."""
    values = result.series.value
    middle = median(values)
    if not middle:
        return "Most samples are 0, so there is no relative spread."
    low, high = percentile(values, 0.1), percentile(values, 0.9)
    said = (
        f"Eighty percent of the samples differ from the median by {low / middle - 1:+.1%} to {high / middle - 1:+.1%}."
    )
    quarter = max(1, len(values) // 4)
    drift = median(values[-quarter:]) / median(values[:quarter]) - 1
    if len(values) >= _MIN_FOR_DRIFT and abs(drift) > _STEADY:
        return f"{said} They drift by {drift:+.1%} from the first quarter to the last: heat, power or a neighbour."
    if (high - low) / middle > _WIDE:
        return f"{said} Such a wide spread means that something else ran at the same time; measure on an idle machine."
    return f"{said} A level, narrow band is good; a slope would mean heat, single low points mean interruptions."


def thin(series: Series, limit: int) -> list[int]:
    """Return the ascending indices of the samples of ``series`` to draw, so that the outline is kept.

    With up to ``limit`` samples, all indices are returned. Otherwise the series is split into ``limit // 2`` parts of
    about equal length, at least one, and the indices of the minimum and the maximum of each part are returned.
    """
    count = len(series.value)
    if count <= limit:
        return list(range(count))
    stretches = max(1, limit // 2)
    indices: set[int] = set()
    for k in range(stretches):
        stretch = range(k * count // stretches, (k + 1) * count // stretches)
        indices.add(min(stretch, key=series.value.__getitem__))
        indices.add(max(stretch, key=series.value.__getitem__))
    return sorted(indices)


def _point(series: Series, index: int, factor: float, state: str) -> Point:
    return {
        "start": round(series.start_s[index], 3),
        "value": rounded(series.value[index] / factor),
        "state": state,
    }


@cache
def _spec(unit: str) -> dict[str, Any]:
    return definition(alt.layer(_middle(unit), _points(unit)), _HEIGHT)


def _with_events(unit: str, seen: OverTime, series: Series, factor: float) -> tuple[dict[str, Any], list[Marks]]:
    """Return the definition of the chart of a long series, and all marks except the samples.

    Levels are lines, samples within events have a ring, and each event has its number at its start.
    """
    first = series.round.index(series.round[-1])
    origin_s = series.start_s[first]
    times = series.start_s[first:]
    starts = [origin_s + level.start_s for level in seen.levels]
    levels = [
        {"start": rounded(start), "end": rounded(origin_s + level.end_s), "value": rounded(level.value / factor)}
        for start, level in zip(starts, seen.levels, strict=True)
    ]
    rings: list[Point] = [
        {"start": round(time, 3), "value": rounded(value / factor)}
        for time, value in zip(times, series.value[first:], strict=True)
        if any(_is_within(time - origin_s, event) for event in seen.events)
    ]
    labels: list[Point] = [
        {"start": round(origin_s + event.start_s, 3), "number": str(number)}
        for number, event in enumerate(seen.events, start=1)
    ]
    x, y = _channels(unit)
    starts, marks_of_starts = layers_of_positions(labels, x, "number")
    layers = [
        _points(unit),
        chart_of(levels).mark_rule(strokeWidth=2, color="var(--series-3)").encode(x=x, x2=alt.X2("end:Q"), y=y),
        chart_of(rings)
        .mark_point(shape="circle", filled=False, size=130, strokeWidth=1.4, color="var(--ink)")
        .encode(x=x, y=y),
        *starts,
    ]
    marks = [
        Marks("stretches", levels, ("start", "value", "end"), colour="series-3"),
        Marks("rings", rings, ("start", "value"), colour="ink"),
        *marks_of_starts,
    ]
    return definition(alt.layer(*layers), _HEIGHT_WITH_EVENTS), marks


def _is_within(time_s: float, event: Event) -> bool:
    """Return whether a sample that starts at ``time_s`` belongs to an event of the kind "dips" or "run".

    ``time_s`` is in seconds from the start of the series. For levels and drifts, the result is False.
    """
    near_s = event.width_s * 1e-3
    return event.kind in ("dips", "run") and any(
        at - near_s <= time_s < at + event.width_s - near_s for at in event.at_s
    )


def _channels(unit: str) -> tuple[Any, Any]:
    y_scale = {"zero": False, "nice": False, "padding": 6}
    x = channel(alt.X, "start", _X, {"padding": 6}, tickCount=5)
    return x, channel(alt.Y, "value", Axis(unit), y_scale, tickCount=4)


def _middle(unit: str) -> Any:
    return alt.Chart().mark_rule(strokeDash=[4, 3]).encode(y=alt.Y("median(value):Q", title=unit))


def _points(unit: str) -> Any:
    x, y = _channels(unit)
    states = alt.Scale(domain=[*_STATES], range=[shape for shape, _ in _STATES.values()])
    colours = alt.Scale(domain=[*_STATES], range=[colour for _, colour in _STATES.values()])
    return (
        alt.Chart()
        .mark_point(filled=True, size=34, opacity=0.75)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape("state:N", scale=states, legend=None),
            color=alt.Color("state:N", scale=colours, legend=None),
            tooltip=[
                alt.Tooltip("start:Q", title="seconds"),
                alt.Tooltip("value:Q", title=unit),
                alt.Tooltip("state:N"),
            ],
        )
    )
