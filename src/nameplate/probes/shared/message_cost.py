"""Fit the cost of a message by size: start-up time t_s and time per byte t_w of each line between break points.

Name the limit of the MPI library or the system that may cause a break point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from nameplate.probes.shared.derived import FITTED, DerivedMetric, derived_result
from nameplate.probes.shared.grid import Row, grouped, without
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Result, Table
from nameplate.statistics.stats import median

if TYPE_CHECKING:
    from nameplate.statistics.piecewise_linear import Bounds, Lines

# Fewer sizes are not a curve. Of more sizes an even selection is fitted, since the time of a fit is quadratic in them.
MIN_SIZES = 10
MAX_SIZES = 400
# A limit of the system applies to the message and the header that the library adds, which is at most this large.
LARGEST_HEADER = 128
# A wider interval would contain almost any limit.
WIDEST = 2
BITS = 8


@dataclass(frozen=True)
class Cost:
    """The fit of one curve of message times over the message size.

    - ``params``: the parameters that its experiments have in common, without ``size``
    - ``sizes``: the fitted sizes in bytes, ascending
    - ``lines``: the fitted lines and their break points; ``bounds``: the 95 % intervals of the lines and of the break
      points
    - ``rounds``: the median over the sizes of the number of rounds
    - ``pairs_between_nodes``: the number of pairs whose ranks are on different nodes, 0 if it was not recorded
    """

    params: Mapping[str, Value]
    sizes: Sequence[int]
    lines: Lines
    bounds: Bounds
    rounds: int
    pairs_between_nodes: int


@dataclass(frozen=True)
class BoundedLine:
    """One line of a fit, t = t_s + t_w · size, with its 95 % intervals and the range of sizes for which it holds.

    ``startup`` is t_s in s, and ``per_byte`` is t_w in s/B. Both ``from_bytes`` and ``to_bytes`` belong to the range.
    """

    from_bytes: float
    to_bytes: float
    startup: Quantity
    per_byte: Quantity

    def bandwidth(self, unit: str) -> Quantity | None:
        """Return 1/t_w with its 95 % interval in ``unit``, which is "B/s" or "bit/s".

        The result is None if t_w has no interval, or if the interval reaches 0: the bandwidth then has no upper bound.
        """
        factor = BITS if unit == "bit/s" else 1
        value, interval = self.per_byte.value, self.per_byte.ci
        if interval is None or interval[0] <= 0:
            return None
        return Quantity(factor / value, unit, (factor / interval[1], factor / interval[0]))


def find_costs(results: Sequence[Result]) -> list[Cost]:
    """Return a fit for each curve of message times over the message size, in the order of their first results.

    ``results`` are the results of mpi_pingpong; only the metric ``latency`` with ``round_values`` is used. Experiments
    that differ only in ``size`` form a curve. A curve with fewer than ``MIN_SIZES`` sizes is left out. Of more than
    ``MAX_SIZES`` sizes, an even selection is fitted (see ``piecewise_linear.fit_lines``). Fits are cached.
    """
    timed = [r for r in results if r.summary.metric == "latency" and r.round_values]
    costs = []
    for group in grouped(timed, lambda r: without(r.summary.params, ["size"])).values():
        ascending = sorted(group, key=lambda r: int(r.summary.params["size"]))
        if len(ascending) >= MIN_SIZES:
            costs.append(_cost_of(ascending[:: math.ceil(len(ascending) / MAX_SIZES)]))
    return costs


def _cost_of(ascending: Sequence[Result]) -> Cost:
    sizes = tuple(int(r.summary.params["size"]) for r in ascending)
    rounds = tuple(tuple(r.round_values) for r in ascending)
    lines, bounds = _fitted(sizes, rounds)
    params = {name: value for name, value in ascending[0].summary.params.items() if name != "size"}
    between_nodes = int(ascending[0].facts.get("pairs_between_nodes", 0))
    return Cost(params, sizes, lines, bounds, round(median([len(values) for values in rounds])), between_nodes)


def bounded_lines(cost: Cost) -> list[BoundedLine]:
    """Return the lines of a fit with their 95 % intervals, in ascending order of size.

    There is one more line than the fit has break points.
    """
    return [
        BoundedLine(
            line.first_bytes,
            line.last_bytes,
            Quantity(line.startup_s, "s", startup_ci),
            Quantity(line.per_byte_s, "s/B", per_byte_ci),
        )
        for line, (startup_ci, per_byte_ci) in zip(cost.lines.lines, cost.bounds.lines, strict=True)
    ]


@cache
def _fitted(sizes: tuple[int, ...], rounds: tuple[tuple[float, ...], ...]) -> tuple[Lines, Bounds]:
    """Return the fit and its intervals. They are cached, since derived results and tables both use them."""
    from nameplate.statistics.piecewise_linear import bound_lines, fit_lines  # noqa: PLC0415 (numpy takes a while to import)

    lines = fit_lines(sizes, [median(values) for values in rounds])
    return lines, bound_lines(sizes, rounds, lines)


def cost_results(results: Sequence[Result]) -> list[Result]:
    """Return the derived results of every curve: two for each line, then one for each break point.

    A line has ``startup_time`` (s) and ``incremental_cost`` (s/B), with the range of its sizes in bytes as the
    parameters ``from`` and ``to``. A break point has ``breakpoint`` (B), with the parameter ``kind``, which is "jump"
    or "bend". ``results`` are the results of mpi_pingpong, from which ``find_costs`` builds the curves.
    """
    derived = []
    for cost in find_costs(results):
        for line in bounded_lines(cost):
            params = {**cost.params, "from": round(line.from_bytes), "to": round(line.to_bytes)}
            fitted = (("startup_time", line.startup), ("incremental_cost", line.per_byte))
            derived += [
                derived_result(DerivedMetric("mpi_pingpong", metric, "lower"), quantity, cost.rounds, FITTED, params)
                for metric, quantity in fitted
            ]
        for bend, interval in zip(cost.lines.breaks, cost.bounds.breaks, strict=True):
            quantity = Quantity(bend.at_bytes, "B", interval)
            params = {**cost.params, "kind": "jump" if bend.is_jump else "bend"}
            metric = DerivedMetric("mpi_pingpong", "breakpoint", "higher")
            derived.append(derived_result(metric, quantity, cost.rounds, FITTED, params))
    return derived


def _explanation(at_bytes: float, interval: tuple[float, float], machine: Machine) -> str:
    """Return the limits of the library and the links within a break point's interval, nearest first."""
    if interval[1] > WIDEST * interval[0]:
        return "not known, the interval is too wide"
    near = [(name, limit) for name, limit in _limits(machine) if interval[0] <= limit <= interval[1] + LARGEST_HEADER]
    near.sort(key=lambda candidate: abs(candidate[1] - at_bytes))
    return ", ".join(f"{name} = {limit:,.0f} B" for name, limit in near) or "no limit reported by MPI or the system"


def _limits(machine: Machine) -> list[tuple[str, float]]:
    job = machine.job
    if job is None:
        return []
    eager = sorted((job.eager_limits or {}).items())
    buffers = sorted((job.socket_buffer_bytes or {}).items())
    return [*eager, *((f"MTU of {name}", limit) for name, limit in link_mtus(machine).items()), *buffers]


def link_mtus(machine: Machine) -> dict[str, float]:
    """Return the MTU in bytes of each network interface of the job's first node, by name in alphabetical order.

    The result is empty if there is no job, or if the run recorded no MTUs.
    """
    return dict(sorted(((machine.job and machine.job.mtu_bytes) or {}).items()))


def cost_tables(results: Sequence[Result], machine: Machine) -> list[Table]:
    """Return for each curve a table of its lines and, if it has break points, a table of the break points.

    ``results`` are the results of mpi_pingpong, from which ``find_costs`` builds the curves; without a curve the list
    is empty. Break points are explained by the limits that ``machine.job`` recorded: eager limits, MTUs and socket
    buffers.
    """
    tables = []
    costs = find_costs(results)
    for cost in costs:
        title = f", {_pairs_text(cost.params)}" if len(costs) > 1 else ""
        headings = ["message size", "start-up t_s", "per byte t_w", "bandwidth 1/t_w", "1/t_w in bits"]
        lines: list[Row] = [
            [
                f"{line.from_bytes:,.0f} to {line.to_bytes:,.0f} B",
                line.startup,
                line.per_byte,
                line.bandwidth("B/s"),
                line.bandwidth("bit/s"),
            ]
            for line in bounded_lines(cost)
        ]
        note = (
            f"One-way time = t_s + t_w × size, fitted to {len(cost.sizes)} sizes with up to {cost.rounds} rounds each."
        )
        tables.append(Table("mpi_pingpong", f"Message cost{title}", headings, lines, [note]))
        if cost.lines.breaks:
            tables.append(_break_table(cost, title, machine))
    return tables


def _break_table(cost: Cost, title: str, machine: Machine) -> Table:
    body: list[Row] = [
        [
            f"{bend.at_bytes:,.0f} B",
            f"{interval[0]:,.0f} to {interval[1]:,.0f} B",
            Quantity(bend.jump_s, "s") if bend.is_jump else "none",
            _explanation(bend.at_bytes, interval, machine),
        ]
        for bend, interval in zip(cost.lines.breaks, cost.bounds.breaks, strict=True)
    ]
    return Table("mpi_pingpong", f"Break points{title}", ["at", "95 % interval", "jump", "cause"], body)


def _pairs_text(params: Mapping[str, Value]) -> str:
    return f"{params['pairs']} pair{'s' if params['pairs'] != 1 else ''}, {params['pairing']}, {params['data']} data"
