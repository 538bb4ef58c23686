"""Compare the values of nodes with the median of their hardware class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.records.node_record import Nodes
from nameplate.statistics.stats import median


def class_medians(nodes: Nodes, values: Sequence[float | None]) -> Mapping[str, float]:
    """Return the median of the nodes' values for each hardware class that has at least one measured node.

    ``values[i]`` is the value of the node ``nodes.names[i]``, None if the node was not measured. The keys are the names
    of the classes in ``nodes.classes``. The mapping is empty if no node was measured.

    Raises:
        ValueError: the number of values is not the number of nodes.
    """
    measured: dict[str, list[float]] = {}
    for name, value in zip(nodes.classes, values, strict=True):
        if value is not None:
            measured.setdefault(name, []).append(value)
    return {name: median(values_of_class) for name, values_of_class in measured.items()}


def behind(value: float, middle: float, better: str) -> float:
    """Return how far a value is behind a median, as a share of the median's speed; 0.1 means 10 % slower.

    ``middle`` is the median, and ``better`` is "higher" or "lower". The share is 1 − value/median if higher is better,
    else 1 − median/value. It is negative if the value is better than the median.

    Raises:
        ZeroDivisionError: the divisor, ``middle`` if higher is better, else ``value``, is 0.
    """
    return 1 - (value / middle if better == "higher" else middle / value)
