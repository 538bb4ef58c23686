"""Print the nodes of a cluster: the summary of each metric, the slow nodes, and a map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rich.console import Group, RenderableType
from rich.text import Text

from nameplate.comparison.recheck import RecheckFinding
from nameplate.hostlist import compress
from nameplate.records.fleet_record import Fleet
from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.report.content.format import cell_text, count, digits, scale, share
from nameplate.report.content.slow_nodes import (
    BEHIND,
    OVERVIEW,
    chosen_metrics,
    distance,
    drain_commands,
    ranking,
    slow_count,
    slow_nodes,
    slowest_cells,
    slowest_first,
    summary,
)
from nameplate.report.terminal.columns import Line, lay_out, wrapped
from nameplate.report.terminal.console import make_console

# The number of nodes shown in a ranking, unless more than half of this number are slow.
MAX_RANKED = 10
_MAX_NAMES = 300
_MAX_MAP_ROWS = 20
_SCREEN_LINES = 24
_MIN_METRICS, _MIN_RANKING_LINES = 3, 6
_MAX_RANKINGS = 3
_MAX_REASONS = 4
_MAX_NAMED = 3
# The characters of a map for nodes that are not slow, from "less than 3 % behind" to the largest of ``_STEPS``.
_SHADES = "·░▒▓█"
_MEANINGS = {
    "persistent": "also slow on its own, so the node is the cause",
    "contended": "slow only while other nodes were measured too, so something that it shares with them is the cause",
    "transient": "slow in the first run and not in the second, so the cause is gone",
    "not measured": "the metric needs several nodes, or the second run did not reach it",
}
_STEPS = (0.03, 0.08, 0.15)
BY_EVERY_RANK = (
    "The average covers every rank; minimum and maximum are those of the slowest rank of each repeat, so the average "
    "can exceed them."
)


def print_nodes(
    nodes: Nodes, main: Mapping[str, str] = MappingProxyType({}), fleet: Fleet | None = None, has_all: bool = True
) -> None:  # fmt: skip
    """Print to standard output which nodes are slow, and then the tables and the map of ``render``.

    If nodes are slow, the last lines are the commands that drain them. ``nodes`` has at least one metric, and
    ``main`` the labels of the main ones (see ``render``). ``fleet`` has the machines if each of them was measured in a
    separate run: machines under a CPU quota and files that do not count are named. Without ``has_all``, at most 24
    lines are printed as far as that is possible.
    """
    console = make_console()
    slow = slow_nodes(nodes)
    first = [Text(summary(nodes, is_fleet=fleet is not None), style="bold red" if slow else "bold")]
    missing = [name for index, name in enumerate(nodes.names) if all(m.value[index] is None for m in nodes.metrics)]
    if missing:
        first.append(Text(f"! not measured: {compress(missing)}", style="yellow"))
    for line in _warnings_of(fleet, slow) if fleet else ():
        first += [Text(str(part), style="yellow") for part in wrapped(f"! {line}", console.width, "  ")]
    drains = drain_commands(nodes, slow, is_fleet=fleet is not None) if slow else []
    n_lines = len(console.render_lines(Group(*first), pad=False)) + (len(drains) + 1 if drains else 0)
    console.print(Group(*first), Text())
    console.print(render(nodes, console.width, main, None if has_all else _SCREEN_LINES - n_lines - 3))
    if drains:
        console.print(Text("To drain them, once you have checked:", style="dim"))
        # Commands are not wrapped, so that they can be pasted into a shell.
        for command in drains:
            console.print(command, soft_wrap=True)


def _warnings_of(fleet: Fleet, slow: Sequence[int]) -> Iterator[str]:
    """Yield what makes the machines of a fleet doubtful.

    These are host names of slow machines that differ from their addresses, addresses that seem to lead to one machine,
    and machines that were slowed down or left out.
    """
    for host in (fleet.hosts[index] for index in slow):
        if host.hostname.partition(".")[0] != host.name.rpartition("@")[2].partition(".")[0]:
            yield f"{host.name} calls itself {host.hostname}"
    addresses: dict[tuple[str, str], list[str]] = {}
    for host in fleet.hosts:
        if host.boot_id:
            addresses.setdefault((host.hostname, host.boot_id), []).append(host.name)
    same = [(name, "host name and boot id are those of one machine, which counts more than once")
            for names in addresses.values() if len(names) > 1 for name in names]  # fmt: skip
    yield from lines_by_reason("the same machine", same)
    yield from lines_by_reason("slowed down", [(host.name, host.slowed) for host in fleet.hosts if host.slowed])
    yield from lines_by_reason("left out", [(item.name, item.reason) for item in fleet.left_out])


def lines_by_reason(heading: str, items: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each reason, the most frequent first, with the first names that have it.

    ``items`` has names of machines or files, each with its reason. Of more than four reasons, the rest has one line.
    """
    reasons: dict[str, list[str]] = {}
    for name, reason in items:
        reasons.setdefault(reason, []).append(name)
    ordered = sorted(reasons.items(), key=lambda entry: -len(entry[1]))
    rest = [name for _, names in ordered[_MAX_REASONS:] for name in names]
    lines = [*ordered[:_MAX_REASONS], *([("other reasons, which --json has", rest)] if rest else [])]
    for reason, names in lines:
        few = ", ".join(names[:_MAX_NAMED])
        more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
        yield f"{heading}: {few}{more}: {reason}"


def print_findings(results: Sequence[RecheckFinding]) -> None:
    """Print to standard output how slow the slow nodes were when they were measured a second time, alone.

    Each of ``results`` is a row with the node and the metric, the percentage by which the node was slower than its
    class in the first run ("before") and slower than its reference nodes in the second run ("alone"), and the label of
    the cause. The table is followed by the meaning of each label in it.
    """
    console = make_console()
    lines = [
        _line(f"{finding.node} {finding.title}", (share(finding.before), share(finding.alone), finding.label),
              "red" if finding.label == "persistent" else "green")
        for finding in results
    ]  # fmt: skip
    for line in lay_out(("before", "alone", ""), lines, console.width, "node and metric"):
        console.print(line)
    for label, meaning in _MEANINGS.items():
        if any(finding.label == label for finding in results):
            console.print(Text(f"{label}: {meaning}", style="dim"))


def render(
    nodes: Nodes, width: int, main: Mapping[str, str] = MappingProxyType({}), max_lines: int | None = None
) -> RenderableType:
    """Return the hardware classes, a table of the metrics, rankings of nodes, and a map of one metric.

    The table has the metrics of ``chosen_metrics``. ``main`` has a short label for the title of each main metric.
    Rankings are shown for up to three metrics in which a node is slow, most slow nodes first, or for the first metric
    if no node is slow; if there are too few nodes to judge, the first ten metrics have rankings. The map has one
    character per node in job order. It shows the first metric with a ranking, and is left out if no node is judged in
    this metric, or if it would need more than 20 lines. ``nodes`` has at least one metric. ``width`` is the width of
    the output in characters.

    If all this has more than ``max_lines`` lines, the map is left out, then rankings are shortened or left out, and
    then metrics in which no node is slow.
    """
    metrics = chosen_metrics(nodes, main)
    ranked = _ranked(nodes, metrics)
    labels = {metric.title: main.get(metric.title, metric.title) for metric in nodes.metrics}
    rankings = [[Text(), Text(labels[metric.title], style="bold"), *_ranking(nodes, metric, width)]
                for metric in ranked]  # fmt: skip
    drawn = [Text(), *_map(nodes, ranked[0], labels[ranked[0].title], width)] if ranking(ranked[0]) else []
    head = _head(nodes, metrics, labels, width)
    note = [Text(BY_EVERY_RANK, style="dim")] if any(map(_exceeds_maximum, ranked)) else []
    if max_lines is None or len(head) + sum(map(len, rankings)) + len(drawn) <= max_lines:
        return Group(*head, *note, *(line for lines in rankings for line in lines), *drawn, Text())
    n_slow = sum(bool(metric.slow) for metric in metrics)
    while len(head) > max_lines and len(metrics) > max(n_slow, _MIN_METRICS):
        metrics = metrics[:-1]
        head = _head(nodes, metrics, labels, width)
    left = max_lines - len(head)
    shortened = rankings[0][:left] if left >= _MIN_RANKING_LINES else []
    return Group(*head, *shortened, Text("--all shows further rankings and a map", style="dim"), Text())


def _head(nodes: Nodes, metrics: Sequence[NodeMetric], labels: Mapping[str, str], width: int) -> list[Text]:
    """Return the lines with the hardware classes and the table of the metrics."""
    overview = [_line(labels[metric.title], _overview(nodes, metric)) for metric in metrics]
    lines = [*_hardware(nodes), Text(), *lay_out(OVERVIEW[1:], overview, width, OVERVIEW[0]), Text(BEHIND, style="dim")]
    n_further = len(nodes.metrics) - len(metrics)
    return [*lines, *([Text(f"{count(n_further, 'further metric')}: --json", style="dim")] if n_further else [])]


def _exceeds_maximum(metric: NodeMetric) -> bool:
    pairs = zip(metric.value, metric.maximum, strict=False)
    return any(value is not None and highest is not None and value > highest for value, highest in pairs)


def _ranked(nodes: Nodes, metrics: Sequence[NodeMetric]) -> Sequence[NodeMetric]:
    """Return the metrics of the table with a ranking."""
    if any(ranking(metric) for metric in nodes.metrics):
        slow = sorted((metric for metric in metrics if metric.slow), key=lambda metric: -len(metric.slow))
        return slow[:_MAX_RANKINGS] or metrics[:1]
    return metrics[:MAX_RANKED]


def _hardware(nodes: Nodes) -> Iterator[Text]:
    counts = Counter(nodes.classes)
    yield Text(
        f"{count(len(nodes.names), 'node')}, {count(len(counts), 'hardware class')}".replace("classs", "classes")
    )
    for name, number in counts.most_common():
        if name:
            nodes_of_class = [node for node, kind in zip(nodes.names, nodes.classes, strict=True) if kind == name]
            names = compress(nodes_of_class)
            text = f"  {count(number, 'node')} of {name}"
            # With many gaps in the names, the list would fill the screen.
            yield Text(f"{text}: {names}" if len(names) <= _MAX_NAMES else text, style="dim")


def _overview(nodes: Nodes, metric: NodeMetric) -> list[str]:
    cells = map(cell_text, slowest_cells(nodes, metric))
    return [*cells, slow_count(metric) if slowest_first(metric) else "not measured"]


def _ranking(nodes: Nodes, metric: NodeMetric, width: int) -> list[Text]:
    order = slowest_first(metric)
    indices = order[: max(MAX_RANKED, 2 * len(metric.slow))][: 5 * MAX_RANKED]
    extremes = ("minimum", "maximum") if metric.minimum else ()
    lines = []
    for index in [*indices, *([order[-1]] if order and order[-1] not in indices else [])]:
        is_slow = index in metric.slow
        note = "slow" if is_slow else "fastest" if index == order[-1] and len(order) > 1 else ""
        values = (metric.value, metric.minimum, metric.maximum) if extremes else (metric.value,)
        cells = [
            *(_alike(metric, of_nodes[index]) for of_nodes in values), share(metric.gap[index]),
            distance(metric.z[index]), share(metric.spread[index]), note,
        ]  # fmt: skip
        lines.append(_line(nodes.names[index], cells, "red" if is_slow else ""))
    headings = ("average" if extremes else "value", *extremes, "behind", "robust z", "std. error", "")
    return lay_out(headings, lines, width, "node")


def _alike(metric: NodeMetric, value: float | None) -> str:
    """Return a value in the unit of the metric's first value, so that a column is comparable."""
    first = next(v for v in metric.value if v is not None)
    factor, unit = scale(first, metric.unit)
    return "–" if value is None else f"{digits(value / factor)} {unit}"


def _map(nodes: Nodes, metric: NodeMetric, label: str, width: int) -> Iterator[Text]:
    length = max(10, (width - 30) // 10 * 10)
    if len(nodes.names) > _MAX_MAP_ROWS * length:
        yield Text("The page of nameplate report has a map of all nodes.", style="dim")
        return
    legend = f"{label}, one character per node: · less than 3 % behind  ░ 3 %  ▒ 8 %  ▓ 15 %  █ slow  ? not judged"
    for line in wrapped(legend, width, ""):
        line.stylize("dim")
        yield line
    for first in range(0, len(nodes.names), length):
        places = range(first, min(first + length, len(nodes.names)))
        row = Text("  ")
        for index in places:
            sign = _sign(metric, index)
            row.append(sign, style="red" if sign == "█" else "")
        row.append(f"  from {nodes.names[first]}" if len(places) > 1 else f"  {nodes.names[first]}", style="dim")
        yield row


def _sign(metric: NodeMetric, index: int) -> str:
    gap = metric.gap[index]
    if index in metric.slow:
        return "█"
    if gap is None:
        return "?"
    return _SHADES[sum(gap >= step for step in _STEPS)]


def _line(label: str, cells: Sequence[str], style: str = "") -> Line:
    return Line(label, tuple(Text(cell, style=style) for cell in cells))
