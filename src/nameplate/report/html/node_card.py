"""Build the part of the HTML report about a cluster's nodes: slow nodes, the slowest of each metric, and maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nameplate.records.result import NodeMetric, Nodes, Quantity, Report, Table
from nameplate.report.charts.common import Chart, NumberedChart, placed
from nameplate.report.charts.node_map import node_map, statistics_of
from nameplate.report.content.format import count, share
from nameplate.report.content.node_values import class_medians
from nameplate.report.content.repeat_commands import node_command
from nameplate.report.content.slow_nodes import (
    BEHIND,
    OVERVIEW,
    distance,
    found_slow,
    ranking,
    slow_count,
    slowest_first,
)
from nameplate.report.html.tables import HtmlTable, html_table

# Plans with many experiments would otherwise have as many maps as experiments.
MAX_MAPS = 6
MAX_RANKED = 5
# With more nodes, only the pictures of nameplate nodes have the maps of minima and maxima.
MAX_WITH_ALL_MAPS = 1000


@dataclass(frozen=True)
class NodeCard:
    """The page's content about the nodes of a job.

    ``anchor`` is the ``id`` of its HTML element. ``sentences`` are the number of nodes of each hardware class that has
    a name, and then which nodes are slow. ``tables`` are an overview of all metrics, and then the slowest nodes of each
    metric that is shown in detail. ``maps`` are charts with one cell per node.
    """

    anchor: str
    sentences: list[str]
    tables: list[HtmlTable]
    maps: list[NumberedChart]


def make_node_card(anchor: str, report: Report, charts: list[Chart]) -> NodeCard | None:
    """Return the content about the nodes of a job, and append its maps to ``charts``.

    It is None if the run has no values of several nodes. ``anchor`` becomes the ``id`` of the HTML element and must be
    unique in the page. Only the ``MAX_MAPS`` metrics with the most slow nodes have a ranking and maps; with more than
    ``MAX_WITH_ALL_MAPS`` nodes, each has only its first map. ``charts`` has the charts of the whole page; the index of
    each map in the card is its position in this list.
    """
    nodes = report.nodes
    if nodes is None:
        return None
    chosen = sorted(nodes.metrics, key=lambda metric: -len(metric.slow))[:MAX_MAPS]
    maps = placed([*_maps(report, nodes, chosen)], charts)
    tables = [html_table(_overview(nodes)), *(html_table(_ranking(nodes, metric)) for metric in chosen)]
    return NodeCard(anchor, [*_hardware(nodes), found_slow(nodes)], tables, maps)


def _maps(report: Report, nodes: Nodes, metrics: Sequence[NodeMetric]) -> Iterator[Chart]:
    """Yield the maps of each metric; for many nodes only the first, since every cell adds text to the page."""
    for metric in metrics:
        names = statistics_of(metric)
        shown = names if len(nodes.names) <= MAX_WITH_ALL_MAPS else names[:1]
        for name in shown:
            yield node_map(nodes, metric, name, node_command(report.run, metric.experiment))


def _hardware(nodes: Nodes) -> list[str]:
    return [f"{count(number, 'node')} of {name}" for name, number in Counter(nodes.classes).most_common() if name]


def _overview(nodes: Nodes) -> Table:
    rows: list[list[str | Quantity | None]] = []
    for metric in nodes.metrics:
        rows.append([metric.title, *_worst(nodes, metric), slow_count(metric)])
    notes = [
        BEHIND,
        "A node is slow if it is more than 4 robust standard deviations behind its hardware class, by at least 3 % "
        "and by at least twice the standard error of its own value. Among the nodes that are called slow, the false "
        "discovery rate is 1 %.",
    ]
    return Table("nodes", "All metrics", [*OVERVIEW], rows, notes)


def _worst(nodes: Nodes, metric: NodeMetric) -> Sequence[str | Quantity | None]:
    order = slowest_first(metric)
    if not order:
        return [None, None, None, None]
    worst = order[0]
    middle = Quantity(class_medians(nodes, metric.value)[nodes.classes[worst]], metric.unit)
    value = metric.value[worst]
    slowest = Quantity(value, metric.unit) if value is not None else None
    return [middle, slowest, share(metric.gap[worst]), nodes.names[worst]]


def _ranking(nodes: Nodes, metric: NodeMetric) -> Table:
    places = ranking(metric)[: max(MAX_RANKED, len(metric.slow))][: 5 * MAX_RANKED]
    rows: list[list[str | Quantity | None]] = [
        [
            nodes.names[place], Quantity(metric.value[place] or 0.0, metric.unit), share(metric.gap[place]),
            distance(metric.z[place]), share(metric.spread[place]), "slow" if place in metric.slow else "",
        ]
        for place in places
    ]  # fmt: skip
    headings = ["node", "value", "behind", "robust z", "std. error", "slow?"]
    return Table("nodes", f"Slowest nodes: {metric.title}", headings, rows, [])
