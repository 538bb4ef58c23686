"""Find grids: experiments of a probe that differ in exactly two parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Result, Table
from nameplate.report.charts.common import line_key
from nameplate.report.content.experiments import common_params, differing_params

Places: TypeAlias = dict[tuple[Value, Value], Result]

# Fewer values are as easy to read in a table.
MIN_CELLS = 6

# The minimum share of a grid's combinations that must have been measured.
NEARLY_FULL = 0.8


@dataclass(frozen=True)
class Grid:
    """One metric of the experiments of a probe that differ in exactly two parameters.

    - ``title``: the metric, and the parameters in which this grid differs from the probe's other grids
    - ``rows``, ``columns``: the names of the two parameters
    - ``cells``: the result for each (value of ``rows``, value of ``columns``). A failed experiment has a result without
      a value; a combination that was not attempted is missing.
    """

    title: str
    rows: str
    columns: str
    cells: Places

    @property
    def results(self) -> list[Result]:
        """Return the results row by row, with ascending values of both parameters."""
        return [
            self.cells[position]
            for position in sorted(self.cells, key=lambda position: (float(position[0]), float(position[1])))
        ]


def grids(results: Sequence[Result]) -> list[Grid]:
    """Return the grids among the results of one probe.

    A grid shows one metric by two numeric parameters and has at least two rows, two columns and 6 values
    (``MIN_CELLS``). At least 80 % of its combinations (``NEARLY_FULL``) have a value. There is one grid for each metric
    and each combination of the other parameters; long series have separate grids. If two pairs of parameters share an
    experiment, only the grids of the pair with more cells are returned. The parameter ``threads`` becomes the columns;
    without it, the parameter with fewer values does. Grids are in the order in which their metrics first appear in
    ``results``.
    """
    with_params = [result for result in results if result.summary.params]
    pairs = [_by_pair(with_params, *_rows_first(with_params, pair)) for pair in combinations(_numeric(with_params), 2)]
    made: list[Grid] = []
    drawn: set[str] = set()
    for of_pair in sorted(pairs, key=lambda of_pair: -sum(len(grid.cells) for grid in of_pair)):
        new = [grid for grid in of_pair if not any(result.id in drawn for result in grid.results)]
        drawn |= {result.id for grid in new for result in grid.results}
        made += new
    metrics = list(dict.fromkeys(result.summary.metric for result in with_params))
    return sorted(made, key=lambda grid: metrics.index(grid.results[0].summary.metric))


def holds(grid: Grid, table: Table) -> bool:
    """Return whether the table has exactly the values of the grid, in any order; text and empty cells are ignored."""
    in_table = [cell.value for row in table.rows for cell in row if isinstance(cell, Quantity)]
    in_grid = [result.summary.value for result in grid.results if result.summary.value is not None]
    return sorted(in_table) == sorted(in_grid)


def _numeric(results: Sequence[Result]) -> list[str]:
    """Return the names of the parameters that have several values, all of them numbers."""
    values: dict[str, set[Value]] = {}
    for result in results:
        for name, value in result.summary.params.items():
            values.setdefault(name, set()).add(value)
    return [
        name
        for name, values_of_name in values.items()
        if len(values_of_name) > 1 and not any(isinstance(v, str) for v in values_of_name)
    ]


def _rows_first(results: Sequence[Result], pair: tuple[str, str]) -> tuple[str, str]:
    """Return the pair as (rows, columns). ``threads`` is the columns, otherwise the parameter with fewer values is."""

    def breadth(name: str) -> tuple[bool, int]:
        return name != "threads", len({result.summary.params.get(name) for result in results})

    columns, rows = sorted(pair, key=breadth)
    return rows, columns


def _by_pair(results: Sequence[Result], rows: str, columns: str) -> list[Grid]:
    """Return the grids of one pair of parameters: one for each metric and combination of the other parameters."""
    groups: dict[tuple[str, str], Places] = {}
    for result in results:
        params = result.summary.params
        if rows in params and columns in params:
            cells = groups.setdefault((result.summary.metric, line_key(result, rows, columns)), {})
            cells[params[rows], params[columns]] = result
    full = [cells for cells in groups.values() if _is_grid(cells)]
    common = common_params([next(iter(cells.values())) for cells in full]) if full else {}
    return [Grid(_title(cells, rows, columns, common), rows, columns, cells) for cells in full]


def _fixed_params(result: Result, rows: str, columns: str) -> dict[str, Value]:
    return {name: value for name, value in result.summary.params.items() if name not in (rows, columns)}


def _title(cells: Places, rows: str, columns: str, common: Mapping[str, Value]) -> str:
    """Return the metric and the parameters in which the grid differs from the other grids."""
    first = next(iter(cells.values()))
    return f"{first.summary.metric} {differing_params(_fixed_params(first, rows, columns), common)}".strip()


def _is_grid(cells: Places) -> bool:
    rows, columns = {row for row, _ in cells}, {column for _, column in cells}
    measured = sum(result.summary.value is not None for result in cells.values())
    is_small = len(rows) < 2 or len(columns) < 2 or measured < MIN_CELLS
    return not is_small and measured >= NEARLY_FULL * len(rows) * len(columns)
