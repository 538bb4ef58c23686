"""Give charts that are compared the same axes, so that equal values have equal positions."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from nameplate.report.charts.common import Chart, log_axis, ticks
from nameplate.report.charts.plot import Axis

_PART = re.compile(r" \(\d+ of \d+\)$")


def share_axes(places: Iterable[tuple[int, tuple[str, str]]], charts: list[Chart]) -> None:
    """Replace charts of the same kind in the list ``charts`` by copies with the same axes.

    ``places`` has (index in ``charts``, (part of the page, title)) for each chart. Charts are of the same kind if they
    have the same part and title, as in several runs. Charts into which one chart was split, with "(1 of 3)" and so on
    in their titles, are of the same kind, too.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for index, (part, title) in places:
        # The title of a roofline has its number of threads.
        groups.setdefault((part, "" if part == "roofline" else _PART.sub("", title)), []).append(index)
    for indices in groups.values():
        if len(indices) > 1:
            changed = with_same_axes([charts[index] for index in indices])
            for index, chart in zip(indices, changed, strict=True):
                charts[index] = chart


def with_same_axes(charts: Sequence[Chart]) -> list[Chart]:
    """Return copies of ``charts``, in the same order, that share an x axis, a y axis or both if possible.

    An axis is shared if it has numbers and the same title, including the unit, and the same kind of scale in all
    charts. The shared axis includes the ends of the axis in every chart. A y axis without fixed ends is shared as well.
    An x axis without fixed ends is not: it is a time from the start of each run.
    """
    plots = [chart.plot for chart in charts]
    x = _shared([plot.x for plot in plots])
    y = _shared([replace(plot.y, ends=plot.y.ends or plot.extent_of_y()) for plot in plots])
    return [_with_axes(chart, x, y) for chart in charts]


def _shared(axes: Sequence[Axis]) -> Axis | None:
    """Return an axis that fits all charts, or None if their axes differ in kind, or one has no ends."""
    first = axes[0]
    ends = [axis.ends for axis in axes if axis.ends]
    kinds = {(axis.title, axis.base, bool(axis.categories)) for axis in axes}
    if len(kinds) > 1 or len(ends) < len(axes) or first.categories:
        return None
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    names = {number: name for axis in axes for number, name in axis.names.items()}
    has_numbers = first.base and any(axis.numbers or axis.names for axis in axes)
    numbers = log_axis(low, high)[1] if has_numbers and not names else first.numbers
    return replace(first, ends=(low, high), numbers=numbers, names=dict(sorted(names.items())))


def _with_axes(chart: Chart, x: Axis | None, y: Axis | None) -> Chart:
    spec = copy.deepcopy(dict(chart.spec))
    for name, axis in (("x", x), ("y", y)):
        for layer in spec.get("layer", [spec]):
            channel: dict[str, Any] = layer.get("encoding", {}).get(name, {})
            if axis and channel.get("type") == "quantitative" and channel.get("scale"):
                channel["scale"] = {**channel["scale"], "domain": list(axis.ends or ())}
                channel["axis"] = {**(channel.get("axis") or {}), **ticks(axis)}
    return replace(chart, spec=spec, plot=replace(chart.plot, x=x or chart.plot.x, y=y or chart.plot.y))
