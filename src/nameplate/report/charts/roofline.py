"""Draw the roofline of a machine: attainable rate against arithmetic intensity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import altair as alt

from nameplate.records.result import Quantity
from nameplate.report.charts.common import Chart, Point, chart_of, definition, log_axis, rounded, tick_labels
from nameplate.report.charts.line_labels import of_field
from nameplate.report.content.format import count, quantity, scale
from nameplate.report.content.roofline import Bound, Kernel, Roofline, meaning

# In FLOP/byte: from loops that only move data to the largest matrix products that fit a cache.
INTENSITIES = (1 / 64, 64.0)

_HEIGHT = 340
# The height of a label above its line in pixels, and the factor of the intensity by which it is further inside.
_LIFTS = {"above": 8, "below": -12}
_INSIDE = 8.0
_LINE_OF_TEXT = 13
# The kind of a line, the alignment of its label, and the label's distance in pixels from the end of the axis.
_SIDES: tuple[tuple[str, Literal["left", "right"], int], ...] = (("slope", "left", 8), ("peak", "right", -4))


@dataclass(frozen=True)
class _Axes:
    """The unit of the rates, its size in FLOP/s, and the y axis: all charts of one run share them."""

    unit: str
    factor: float
    domain: list[float]
    numbers: list[float]

    @property
    def title(self) -> str:
        return f"attainable rate ({self.unit})"


def roofline_charts(roofs: Roofline) -> list[Chart]:
    """Return charts of the attainable rate in FLOP/s against arithmetic intensity, with a line for each bound.

    There is one chart for one core and one for several (``Roofline.by_cores``), with the same axes. The intensity goes
    from 1/64 to 64 FLOP/byte (``INTENSITIES``); both axes are logarithmic. Each line has its label, its interval as a
    band, and a large mark where it meets its peak. Kernels are points.
    """
    parts = roofs.by_cores()
    factor, unit = scale(max(peak.quantity.value for peak in roofs.peaks), "FLOP/s")
    drawn = [(_points(part, factor), [_kernel_point(each, factor) for each in part.kernels]) for part in parts]
    rates = [float(point[key]) for points, kernels in drawn for point in [*points, *kernels]
             for key in ("rate", "low", "high", "measured") if key in point]  # fmt: skip
    axes = _Axes(unit, factor, *log_axis(min(rates), max(rates)))
    meanings = [meaning(part, is_again=index > 0) for index, part in enumerate(parts)]
    return [
        _chart(part, points, kernels, axes, words)
        for part, (points, kernels), words in zip(parts, drawn, meanings, strict=True)
    ]


def _points(roofs: Roofline, factor: float) -> list[Point]:
    labels = _labels(roofs)
    return [
        {**point, "line": labels[bound.label], **_in_unit(point, bound.quantity, factor)}
        for bound in [*roofs.peaks, *roofs.slopes]
        for point in (_roof_points(roofs, bound) if bound in roofs.peaks else _slope_points(roofs, bound))
    ]


def _chart(roofs: Roofline, points: list[Point], kernels: list[Point], axes: _Axes, words: str) -> Chart:
    bounds = [*roofs.peaks, *roofs.slopes]
    spec = _spec(points, kernels, [*_labels(roofs).values()], axes)
    spec["description"] = "attainable floating-point rate against arithmetic intensity, both logarithmic"
    caption = (
        "Horizontal lines are peak rates. Rising lines are bandwidths, up to where they meet the peak of as many "
        "cores. Bands are 95 % intervals, large marks are ridge points, and diamonds are measured loops. Both axes are "
        "logarithmic."
    )
    repeated = [*(bound.command for bound in bounds), *(kernel.command for kernel in roofs.kernels)]
    columns = (("line", "bound"), ("intensity", "FLOP/byte"), ("rate", axes.title))
    cores = {peak.threads for peak in roofs.peaks}
    of = f", {count(cores.pop(), 'thread')}" if len(cores) == 1 else ""
    return Chart(
        f"Attainable rate against arithmetic intensity{of}",
        words,
        caption,
        spec,
        columns,
        tuple(dict.fromkeys(repeated)),
    )


def _labels(roofs: Roofline) -> dict[str, str]:
    """Return the label of each bound in the chart, with its threads unless those are the same for all."""
    bounds = [*roofs.peaks, *roofs.slopes]
    is_same = len({bound.threads for bound in bounds}) == 1
    return {
        bound.label: f"{bound.name if is_same else bound.label}: {quantity(bound.quantity.value, bound.quantity.unit)}"
        for bound in bounds
    }


def _in_unit(point: Point, bound: Quantity, factor: float) -> Point:
    """Return the rate of a point of a line in the chart's unit, and the interval of the line there, if it has one."""
    rate = float(point["rate"]) / factor
    interval = {} if bound.ci is None or not bound.value else {
        "low": rounded(rate * bound.ci[0] / bound.value), "high": rounded(rate * bound.ci[1] / bound.value)
    }  # fmt: skip
    return {"rate": rounded(rate), **interval}


def _kernel_point(kernel: Kernel, factor: float) -> Point:
    rate = rounded(kernel.quantity.value / factor)
    return {"kernel": kernel.name, "intensity": rounded(kernel.intensity), "measured": rate}


def _roof_points(roofs: Roofline, peak: Bound) -> list[Point]:
    """Return the points of a peak, from the first slope that reaches it to the end of the axis."""
    first, last = INTENSITIES
    ridges = [roofs.ridge(slope) for slope in roofs.slopes if roofs.peak_over(slope) is peak]
    begin = min([ridge for ridge in ridges if ridge is not None and first <= ridge <= last], default=first)
    return [
        {"intensity": rounded(begin), "rate": peak.quantity.value, "kind": "line"},
        {"intensity": last, "rate": peak.quantity.value, "kind": "peak"},
    ]


def _slope_points(roofs: Roofline, slope: Bound) -> list[Point]:
    """Return the points of a slope, from the start of the axis to its ridge point, or to the highest peak if it has
    none.
    """
    first, last = INTENSITIES
    ridge = roofs.ridge(slope)
    highest = max(peak.quantity.value for peak in roofs.peaks) / slope.quantity.value
    end = max(first, min(last, ridge or highest))
    is_ridge = ridge is not None and first <= ridge <= last
    return [
        {"intensity": first, "rate": slope.quantity.value * first, "kind": "slope"},
        {"intensity": rounded(end), "rate": slope.quantity.value * end, "kind": "ridge" if is_ridge else "line"},
    ]


def _line_labels(points: list[Point], domain: list[float]) -> list[Point]:
    """Return the place of each line's label: below the left end of a slope, or above the right end of a peak.

    Where another label is in the way, it is on the other side of the line, or further inside.
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


def _channels(axes: _Axes) -> tuple[alt.X, alt.Y]:
    intensities = [4.0**power for power in range(-3, 4)]
    names = tick_labels({i: f"1/{1 / i:.0f}" if i < 1 else f"{i:g}" for i in intensities})
    x = alt.X("intensity:Q", title="arithmetic intensity (FLOP/byte)",
              scale=alt.Scale(type="log", base=2, domain=list(INTENSITIES), nice=False),
              axis=alt.Axis(values=intensities, labelExpr=names))  # fmt: skip
    y = alt.Y("rate:Q", title=axes.title, scale=alt.Scale(type="log", domain=axes.domain, nice=False),
              axis=alt.Axis(values=axes.numbers, format="~g"))  # fmt: skip
    return x, y


def _spec(points: list[Point], kernels: list[Point], labels: list[str], axes: _Axes) -> dict[str, Any]:
    title = axes.title
    x, y = _channels(axes)
    lines = alt.Scale(domain=labels)
    colour = alt.Color("line:N", scale=lines, legend=None)
    base = chart_of(points).encode(x=x, y=y)
    layers = [
        base.mark_line(strokeWidth=2).encode(color=colour),
        base.mark_area(opacity=0.16).transform_filter("isValid(datum.low)").encode(
            y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), color=colour),
        base.mark_point(filled=True, opacity=1, size=110).transform_filter("datum.kind == 'ridge'").encode(
            color=colour, tooltip=[alt.Tooltip("line:N"), alt.Tooltip("intensity:Q", title="FLOP/byte"),
                                   alt.Tooltip("rate:Q", title=title)]),
        *_label_layers(_line_labels(points, axes.domain), x, y, colour),
        *(_kernel_layers(kernels, x, title) if kernels else []),
    ]  # fmt: skip
    return definition(alt.layer(*layers).resolve_scale(color="independent"), _HEIGHT)


def _label_layers(labels: list[Point], x: alt.X, y: alt.Y, colour: alt.Color) -> Iterator[Any]:
    base = chart_of(labels).encode(x=of_field(x, "x:Q"), y=of_field(y, "y:Q"), color=colour)
    for end, side, shift in _SIDES:
        for where, lift in _LIFTS.items():
            place = f"{end} {where}"
            if any(label["place"] == place for label in labels):
                text = base.mark_text(align=side, dx=shift, dy=-lift, fontSize=11, fontWeight="bold")
                yield text.encode(text=alt.Text("line:N")).transform_filter(f"datum.place == '{place}'")


def _kernel_layers(kernels: list[Point], x: alt.X, title: str) -> list[Any]:
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
