"""Draw the roofline of a machine: attainable rate against arithmetic intensity."""

from __future__ import annotations

from typing import Any

import altair as alt

from nameplate.report.charts.common import Chart, Point, definition, legend, log_axis, rounded, tick_labels
from nameplate.report.format import quantity, scale
from nameplate.report.roofline import Bound, Roofline, meaning

# In FLOP/byte: from loops that only move data to the largest matrix products that fit a cache.
INTENSITIES = (1 / 64, 64.0)

_HEIGHT = 340


def roofline_chart(roofs: Roofline) -> Chart:
    """Return the chart of the attainable rate in FLOP/s against arithmetic intensity, with a line for each bound.

    The intensity goes from 1/64 to 64 FLOP/byte (``INTENSITIES``); both axes are logarithmic.
    """
    factor, unit = scale(max(peak.quantity.value for peak in roofs.peaks), "FLOP/s")
    labels = {bound.label: _label(bound) for bound in [*roofs.peaks, *roofs.slopes]}
    points = [
        {**point, "line": labels[bound.label], "rate": rounded(float(point["rate"]) / factor)}
        for bound in [*roofs.peaks, *roofs.slopes]
        for point in (_roof_points(roofs, bound) if bound in roofs.peaks else _slope_points(roofs, bound))
    ]
    spec = _spec(points, list(labels.values()), f"attainable rate ({unit})")
    spec["description"] = "attainable floating-point rate against arithmetic intensity, both logarithmic"
    caption = (
        "Horizontal lines are peak rates. Rising lines are bandwidths, up to where they meet the peak of as many "
        "cores. Large marks are ridge points; small marks tell the lines apart. Both axes are logarithmic."
    )
    commands = tuple(dict.fromkeys(bound.command for bound in [*roofs.peaks, *roofs.slopes]))
    columns = (("line", "bound"), ("intensity", "FLOP/byte"), ("rate", f"attainable rate ({unit})"))
    return Chart("Attainable rate against arithmetic intensity", meaning(roofs), caption, spec, columns, commands)


def _label(bound: Bound) -> str:
    return f"{bound.label}: {quantity(bound.quantity.value, bound.quantity.unit)}"


def _roof_points(roofs: Roofline, peak: Bound) -> list[Point]:
    """Return the points of a peak, from the first slope that reaches it to the end of the axis."""
    first, last = INTENSITIES
    ridges = [roofs.ridge(slope) for slope in roofs.slopes if roofs.peak_over(slope) is peak]
    begin = min([ridge for ridge in ridges if ridge is not None and first <= ridge <= last], default=first)
    return [
        {"intensity": rounded(begin), "rate": peak.quantity.value, "kind": "line"},
        {"intensity": last, "rate": peak.quantity.value, "kind": "end"},
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
        {"intensity": first, "rate": slope.quantity.value * first, "kind": "end"},
        {"intensity": rounded(end), "rate": slope.quantity.value * end, "kind": "ridge" if is_ridge else "line"},
    ]


def _spec(points: list[Point], labels: list[str], title: str) -> dict[str, Any]:
    rates = [float(point["rate"]) for point in points]
    domain, numbers = log_axis(min(rates), max(rates))
    intensities = [4.0**power for power in range(-3, 4)]
    names = tick_labels({i: f"1/{1 / i:.0f}" if i < 1 else f"{i:g}" for i in intensities})
    x = alt.X("intensity:Q", title="arithmetic intensity (FLOP/byte)",
              scale=alt.Scale(type="log", base=2, domain=list(INTENSITIES), nice=False),
              axis=alt.Axis(values=intensities, labelExpr=names))  # fmt: skip
    y = alt.Y("rate:Q", title=title, scale=alt.Scale(type="log", domain=domain, nice=False),
              axis=alt.Axis(values=numbers, format="~g"))  # fmt: skip
    lines = alt.Scale(domain=labels)
    key = legend(labels)
    base = alt.Chart(alt.InlineData(values=points)).encode(x=x, y=y)
    layers = [
        base.mark_line(strokeWidth=2).encode(color=alt.Color("line:N", scale=lines, legend=None)),
        base.mark_point(filled=True, opacity=1).transform_filter("datum.kind != 'line'").encode(
            alt.Color("line:N", scale=lines, legend=key),
            alt.Shape("line:N", scale=lines, legend=key),
            size=alt.condition("datum.kind == 'ridge'", alt.value(130), alt.value(40)),
            tooltip=["line:N", alt.Tooltip("intensity:Q", title="FLOP/byte"), alt.Tooltip("rate:Q", title=title)],
        ),
    ]  # fmt: skip
    return definition(alt.layer(*layers).resolve_scale(color="independent", shape="independent"), _HEIGHT)
