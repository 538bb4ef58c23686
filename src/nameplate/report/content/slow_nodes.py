"""Say which nodes of a job are slow, in sentences, rankings and a command for Slurm."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from nameplate.hostlist import compress
from nameplate.records.result import NodeMetric, Nodes
from nameplate.report.content.format import count, share
from nameplate.statistics.stats import median

OVERVIEW = ("metric", "class median", "slowest", "behind", "on", "slow nodes")
_NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
BEHIND = "behind: 1 − value ÷ class median; for a time, 1 − class median ÷ value"


def summary(nodes: Nodes) -> str:
    """Return a sentence that names the slow nodes, with the metric and how far they are behind.

    If no node is slow, the sentence says so; if no node could be called slow, it says why. ``nodes`` has at least one
    metric.
    """
    slow = slow_nodes(nodes)
    if not slow and _is_any_judged(nodes) and _has_too_few_rounds(nodes):
        return "No node can be called slow: a node's variation needs 3 rounds."
    found = found_slow(nodes)
    return f"{found[0].upper()}{found[1:]}{f': {reason(nodes, slow)}' if slow else ''}."


def _is_any_judged(nodes: Nodes) -> bool:
    return any(gap is not None for metric in nodes.metrics for gap in metric.gap)


def _has_too_few_rounds(nodes: Nodes) -> bool:
    return all(spread is None for metric in nodes.metrics for spread in metric.spread)


def drain_command(nodes: Nodes, slow: Sequence[int]) -> str:
    """Return the Slurm command that drains nodes, to paste into a shell, or why there is none.

    ``slow`` is the result of ``slow_nodes`` and not empty. Names come from files, so there is a command only if all of
    them are plain host names.
    """
    names = [nodes.names[place] for place in slow]
    odd = [name for name in names if not _NODE_NAME.fullmatch(name)]
    if odd:
        return f"(no drain command: {odd[0]!r} is not a valid Slurm node name)"
    words = [f"NodeName={compress(names)}", "State=DRAIN", f"Reason=nameplate: {reason(nodes, slow)}"]
    return shlex.join(["scontrol", "update", *words])


def found_slow(nodes: Nodes) -> str:
    """Return which nodes are slow, such as ``slow: node[03,07] (2 of 64)``, with a Slurm host list.

    Without slow nodes it is ``none of 64 nodes is slow``, where the number is that of the judged nodes. If no node
    could be judged, it says that at least 4 nodes of the same hardware are needed.
    """
    slow = [nodes.names[place] for place in slow_nodes(nodes)]
    if slow:
        return f"slow: {compress(slow)} ({len(slow)} of {len(nodes.names)})"
    if not _is_any_judged(nodes):
        return "no node is judged: at least 4 nodes of the same hardware are needed"
    judged = sum(any(m.gap[place] is not None for m in nodes.metrics) for place in range(len(nodes.names)))
    return f"none of {count(judged, 'node')} is slow"


def slow_nodes(nodes: Nodes) -> list[int]:
    """Return the indices in ``nodes.names`` of the nodes that any metric calls slow, in ascending order."""
    return sorted({place for metric in nodes.metrics for place in metric.slow})


def reason(nodes: Nodes, slow: Sequence[int]) -> str:
    """Return why nodes are slow, such as ``memory_stream bandwidth 12.0 % behind``.

    The text names the metric that calls most nodes slow, the first one of several, and the median of the shares by
    which its slow nodes are behind their hardware class. ``slow`` is the result of ``slow_nodes`` and not empty.
    """
    metric = max(nodes.metrics, key=lambda metric: len(metric.slow))
    behind = [metric.gap[place] or 0.0 for place in slow if place in metric.slow]
    return f"{metric.title} {share(median(behind))} behind"


def slow_count(metric: NodeMetric) -> str:
    """Return the number of nodes that a metric calls slow as text, "none" for 0.

    If the metric judges no node, it is "not judged: fewer than 4 of a kind".
    """
    if not ranking(metric):
        return "not judged: fewer than 4 of a kind"
    return str(len(metric.slow) or "none")


def distance(z: float | None) -> str:
    """Return a robust z-score as text with one decimal, negative for a node worse than its class; None becomes "–".

    A node that is not judged has no z-score. If most nodes of a class have exactly the same value, its other nodes have
    none either.
    """
    return "–" if z is None else f"{z:.1f}"


def ranking(metric: NodeMetric) -> list[int]:
    """Return the indices of the judged nodes, the one furthest behind its hardware class first.

    Nodes that are equally far behind are in job order. The list is empty if no node is judged.
    """
    judged = [(gap, place) for place, gap in enumerate(metric.gap) if gap is not None]
    return [place for _, place in sorted(judged, key=lambda item: (-item[0], item[1]))]


def slowest_first(metric: NodeMetric) -> list[int]:
    """Return the indices of all measured nodes, slowest first: the judged ones as in ``ranking``, then the others.

    The others are in order from the worst value to the best. Nodes without a value are left out.
    """
    order = ranking(metric)
    others = [
        (value, place) for place, value in enumerate(metric.value) if value is not None and metric.gap[place] is None
    ]
    return order + [place for _, place in sorted(others, reverse=metric.better == "lower")]
