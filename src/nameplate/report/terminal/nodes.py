"""The nodes of a cluster in the terminal: what each metric says, the slow ones, and a map of them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from nameplate.comparison.recheck import RecheckFinding
from nameplate.hostlist import compress
from nameplate.records.model import NodeMetric, Nodes
from nameplate.report.format import count, digits, quantity, scale, share
from nameplate.report.node_values import class_medians
from nameplate.report.terminal.console import make_console
from nameplate.statistics.stats import median

# The width where there is no terminal to ask.
_NO_TERMINAL = 140
# In a ranking, from its slow end.
MAX_RANKED = 10
# A map's cells from "as its class" to "a quarter behind"; a node of which nothing is known is a dot.
_SHADES = "·░▒▓█"
_MEANINGS = {
    "persistent": "as slow by itself: the node",
    "contended": "slow only while others were measured too: what it shares with them",
    "transient": "slow then and not now: that moment",
    "not measured": "not by itself: it takes several nodes, or the second run did not come to it",
}
_STEPS = (0.03, 0.08, 0.15)
OVERVIEW = ("metric", "class median", "slowest", "behind", "on", "slow nodes")
BY_EVERY_RANK = (
    "average: by the time of every rank; minimum, maximum: by the slowest rank of a repeat, which the average can "
    "exceed"
)
_NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
BEHIND = "behind: 1 − value ÷ class median; of a time, 1 − class median ÷ value"


def print_nodes(nodes: Nodes) -> None:
    """The whole view, to standard output."""
    console = _console()
    console.print(render(nodes, console.width))
    for line in (*_missing(nodes), *verdict(nodes)):
        # Whole, however long: they are pasted into a shell.
        console.print(line, soft_wrap=True)


def _console() -> Console:
    return make_console(width_without_terminal=_NO_TERMINAL)


def print_findings(found: Sequence[RecheckFinding]) -> None:
    """What became of the slow nodes when they were measured by themselves."""
    table = _table("node", "metric", "behind before", "by itself", "")
    for each in found:
        style = "red" if each.label == "persistent" else "green"
        table.add_row(each.node, each.title, share(each.before), share(each.alone), each.label, style=style)
    console = _console()
    console.print(table)
    for label, words in _MEANINGS.items():
        if any(each.label == label for each in found):
            console.print(Text(f"{label}: {words}", style="dim"))


def render(nodes: Nodes, width: int) -> RenderableType:
    """Hardware, a line for each metric, the ranking of those that name a slow node, the map of the first of them."""
    parts: list[RenderableType] = [*_hardware(nodes), Text(), _summary(nodes), Text(BEHIND, style="dim")]
    ranked = _ranked(nodes)
    if any(map(_exceeds_maximum, ranked)):
        parts.append(Text(BY_EVERY_RANK, style="dim"))
    for metric in ranked:
        parts += [Text(), Text(metric.title, style="bold"), _ranking(nodes, metric)]
    if ranking(ranked[0]):
        parts += [Text(), *_map(nodes, ranked[0], width)]
    return Group(*parts, Text())


def _exceeds_maximum(metric: NodeMetric) -> bool:
    pairs = zip(metric.value, metric.maximum, strict=False)
    return any(value is not None and most is not None and value > most for value, most in pairs)


def _ranked(nodes: Nodes) -> list[NodeMetric]:
    """Return the metrics that name a slow node, or the first one; of nodes too few to be judged all, up to ten."""
    if any(ranking(metric) for metric in nodes.metrics):
        return [metric for metric in nodes.metrics if metric.slow] or nodes.metrics[:1]
    return nodes.metrics[:MAX_RANKED]


def _missing(nodes: Nodes) -> Iterator[Text]:
    missing = [name for place, name in enumerate(nodes.names) if all(m.value[place] is None for m in nodes.metrics)]
    if missing:
        yield Text(f"! not measured: {compress(missing)}", style="yellow")
    if all(spread is None for metric in nodes.metrics for spread in metric.spread):
        yield Text("! fewer than 3 rounds tell nothing of what a node varies by: none is called slow", style="yellow")


def verdict(nodes: Nodes) -> Iterator[Text]:
    """Which nodes are slow, by what, and how to take them out of Slurm's use."""
    slow = slow_nodes(nodes)
    yield Text(found_slow(nodes), style="red" if slow else "green")
    if slow:
        yield Text("to take them out of use, once you have looked:", style="dim")
        yield Text(_drain_command([nodes.names[place] for place in slow], reason(nodes, slow)))


def _drain_command(names: Sequence[str], why: str) -> str:
    """Return a command to paste into a shell. Names come from files, so none but plain ones are put into it."""
    odd = [name for name in names if not _NODE_NAME.fullmatch(name)]
    if odd:
        return f"(no command: {odd[0]!r} is not a name that Slurm gives a node)"
    words = [f"NodeName={compress(names)}", "State=DRAIN", f"Reason=nameplate: {why}"]
    return shlex.join(["scontrol", "update", *words])


def found_slow(nodes: Nodes) -> str:
    """The slow ones as Slurm lists hosts, or that there is none."""
    slow = [nodes.names[place] for place in slow_nodes(nodes)]
    if slow:
        return f"slow: {compress(slow)} ({len(slow)} of {len(nodes.names)})"
    judged = sum(any(m.gap[place] is not None for m in nodes.metrics) for place in range(len(nodes.names)))
    if not judged:
        return "no node is judged: it takes 4 of the same hardware"
    return f"no slow node among {count(judged, 'node')} judged"


def slow_nodes(nodes: Nodes) -> list[int]:
    """The places of those that any metric names."""
    return sorted({place for metric in nodes.metrics for place in metric.slow})


def reason(nodes: Nodes, slow: Sequence[int]) -> str:
    """The metric that names most of them, and how far behind they are."""
    metric = max(nodes.metrics, key=lambda metric: len(metric.slow))
    behind = [metric.gap[place] or 0.0 for place in slow if place in metric.slow]
    return f"{metric.title} {share(median(behind))} behind"


def _hardware(nodes: Nodes) -> Iterator[Text]:
    counts = Counter(nodes.classes)
    yield Text(
        f"{count(len(nodes.names), 'node')}, {count(len(counts), 'hardware class')}".replace("classs", "classes")
    )
    for name, number in counts.most_common():
        if name:
            own = [node for node, kind in zip(nodes.names, nodes.classes, strict=True) if kind == name]
            yield Text(f"  {count(number, 'node')} of {name}: {compress(own)}", style="dim")


def _summary(nodes: Nodes) -> Table:
    table = _table(*OVERVIEW)
    for metric in nodes.metrics:
        order = slowest_first(metric)
        if not order:
            table.add_row(metric.title, "–", "–", "–", "–", "not measured")
            continue
        worst = order[0]
        table.add_row(
            metric.title, quantity(class_medians(nodes, metric.value)[nodes.classes[worst]], metric.unit),
            quantity(metric.value[worst], metric.unit), share(metric.gap[worst]), nodes.names[worst],
            slow_count(metric),
        )  # fmt: skip
    return table


def slow_count(metric: NodeMetric) -> str:
    """Return how many nodes a metric calls slow, or why it calls none so."""
    if not ranking(metric):
        return "not judged: fewer than 4 alike"
    return str(len(metric.slow) or "none")


def _ranking(nodes: Nodes, metric: NodeMetric) -> Table:
    order = slowest_first(metric)
    shown = order[: max(MAX_RANKED, 2 * len(metric.slow))][: 5 * MAX_RANKED]
    extremes = ("minimum", "maximum") if metric.minimum else ()
    table = _table("node", "average" if extremes else "value", *extremes, "behind", "robust z", "varies by", "")
    for place in [*shown, *([order[-1]] if order and order[-1] not in shown else [])]:
        is_slow = place in metric.slow
        note = "slow" if is_slow else "fastest" if place == order[-1] and len(order) > 1 else ""
        values = (metric.value, metric.minimum, metric.maximum) if extremes else (metric.value,)
        cells = [
            nodes.names[place], *(_alike(metric, own[place]) for own in values), share(metric.gap[place]),
            distance(metric.z[place]), share(metric.spread[place]), note,
        ]  # fmt: skip
        table.add_row(*cells, style="red" if is_slow else "")
    return table


def distance(z: float | None) -> str:
    """A dash where all others are the same."""
    return "–" if z is None else f"{z:.1f}"


def _alike(metric: NodeMetric, value: float | None) -> str:
    """Return a value in the unit of the metric's first one, so that a column can be compared."""
    first = next(v for v in metric.value if v is not None)
    factor, unit = scale(first, metric.unit)
    return "–" if value is None else f"{digits(value / factor)} {unit}"


def ranking(metric: NodeMetric) -> list[int]:
    """The places of the judged nodes, the farthest behind first."""
    judged = [(gap, place) for place, gap in enumerate(metric.gap) if gap is not None]
    return [place for _, place in sorted(judged, key=lambda item: (-item[0], item[1]))]


def slowest_first(metric: NodeMetric) -> list[int]:
    """Return the places of all measured nodes: the judged ones as ranked, then the others by their values."""
    order = ranking(metric)
    others = [
        (value, place) for place, value in enumerate(metric.value) if value is not None and metric.gap[place] is None
    ]
    return order + [place for _, place in sorted(others, reverse=metric.better == "lower")]


def _map(nodes: Nodes, metric: NodeMetric, width: int) -> Iterator[Text]:
    length = max(10, (width - 30) // 10 * 10)
    yield Text(
        f"{metric.title}, a sign for each node: · less than 3 % behind  ░ 3 %  ▒ 8 %  ▓ 15 %  █ slow", style="dim"
    )
    for first in range(0, len(nodes.names), length):
        places = range(first, min(first + length, len(nodes.names)))
        row = Text("  ")
        for place in places:
            sign = _sign(metric, place)
            row.append(sign, style="red" if sign == "█" else "")
        row.append(f"  {nodes.names[first]} …" if len(places) > 1 else f"  {nodes.names[first]}", style="dim")
        yield row


def _sign(metric: NodeMetric, place: int) -> str:
    gap = metric.gap[place]
    if place in metric.slow:
        return "█"
    if gap is None:
        return "?"
    return _SHADES[sum(gap >= step for step in _STEPS)]


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(Text(heading), justify="left" if index == 0 or not heading else "right")
    return table
