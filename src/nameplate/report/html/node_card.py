"""Build the part of the HTML report about the nodes of a job: which are slow, a ranking for each metric, and maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.records.result import Quantity, Report, Table
from nameplate.report.charts.common import Chart, NumberedChart, placed
from nameplate.report.charts.node_distribution import node_distribution
from nameplate.report.charts.node_map import node_map, statistics_of
from nameplate.report.content.format import count, share
from nameplate.report.content.repeat_commands import node_command
from nameplate.report.content.slow_nodes import (
    BEHIND,
    OVERVIEW,
    chosen_metrics,
    distance,
    main_labels,
    ranking,
    slow_count,
    slow_nodes_text,
    slowest_cells,
)
from nameplate.report.html.tables import HtmlTable, html_table

# A plan with many experiments would otherwise have as many maps.
MAX_MAPS = 6
MAX_RANKED = 5
# With more nodes, only the pictures that ``nameplate nodes`` writes have maps of minima and maxima.
MAX_WITH_ALL_MAPS = 1000


@dataclass(frozen=True)
class NodeCard:
    """The page's content about the nodes of a job.

    - ``anchor``: the ``id`` of its HTML element
    - ``sentences``: the number of nodes of each named hardware class, and which nodes are slow
    - ``tables``: an overview of all metrics, then the slowest nodes of each metric that is shown in detail
    - ``maps``: charts with one cell per node; ``distributions``: those of the values over the nodes
    """

    anchor: str
    sentences: list[str]
    tables: list[HtmlTable]
    maps: list[NumberedChart]
    distributions: list[NumberedChart]


def make_node_card(anchor: str, report: Report, charts: list[Chart]) -> NodeCard | None:
    """Return the page's content about the nodes of a job, and append its maps to ``charts``.

    The result is None if the run has no values of several nodes. ``anchor`` is the ``id`` of the HTML element and must
    be unique in the page. The first 6 (``MAX_MAPS``) of ``chosen_metrics``, with the most slow nodes, have a ranking
    and maps; with more than 1000 nodes (``MAX_WITH_ALL_MAPS``), each has only its first map. ``charts`` has the charts
    of the whole page; a chart in the card has its index in this list.
    """
    nodes = report.nodes
    if nodes is None:
        return None
    main = main_labels(report)
    chosen = sorted(chosen_metrics(nodes, main), key=lambda metric: -len(metric.slow))[:MAX_MAPS]
    maps = placed([*_maps(report, nodes, chosen)], charts)
    over_nodes = (node_distribution(nodes, metric, node_command(report.run, metric.experiment)) for metric in chosen)
    distributions = placed([chart for chart in over_nodes if chart], charts)
    tables = [html_table(_overview(nodes, main)), *(html_table(_ranking(nodes, metric)) for metric in chosen)]
    classes = [f"{count(number, 'node')} of {name}" for name, number in Counter(nodes.classes).most_common() if name]
    return NodeCard(anchor, [*classes, slow_nodes_text(nodes)], tables, maps, distributions)


def _maps(report: Report, nodes: Nodes, metrics: Sequence[NodeMetric]) -> Iterator[Chart]:
    """Yield the maps of each metric; for many nodes only the first map, because each cell adds text to the page."""
    for metric in metrics:
        names = statistics_of(metric)
        drawn = names if len(nodes.names) <= MAX_WITH_ALL_MAPS else names[:1]
        for name in drawn:
            yield node_map(nodes, metric, name, node_command(report.run, metric.experiment))


def _overview(nodes: Nodes, main: Mapping[str, str]) -> Table:
    rows = [
        [main.get(metric.title, metric.title), *slowest_cells(nodes, metric), slow_count(metric)]
        for metric in chosen_metrics(nodes, main)
    ]
    notes = [
        BEHIND,
        "A node is slow if it is more than 4 robust standard deviations behind its hardware class, by at least 3 % "
        "and by at least twice the standard error of its own value. Among the nodes that are called slow, the false "
        "discovery rate is 1 %.",
    ]
    return Table("nodes", "Metrics", [*OVERVIEW], rows, notes)


def _ranking(nodes: Nodes, metric: NodeMetric) -> Table:
    places = ranking(metric)[: max(MAX_RANKED, len(metric.slow))][: 5 * MAX_RANKED]
    rows: list[list[str | Quantity | None]] = [
        [
            nodes.names[index], Quantity(metric.value[index] or 0.0, metric.unit), share(metric.gap[index]),
            distance(metric.z[index]), share(metric.spread[index]), "slow" if index in metric.slow else "",
        ]
        for index in places
    ]  # fmt: skip
    headings = ["node", "value", "behind", "robust z", "std. error", "slow?"]
    return Table("nodes", f"Slowest nodes: {metric.title}", headings, rows, [])
