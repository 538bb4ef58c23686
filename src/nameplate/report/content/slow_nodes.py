"""Name the slow nodes of a job in sentences, rankings and a Slurm command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence

from nameplate.hostlist import compress
from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.records.result import Quantity, Report
from nameplate.report.content.class_medians import class_medians
from nameplate.report.content.format import count, share
from nameplate.report.content.screen_row import label_and_unit
from nameplate.results.judgeable import judgeable_values
from nameplate.statistics.stats import median

# A plan such as quick has a hundred metrics.
MAX_METRICS = 12
OVERVIEW = ("metric", "class median", "slowest", "behind", "on", "slow nodes")
_NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
BEHIND = "behind: 1 − value ÷ class median; for a time, 1 − class median ÷ value"


def summary(nodes: Nodes, is_fleet: bool = False) -> str:
    """Return a sentence that names the slow nodes, the metric, and the percentage by which they are slower.

    If no node is slow, the sentence says so. If no node can be judged, since there are too few rounds or too few nodes
    of the same hardware, the sentence says this. Nodes of a fleet need no rounds, because each was measured in a run of
    its own (``is_fleet``). ``nodes`` has at least one metric.
    """
    slow = slow_nodes(nodes)
    has_variation = is_fleet or any(spread is not None for metric in nodes.metrics for spread in metric.spread)
    if not slow and _is_any_judged(nodes) and not has_variation:
        return "No node can be called slow: a node's variation needs 3 rounds."
    sentence = slow_nodes_text(nodes)
    return f"{sentence[0].upper()}{sentence[1:]}{f': {reason(nodes, slow)}' if slow else ''}."


def main_labels(report: Report) -> dict[str, str]:
    """Return the labels on the first screen of the metrics by which a machine is judged, by ``NodeMetric.title``."""
    main = [(value.experiment, value.key) for value in judgeable_values(report) if value.is_main]
    return {f"{identity} {key.metric}": label_and_unit(key.probe, key.metric, key.params)[0] for identity, key in main}


def chosen_metrics(nodes: Nodes, main: Collection[str]) -> list[NodeMetric]:
    """Return the metrics to show: all of up to 12 (``MAX_METRICS``), otherwise those with the most slow nodes first.

    Of more metrics they are those whose titles are in ``main``, and others in which nodes are slow that are not slow in
    these; without ``main``, any metrics. There are at most 12 of them.
    """
    if len(nodes.metrics) <= MAX_METRICS:
        return nodes.metrics
    by_number = sorted(nodes.metrics, key=lambda metric: -len(metric.slow))
    chosen = [metric for metric in by_number if metric.title in main] or by_number[:MAX_METRICS]
    for metric in by_number:
        if not {index for known in chosen for index in known.slow}.issuperset(metric.slow):
            chosen.append(metric)
    return sorted(chosen, key=lambda metric: -len(metric.slow))[:MAX_METRICS]


def _is_any_judged(nodes: Nodes) -> bool:
    return any(gap is not None for metric in nodes.metrics for gap in metric.gap)


def drain_commands(nodes: Nodes, slow: Sequence[int], is_fleet: bool = False) -> list[str]:
    """Return the commands that drain the slow nodes, quoted for a shell, or a text that says why there are none.

    For a job it is Slurm's command; for a fleet, whose batch system is not known, also those of PBS, LSF and Kubernetes
    (``is_fleet``). ``slow`` is the result of ``slow_nodes`` and must not be empty. Node names come from files, so no
    command is returned unless all names consist of letters, digits, ``.``, ``_`` and ``-``.
    """
    names = [nodes.names[index] for index in slow]
    odd = [name for name in names if not _NODE_NAME.fullmatch(name)]
    if odd:
        return [f"(no drain command: {odd[0]!r} is not a valid node name)"]
    why = f"nameplate: {reason(nodes, slow)}"
    slurm = ["scontrol", "update", f"NodeName={compress(names)}", "State=DRAIN", f"Reason={why}"]
    rest = [["pbsnodes", "-o", "-C", why, *names], ["badmin", "hclose", "-C", why, *names],
              ["kubectl", "cordon", *names]]  # fmt: skip
    return [shlex.join(command) for command in [slurm, *(rest if is_fleet else [])]]


def slow_nodes_text(nodes: Nodes) -> str:
    """Return a clause that names the slow nodes as a Slurm host list, such as ``slow: node[03,07] (2 of 64)``.

    If no node is slow, the clause is ``none of 64 nodes is slow``, with the number of judged nodes. If no node could be
    judged, the clause says that at least 4 nodes of the same hardware are needed.
    """
    slow = [nodes.names[index] for index in slow_nodes(nodes)]
    if slow:
        return f"slow: {compress(slow)} ({len(slow)} of {len(nodes.names)})"
    if not _is_any_judged(nodes):
        return "no node is judged: at least 4 nodes of the same hardware are needed"
    judged = sum(any(m.gap[index] is not None for m in nodes.metrics) for index in range(len(nodes.names)))
    return f"none of {count(judged, 'node')} is slow"


def slow_nodes(nodes: Nodes) -> list[int]:
    """Return the indices in ``nodes.names`` of the nodes that are slow in any metric, in ascending order."""
    return sorted({index for metric in nodes.metrics for index in metric.slow})


def reason(nodes: Nodes, slow: Sequence[int]) -> str:
    """Return the metric in which nodes are slow and by how much, such as ``memory_stream bandwidth 12.0 % behind``.

    This is the metric in which most nodes are slow (the first of several such metrics), and the median of the shares by
    which its slow nodes are behind the median of their hardware class. ``slow`` is the result of ``slow_nodes`` and
    must not be empty.
    """
    metric = max(nodes.metrics, key=lambda metric: len(metric.slow))
    behind = [metric.gap[index] or 0.0 for index in slow if index in metric.slow]
    return f"{metric.title} {share(median(behind))} behind"


def slow_count(metric: NodeMetric) -> str:
    """Return the number of nodes that are slow in a metric, as text; "none" for 0.

    If no node is judged in the metric, the text is "not judged: fewer than 4 of a kind", that is, of a hardware class.
    """
    if not ranking(metric):
        return "not judged: fewer than 4 of a kind"
    return str(len(metric.slow) or "none")


def slowest_cells(nodes: Nodes, metric: NodeMetric) -> list[str | Quantity | None]:
    """Return the cells of a metric in the columns ``OVERVIEW[1:5]``, which are about its slowest node.

    The node is the first one of ``slowest_first``. The cells are the median of its hardware class, its value, the share
    by which it is behind, and its name. All are None if no node was measured.
    """
    order = slowest_first(metric)
    if not order:
        return [None, None, None, None]
    slowest = order[0]
    middle = Quantity(class_medians(nodes, metric.value)[nodes.classes[slowest]], metric.unit)
    value = metric.value[slowest]
    quantity = None if value is None else Quantity(value, metric.unit)
    return [middle, quantity, share(metric.gap[slowest]), nodes.names[slowest]]


def distance(z: float | None) -> str:
    """Return a robust z-score as text with one decimal, such as "-4.2"; None becomes "–".

    The score is negative for a node that is worse than its hardware class. It is None for a node that is not judged,
    and for a node that differs from a class in which most nodes have exactly the same value.
    """
    return "–" if z is None else f"{z:.1f}"


def ranking(metric: NodeMetric) -> list[int]:
    """Return the indices of the judged nodes, starting with the node furthest behind its hardware class.

    Nodes that are equally far behind are in job order. The list is empty if no node is judged in ``metric``.
    """
    judged = [(gap, index) for index, gap in enumerate(metric.gap) if gap is not None]
    return [index for _, index in sorted(judged, key=lambda item: (-item[0], item[1]))]


def slowest_first(metric: NodeMetric) -> list[int]:
    """Return the indices of all measured nodes, slowest first.

    The judged nodes come first, in the order of ``ranking``, then the nodes that are not judged, from the worst value
    to the best. Nodes without a value are left out.
    """
    order = ranking(metric)
    unjudged = [
        (value, index) for index, value in enumerate(metric.value) if value is not None and metric.gap[index] is None
    ]
    return order + [index for _, index in sorted(unjudged, reverse=metric.better == "lower")]
