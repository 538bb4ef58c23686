"""Compare the values of nodes with the median of their hardware class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.records.model import Nodes
from nameplate.statistics.stats import median


def class_medians(nodes: Nodes, values: Sequence[float | None]) -> Mapping[str, float]:
    """Return the median of each hardware class that has a measured node; ``values`` are indexed like the nodes."""
    measured: dict[str, list[float]] = {}
    for name, value in zip(nodes.classes, values, strict=True):
        if value is not None:
            measured.setdefault(name, []).append(value)
    return {name: median(own) for name, own in measured.items()}


def behind(value: float, middle: float, better: str) -> float:
    """Return the share of the median's speed that a value lacks, negative if the value is better."""
    return 1 - (value / middle if better == "higher" else middle / value)
