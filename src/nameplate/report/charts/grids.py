"""Find grids: experiments of a probe that differ in exactly two parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Result, Table
from nameplate.report.charts.common import line_key
from nameplate.report.content.experiments import common_params, own_params

Places: TypeAlias = dict[tuple[Value, Value], Result]

# Fewer experiments are as easy to read in a table.
MIN_CELLS = 6

# The minimum share of a grid's combinations that must have been measured.
NEARLY_FULL = 0.8


@dataclass(frozen=True)
class Grid:
    """One metric of the experiments of a probe that differ in exactly two parameters.

    ``title`` is the metric, followed by the parameters in which the grid differs from the other grids. ``rows`` and
    ``columns`` are the names of the two parameters. ``cells`` has the result for each (row value, column value). A
    failed experiment has a result without a value, and a combination that was not attempted is missing.
    """

    title: str
    rows: str
    columns: str
    cells: Places

    @property
    def results(self) -> list[Result]:
        """Return the results row by row, ascending in the row value and then in the column value."""
        return [self.cells[place] for place in sorted(self.cells, key=lambda place: (float(place[0]), float(place[1])))]


def grids(results: Sequence[Result]) -> list[Grid]:
    """Return the grids among the results of one probe, at most one pair of parameters for each experiment.

    The two parameters are numbers that vary. A grid has at least two rows, two columns and ``MIN_CELLS`` values, and
    values for at least the share ``NEARLY_FULL`` of its combinations. There is one grid for each metric and set of the
    other parameters; long series have grids of their own. Of the grids of two pairs that share an experiment, only that
    of the pair with more cells is returned. ``threads`` are the columns, otherwise the parameter with fewer values.
    Grids are in the order of their metrics in ``results``.
    """
    own = [result for result in results if result.summary.params]
    pairs = [_by_pair(own, *_rows_first(own, pair)) for pair in combinations(_numeric(own), 2)]
    found: list[Grid] = []
    shown: set[str] = set()
    for of_pair in sorted(pairs, key=lambda of_pair: -sum(len(grid.cells) for grid in of_pair)):
        new = [grid for grid in of_pair if not any(result.id in shown for result in grid.results)]
        shown |= {result.id for grid in new for result in grid.results}
        found += new
    metrics = list(dict.fromkeys(result.summary.metric for result in own))
    return sorted(found, key=lambda grid: metrics.index(grid.results[0].summary.metric))


def holds(grid: Grid, table: Table) -> bool:
    """Return whether a table has exactly the values of the grid, in any order; text and empty cells are ignored."""
    in_table = [cell.value for row in table.rows for cell in row if isinstance(cell, Quantity)]
    in_grid = [result.summary.value for result in grid.results if result.summary.value is not None]
    return sorted(in_table) == sorted(in_grid)


def _numeric(results: Sequence[Result]) -> list[str]:
    """Return the parameters that are numbers in all results and not constant."""
    values: dict[str, set[Value]] = {}
    for result in results:
        for name, value in result.summary.params.items():
            values.setdefault(name, set()).add(value)
    return [name for name, own in values.items() if len(own) > 1 and not any(isinstance(v, str) for v in own)]


def _rows_first(results: Sequence[Result], pair: tuple[str, str]) -> tuple[str, str]:
    """Return the pair as (rows, columns): threads are columns, otherwise the parameter with fewer values."""

    def breadth(name: str) -> tuple[bool, int]:
        return name != "threads", len({result.summary.params.get(name) for result in results})

    columns, rows = sorted(pair, key=breadth)
    return rows, columns


def _by_pair(results: Sequence[Result], rows: str, columns: str) -> list[Grid]:
    """Return the grids of one pair of parameters: one for each metric and set of the other parameters."""
    groups: dict[tuple[str, str], Places] = {}
    for result in results:
        params = result.summary.params
        if rows in params and columns in params:
            cells = groups.setdefault((result.summary.metric, line_key(result, rows, columns)), {})
            cells[params[rows], params[columns]] = result
    full = [cells for cells in groups.values() if _is_grid(cells)]
    common = common_params([next(iter(cells.values())) for cells in full]) if full else {}
    return [Grid(_title(cells, rows, columns, common), rows, columns, cells) for cells in full]


def _others(result: Result, rows: str, columns: str) -> dict[str, Value]:
    return {name: value for name, value in result.summary.params.items() if name not in (rows, columns)}


def _title(cells: Places, rows: str, columns: str, common: Mapping[str, Value]) -> str:
    """Return the metric and the parameters in which the grid differs from the other grids."""
    first = next(iter(cells.values()))
    return f"{first.summary.metric} {own_params(_others(first, rows, columns), common)}".strip()


def _is_grid(cells: Places) -> bool:
    rows, columns = {row for row, _ in cells}, {column for _, column in cells}
    measured = sum(result.summary.value is not None for result in cells.values())
    is_small = len(rows) < 2 or len(columns) < 2 or measured < MIN_CELLS
    return not is_small and measured >= NEARLY_FULL * len(rows) * len(columns)
