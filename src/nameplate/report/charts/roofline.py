"""Draw the roofline of a machine: attainable rate against arithmetic intensity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any, Literal

import altair as alt

from nameplate.records.result import Quantity
from nameplate.report.charts.common import Chart, Point, channel, chart_of, definition, log_axis, rounded
from nameplate.report.charts.line_labels import of_field
from nameplate.report.charts.plot import Axis, Kind, Marks, Plot
from nameplate.report.content.format import count, quantity, scale
from nameplate.report.content.roofline import Bound, Kernel, Roofline, meaning

# In FLOP/byte, from loops that only move data to the largest matrix products that fit a cache.
INTENSITIES = (1 / 64, 64.0)

_HEIGHT = 340
# The height of a label above its line in pixels, and the factor of the intensity by which a label moves inwards.
_LIFTS = {"above": 8, "below": -12}
_INSIDE = 8.0
_LINE_OF_TEXT = 13
# The kind of a line, the alignment of its label, and the label's distance in pixels from the end of the axis.
_SIDES: tuple[tuple[str, Literal["left", "right"], int], ...] = (("slope", "left", 8), ("peak", "right", -4))
_TEXTS: dict[str, Kind] = {"left": "text on the right", "right": "text on the left"}
_TICKS = [4.0**power for power in range(-3, 4)]
_X = Axis("arithmetic intensity (FLOP/byte)", base=2, ends=INTENSITIES,
          names={i: f"1/{1 / i:.0f}" if i < 1 else f"{i:g}" for i in _TICKS})  # fmt: skip


def roofline_charts(roofs: Roofline) -> list[Chart]:
    """Return charts of the attainable rate in FLOP/s against arithmetic intensity, with one line per bound.

    ``roofs`` has the measured peak rates, bandwidths and kernels of one machine. If bounds of one core and of several
    cores were measured, there is one chart for each (``Roofline.by_cores``), with the same axes. The intensity ranges
    from 1/64 to 64 FLOP/byte (``INTENSITIES``); both axes are logarithmic. Each line has a label, its 95 % interval as
    a band, and a large mark at its ridge point. Kernels are points. Source: Williams, Waterman and Patterson, Roofline,
    CACM 52(4), 2009.
    """
    parts = roofs.by_cores()
    factor, unit = scale(max(peak.quantity.value for peak in roofs.peaks), "FLOP/s")
    drawn = [(_points(part, factor), [_kernel_point(kernel, factor) for kernel in part.kernels]) for part in parts]
    rates = [float(point[key]) for points, kernels in drawn for point in [*points, *kernels]
             for key in ("rate", "low", "high", "measured") if key in point]  # fmt: skip
    ends, numbers = log_axis(min(rates), max(rates))
    rate_axis = Axis(f"attainable rate ({unit})", base=10, ends=ends, numbers=numbers)
    meanings = [meaning(part, is_repeated=index > 0) for index, part in enumerate(parts)]
    return [
        _chart(part, points, kernels, rate_axis, meaning_of_part)
        for part, (points, kernels), meaning_of_part in zip(parts, drawn, meanings, strict=True)
    ]


def _points(roofs: Roofline, factor: float) -> list[Point]:
    labels = _labels(roofs)
    return [
        {**point, "line": labels[bound.label], **_in_unit(point, bound.quantity, factor)}
        for bound in [*roofs.peaks, *roofs.slopes]
        for point in (_roof_points(roofs, bound) if bound in roofs.peaks else _slope_points(roofs, bound))
    ]


def _chart(roofs: Roofline, points: list[Point], kernels: list[Point], rate_axis: Axis, meaning_of_chart: str) -> Chart:
    bounds = [*roofs.peaks, *roofs.slopes]
    spec, plot = _drawing(points, kernels, [*_labels(roofs).values()], rate_axis)
    spec["description"] = "attainable floating-point rate against arithmetic intensity, both logarithmic"
    caption = (
        "Horizontal lines are peak rates. Rising lines are bandwidths, up to where they meet the peak of as many "
        "cores. Bands are 95 % intervals, large marks are ridge points, and diamonds are measured loops. Both axes are "
        "logarithmic."
    )
    repeated = [*(bound.command for bound in bounds), *(kernel.command for kernel in roofs.kernels)]
    columns = (("line", "bound"), ("intensity", "FLOP/byte"), ("rate", str(rate_axis.title)))
    cores = {peak.threads for peak in roofs.peaks}
    of = f", {count(cores.pop(), 'thread')}" if len(cores) == 1 else ""
    return Chart(
        f"Attainable rate against arithmetic intensity{of}",
        meaning_of_chart,
        caption,
        spec,
        plot,
        columns,
        tuple(dict.fromkeys(repeated)),
    )


def _labels(roofs: Roofline) -> dict[str, str]:
    """Return the text to draw for each bound, by the bound's label.

    The text includes the number of threads unless all bounds have the same.
    """
    bounds = [*roofs.peaks, *roofs.slopes]
    is_same = len({bound.threads for bound in bounds}) == 1
    return {
        bound.label: f"{bound.name if is_same else bound.label}: {quantity(bound.quantity.value, bound.quantity.unit)}"
        for bound in bounds
    }


def _in_unit(point: Point, bound: Quantity, factor: float) -> Point:
    """Return the rate of a point in the chart's unit, with ``low`` and ``high`` if the bound has an interval."""
    rate = float(point["rate"]) / factor
    interval = {} if bound.ci is None or not bound.value else {
        "low": rounded(rate * bound.ci[0] / bound.value), "high": rounded(rate * bound.ci[1] / bound.value)
    }  # fmt: skip
    return {"rate": rounded(rate), **interval}


def _kernel_point(kernel: Kernel, factor: float) -> Point:
    rate = rounded(kernel.quantity.value / factor)
    return {"kernel": kernel.name, "intensity": rounded(kernel.intensity), "measured": rate}


def _roof_points(roofs: Roofline, peak: Bound) -> list[Point]:
    """Return the two points of a peak's line, which starts at the first slope that meets it and ends with the axis."""
    first, last = INTENSITIES
    ridges = [roofs.ridge(slope) for slope in roofs.slopes if roofs.peak_over(slope) is peak]
    start = min([ridge for ridge in ridges if ridge is not None and first <= ridge <= last], default=first)
    return [
        {"intensity": rounded(start), "rate": peak.quantity.value, "kind": "line"},
        {"intensity": last, "rate": peak.quantity.value, "kind": "peak"},
    ]


def _slope_points(roofs: Roofline, slope: Bound) -> list[Point]:
    """Return the two points of a slope, which ends at its ridge point, or without one at the highest peak."""
    first, last = INTENSITIES
    ridge = roofs.ridge(slope)
    highest = max(peak.quantity.value for peak in roofs.peaks) / slope.quantity.value
    end = max(first, min(last, ridge or highest))
    is_ridge = ridge is not None and first <= ridge <= last
    return [
        {"intensity": first, "rate": slope.quantity.value * first, "kind": "slope"},
        {"intensity": rounded(end), "rate": slope.quantity.value * end, "kind": "ridge" if is_ridge else "line"},
    ]


def _line_labels(points: list[Point], domain: tuple[float, float]) -> list[Point]:
    """Return the position of each line's label: below the left end of a slope, or above the right end of a peak.

    If another label is in the way, the label is on the other side of the line, or further inside.
    """
    placed: list[tuple[float, float]] = []
    labels = []
    ends = [point for point in points if point["kind"] in ("slope", "peak")]
    for point in sorted(ends, key=lambda point: -float(point["rate"])):
        is_slope = point["kind"] == "slope"
        for inside, where in product((1.0, _INSIDE), ("below", "above") if is_slope else ("above", "below")):
            x = float(point["intensity"]) * (inside if is_slope else 1 / inside)
            y = float(point["rate"]) * (inside if is_slope else 1.0)
            height = _HEIGHT * math.log(y / domain[0]) / math.log(domain[1] / domain[0]) + _LIFTS[where]
            if height > 0 and all(other != x or abs(height - up) >= _LINE_OF_TEXT for other, up in placed):
                break
        placed.append((x, height))
        labels.append({"line": point["line"], "x": rounded(x), "y": rounded(y), "place": f"{point['kind']} {where}"})
    return labels


def _drawing(
    points: list[Point], kernels: list[Point], lines: list[str], rate_axis: Axis
) -> tuple[dict[str, Any], Plot]:
    title = rate_axis.title
    x, y = channel(alt.X, "intensity", _X), channel(alt.Y, "rate", rate_axis)
    labels = _line_labels(points, rate_axis.ends or (0.0, 0.0))
    colour = alt.Color("line:N", scale=alt.Scale(domain=lines), legend=None)
    base = chart_of(points).encode(x=x, y=y)
    layers = [
        base.mark_line(strokeWidth=2).encode(color=colour),
        base.mark_area(opacity=0.16).transform_filter("isValid(datum.low)").encode(
            y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), color=colour),
        base.mark_point(filled=True, opacity=1, size=110).transform_filter("datum.kind == 'ridge'").encode(
            color=colour, tooltip=[alt.Tooltip("line:N"), alt.Tooltip("intensity:Q", title="FLOP/byte"),
                                   alt.Tooltip("rate:Q", title=title)]),
        *_label_layers(labels, x, y, colour),
        *(_kernel_layers(kernels, x, title) if kernels else []),
    ]  # fmt: skip
    marks = [
        Marks("line", points, ("intensity", "rate"), by="line"),
        Marks("band", points, ("intensity", "low", "high"), by="line"),
        Marks("points", [point for point in points if point["kind"] == "ridge"], ("intensity", "rate"), by="line"),
        *(Marks(_TEXTS[side], [label for label in labels if str(label["place"]).startswith(end)], ("x", "y", "line"))
          for end, side, _ in _SIDES),
        Marks("points", kernels, ("intensity", "measured"), colour="ink"),
        Marks("text on the right", kernels, ("intensity", "measured", "kernel")),
    ]  # fmt: skip
    return definition(alt.layer(*layers).resolve_scale(color="independent"), _HEIGHT), Plot(_X, rate_axis, marks, lines)


def _label_layers(labels: list[Point], x: alt.X, y: alt.Y, colour: alt.Color) -> Iterator[Any]:
    base = chart_of(labels).encode(x=of_field(x, "x:Q"), y=of_field(y, "y:Q"), color=colour)
    for end, side, shift in _SIDES:
        for where, lift in _LIFTS.items():
            anchor = f"{end} {where}"
            if any(label["place"] == anchor for label in labels):
                text = base.mark_text(align=side, dx=shift, dy=-lift, fontSize=11, fontWeight="bold")
                yield text.encode(text=alt.Text("line:N")).transform_filter(f"datum.place == '{anchor}'")


def _kernel_layers(kernels: list[Point], x: alt.X, title: str | None) -> list[Any]:
    base = chart_of(kernels).encode(x=x, y=alt.Y("measured:Q", title=title))
    marks = base.mark_point(filled=True, opacity=1, size=70, shape="diamond", color="var(--ink)")
    # Right of and below a point, no slope is near: a loop is below its own slope.
    names = base.mark_text(align="left", dx=7, dy=6, fontSize=11, color="var(--ink)").encode(text=alt.Text("kernel:N"))
    return [
        marks.encode(
            tooltip=[alt.Tooltip("kernel:N"), alt.Tooltip("intensity:Q"), alt.Tooltip("measured:Q", title=title)]
        ),
        names,
    ]
