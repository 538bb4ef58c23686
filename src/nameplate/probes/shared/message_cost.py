"""What a message costs by its size: t_s and t_w on both sides of every break point, and what explains a break."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from nameplate.probes.shared.derived import FITTED, derived_result
from nameplate.probes.shared.grid import Row, grouped, without
from nameplate.records.model import Quantity, Result, Table, Value
from nameplate.statistics.stats import median

if TYPE_CHECKING:
    from nameplate.statistics.piecewise_linear import Bounds, Lines

# Fewer sizes are no curve; of more, as many are fitted, evenly chosen: the time of a fit grows by their square.
MIN_SIZES = 10
MAX_SIZES = 400
# A limit counts what a library adds to a message in front; more than that is another limit.
LARGEST_HEADER = 128
# Of a wider interval almost any limit would be the explanation.
WIDEST = 2
BITS = 8


@dataclass(frozen=True)
class Cost:
    """One curve's fit, and the parameters that its cells have in common."""

    params: Mapping[str, Value]
    sizes: Sequence[int]
    lines: Lines
    bounds: Bounds
    rounds: int
    pairs_between_nodes: int


@dataclass(frozen=True)
class BoundedLine:
    """One line of a fit with its 95 % intervals: t_s, t_w, and from which size to which it holds."""

    from_bytes: float
    to_bytes: float
    startup: Quantity
    per_byte: Quantity

    def bandwidth(self, unit: str) -> Quantity | None:
        """Return 1/t_w in B/s or bit/s; None where t_w may be zero, so that no bandwidth is too high."""
        factor = BITS if unit == "bit/s" else 1
        value, interval = self.per_byte.value, self.per_byte.ci
        if interval is None or interval[0] <= 0:
            return None
        return Quantity(factor / value, unit, (factor / interval[1], factor / interval[0]))


def find_costs(results: Sequence[Result]) -> list[Cost]:
    """A fit for each curve over the size."""
    timed = [r for r in results if r.summary.metric == "latency" and r.round_values]
    found = []
    for own in grouped(timed, lambda r: without(r.summary.params, ["size"])).values():
        ascending = sorted(own, key=lambda r: int(r.summary.params["size"]))
        if len(ascending) >= MIN_SIZES:
            found.append(_cost_of(ascending[:: math.ceil(len(ascending) / MAX_SIZES)]))
    return found


def _cost_of(ascending: Sequence[Result]) -> Cost:
    sizes = tuple(int(r.summary.params["size"]) for r in ascending)
    rounds = tuple(tuple(r.round_values) for r in ascending)
    lines, bounds = _fitted(sizes, rounds)
    params = {name: value for name, value in ascending[0].summary.params.items() if name != "size"}
    between_nodes = int(ascending[0].facts.get("pairs_between_nodes", 0))
    return Cost(params, sizes, lines, bounds, round(median([len(values) for values in rounds])), between_nodes)


def bounded_lines(cost: Cost) -> list[BoundedLine]:
    """Return the lines of a fit from the smallest size to the largest, each with its intervals."""
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
    """Kept, since the figures and the tables of a report both want it."""
    from nameplate.statistics.piecewise_linear import bound_lines, fit_lines  # noqa: PLC0415 (numpy takes a while to import)

    lines = fit_lines(sizes, [median(values) for values in rounds])
    return lines, bound_lines(sizes, rounds, lines)


def cost_results(results: Sequence[Result], machine: Mapping[str, Any]) -> list[Result]:
    """``startup_time`` and ``incremental_cost`` of every line, ``breakpoint`` of every break."""
    derived = []
    for cost in find_costs(results):
        for line in bounded_lines(cost):
            params = {**cost.params, "from": round(line.from_bytes), "to": round(line.to_bytes)}
            fitted = (("startup_time", line.startup), ("incremental_cost", line.per_byte))
            derived += [
                derived_result("mpi_pingpong", metric, quantity, "lower", cost.rounds, FITTED, params)
                for metric, quantity in fitted
            ]
        for found, interval in zip(cost.lines.breaks, cost.bounds.breaks, strict=True):
            quantity = Quantity(found.at_bytes, "B", interval)
            params = {**cost.params, "kind": "jump" if found.is_jump else "bend"}
            derived.append(
                derived_result("mpi_pingpong", "breakpoint", quantity, "higher", cost.rounds, FITTED, params)
            )
    return derived


def _explanation(at_bytes: float, interval: tuple[float, float], machine: Mapping[str, Any]) -> str:
    """The limits of the library and of the links that lie within a break's interval, the nearest one first."""
    if interval[1] > WIDEST * interval[0]:
        return "its interval is too wide to tell"
    near = [(name, limit) for name, limit in _limits(machine) if interval[0] <= limit <= interval[1] + LARGEST_HEADER]
    near.sort(key=lambda each: abs(each[1] - at_bytes))
    return ", ".join(f"{name} = {limit:,.0f} B" for name, limit in near) or "no limit that MPI or the system tells"


def _limits(machine: Mapping[str, Any]) -> list[tuple[str, float]]:
    job = machine.get("job") or {}
    eager = sorted((job.get("eager_limits") or {}).items())
    buffers = sorted((job.get("socket_buffer_bytes") or {}).items())
    return [*eager, *((f"MTU of {name}", limit) for name, limit in link_mtus(machine).items()), *buffers]


def link_mtus(machine: Mapping[str, Any]) -> dict[str, float]:
    """Return the MTU of each link of the leading node in bytes, by the interface's name; empty if none is known."""
    job = machine.get("job") or {}
    return dict(sorted((job.get("mtu_bytes") or {}).items()))


def cost_tables(results: Sequence[Result], machine: Mapping[str, Any]) -> list[Table]:
    """A table of the lines, and one of the breaks between them, for each curve."""
    tables = []
    costs = find_costs(results)
    for cost in costs:
        title = f", {_pairs_text(cost.params)}" if len(costs) > 1 else ""
        headings = ["message size", "t_s, start-up time", "t_w, for each byte", "bandwidth 1/t_w", "1/t_w in bits"]
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
        note = f"time of one way = t_s + t_w × size; {len(cost.sizes)} sizes, {cost.rounds} rounds of most"
        tables.append(Table("mpi_pingpong", f"Cost of a message{title}", headings, lines, [note]))
        if cost.lines.breaks:
            tables.append(_break_table(cost, title, machine))
    return tables


def _break_table(cost: Cost, title: str, machine: Mapping[str, Any]) -> Table:
    body: list[Row] = [
        [
            f"{found.at_bytes:,.0f} B",
            f"{interval[0]:,.0f} to {interval[1]:,.0f} B",
            Quantity(found.jump_s, "s") if found.is_jump else "lines meet",
            _explanation(found.at_bytes, interval, machine),
        ]
        for found, interval in zip(cost.lines.breaks, cost.bounds.breaks, strict=True)
    ]
    return Table("mpi_pingpong", f"Break points{title}", ["at", "95 % interval", "jump", "explained by"], body)


def _pairs_text(params: Mapping[str, Value]) -> str:
    return f"{params['pairs']} pair{'s' if params['pairs'] != 1 else ''}, {params['pairing']}"
