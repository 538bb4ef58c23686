"""Give charts that are compared the same axes, so that equal values are at equal places."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from nameplate.report.charts.common import Chart, log_axis, tick_labels

Spec: TypeAlias = Mapping[str, Any]

_PART = re.compile(r" \(\d+ of \d+\)$")
_AXES = ("x", "y")


def share_axes(places: Iterable[tuple[int, tuple[str, str]]], charts: list[Chart]) -> None:
    """Combine the axes of charts with the same part and title, in the list ``charts``, so that they are the same.

    ``places`` has for each chart its index in the list, and the part of the page and its title: those of several runs
    agree in both. So do the parts of a chart that was split, "(1 of 3)" and so on.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for index, (part, title) in places:
        # The title of a roofline has its number of threads.
        groups.setdefault((part, "" if part == "roofline" else _PART.sub("", title)), []).append(index)
    for indices in groups.values():
        if len(indices) > 1:
            specs = with_same_axes([charts[index].spec for index in indices])
            for index, spec in zip(indices, specs, strict=True):
                charts[index] = replace(charts[index], spec=spec)


def with_same_axes(specs: Sequence[Spec]) -> list[Spec]:
    """Return the Vega-Lite definitions with axes that all of them share, in the same order.

    An axis is shared if it has numbers and the same title and kind of scale in all charts; the title contains the unit.
    Its ends then include those of every chart. An axis without ends of its own is shared only if it is a y axis, since
    such an x axis is a time from the start of each run.
    """
    changed = [copy.deepcopy(dict(spec)) for spec in specs]
    for name in _AXES:
        channels = [list(_channels(spec, name)) for spec in changed]
        if all(channels) and len({_kind(own) for own in channels}) == 1:
            _share([_extent(spec, own, name) for spec, own in zip(changed, channels, strict=True)], channels)
    return list(changed)


def _share(extents: Sequence[tuple[float, float] | None], channels: Sequence[Sequence[dict[str, Any]]]) -> None:
    known = [extent for extent in extents if extent]
    if len(known) < len(extents):
        return
    ends = [min(low for low, _ in known), max(high for _, high in known)]
    every = [channel for own in channels for channel in own]
    ticks = _ticks(every, ends)
    for channel in every:
        channel["scale"] = {**channel["scale"], "domain": ends}
        if ticks:
            channel["axis"] = {**(channel.get("axis") or {}), **ticks}


def _ticks(channels: Sequence[dict[str, Any]], ends: Sequence[float]) -> dict[str, Any]:
    """Return the ticks of a shared axis, empty if Vega chooses them."""
    axes = [channel.get("axis") or {} for channel in channels]
    names = {float(at): name for axis in axes if "labelExpr" in axis
             for at, name in json.loads(axis["labelExpr"].removesuffix("[datum.value]")).items()}  # fmt: skip
    if names:
        return {"values": sorted(names), "labelExpr": tick_labels(names)}
    is_log = channels[0]["scale"].get("type") == "log"
    return {"values": log_axis(ends[0], ends[1])[1]} if is_log and any("values" in axis for axis in axes) else {}


def _layers(spec: Spec) -> list[dict[str, Any]]:
    layers: list[dict[str, Any]] = spec.get("layer", [spec])
    return layers


def _channels(spec: Spec, name: str) -> Iterator[dict[str, Any]]:
    """Yield the definitions of an axis of numbers, of which each layer may have one."""
    for layer in _layers(spec):
        channel = layer.get("encoding", {}).get(name, {})
        if channel.get("type") == "quantitative" and channel.get("scale"):
            yield channel


def _kind(channels: Sequence[dict[str, Any]]) -> tuple[str, str]:
    return str(channels[0].get("title")), str(channels[0]["scale"].get("type"))


def _extent(spec: Spec, channels: Sequence[dict[str, Any]], name: str) -> tuple[float, float] | None:
    """Return the ends of an axis, or of its values if it has no ends and is a y axis."""
    domains = [channel["scale"]["domain"] for channel in channels if "domain" in channel["scale"]]
    if domains:
        return min(domain[0] for domain in domains), max(domain[1] for domain in domains)
    values = list(_values(spec, name)) if name == "y" else []
    if not values:
        return None
    return (0.0 if channels[0]["scale"].get("zero") else min(values)), max(values)


def _values(spec: Spec, name: str) -> Iterator[float]:
    for layer in _layers(spec):
        data = layer["data"] if "data" in layer else spec["data"]
        points = data["values"] if "values" in data else spec["datasets"][data["name"]]
        for channel in (name, f"{name}2"):
            field = layer.get("encoding", {}).get(channel, {}).get("field")
            yield from (float(point[field]) for point in points if field and point.get(field) is not None)
