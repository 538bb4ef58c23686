"""Build tables of one metric by two parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Result, Table
from nameplate.units import size_text

_SIZES = ("block", "size", "payload")
Row = list[str | Quantity | None]
CellOf = Callable[[Result], str | Quantity | None]
K = TypeVar("K", bound=Hashable)
RowKey = tuple[Value, ...]


def quantity_of(result: Result | None) -> Quantity | None:
    """Return a result's value with its unit and 95 % interval; None without a result or without a value."""
    if result is None or result.summary.value is None:
        return None
    return Quantity(result.summary.value, result.summary.unit, result.summary.ci)


def value_text(name: str, value: Value) -> str:
    """Return a parameter's value as text: ``8KiB`` if ``name`` is block, size or payload, otherwise the value itself.

    The value of block, size and payload is a number of bytes; any other value of them raises ValueError. Sizes are
    rounded to three significant digits (see ``size_text``), so that different sizes may have the same text.
    """
    return size_text(float(value)) if name in _SIZES else str(value)


def varying(results: Sequence[Result]) -> list[str]:
    """Return the names of the parameters in which the results differ, in the order of their first appearance.

    A parameter that is missing in some of the results counts as different. The list is empty for fewer than two
    results.
    """
    names = list(dict.fromkeys(name for result in results for name in result.summary.params))
    return [name for name in names if len({result.summary.params.get(name) for result in results}) > 1]


def labels(results: Sequence[Result]) -> list[str]:
    """Return a label for each result, in their order: the parameters in which they differ, as ``op=read block=8KiB``.

    Parameters that a probe chose itself are left out; they are not part of a result's id. The label is ``single
    experiment`` if no parameter is left. Sizes are rounded as in ``value_text``, so that two labels may be equal.
    """
    names = varying(results)
    return [
        " ".join(
            f"{name}={value_text(name, params[name])}" for name in names if name in params and f" {name}=" in identity
        )
        or "single experiment"
        for identity, params in ((result.id, result.summary.params) for result in results)
    ]


def grouped(results: Sequence[Result], key: Callable[[Result], K]) -> dict[K, list[Result]]:
    """Return the results by ``key(result)``. Keys are in the order of their first result.

    The results of one key keep their order.
    """
    groups: dict[K, list[Result]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return groups


def without(params: Mapping[str, Value], names: Sequence[str]) -> str:
    """Return the parameters except the ones in ``names`` as text, such as ``op=read threads=2``; "" if none is left.

    The order is the order of ``params``. Experiments that differ only in ``names`` have the same text, so it serves as
    a key. Sizes are rounded as in ``value_text``.
    """
    return " ".join(f"{name}={value_text(name, value)}" for name, value in params.items() if name not in names)


def crossed(
    results: Sequence[Result], rows: Sequence[str], column: tuple[str, str], cells: Mapping[str, tuple[str, CellOf]]
) -> list[tuple[str, list[str], list[Row], list[list[Result]]]]:
    """Return tables with the parameters ``rows`` down and one parameter across, one for each set of other parameters.

    ``column`` is the name of the parameter across, whose values are whole numbers, and the singular of a noun for the
    headings, such as ``("threads", "thread")``. ``cells`` maps the text of a heading to a metric and a function that
    returns the cell of a result. For each value of the parameter across, a table has one column for each entry of
    ``cells``. Results of metrics that are not in ``cells`` are ignored. Raises KeyError if another result lacks the
    parameter across or one in ``rows``.

    Each table is a tuple of four:

    - the title: the other parameters in which the results differ, as ``name=value`` separated by spaces; "" if there
      are none
    - the headings, such as ``bandwidth, 2 threads``, with the numbers ascending; the first column has no heading in
      this list
    - the body: rows in the order of their first results. A row begins with its label (see ``row_label``), and a cell
      that was not measured is None
    - the results of each row, in the order of the body

    A table with fewer than two rows is left out.
    """
    tables = []
    metrics = {metric for metric, _ in cells.values()}
    cell_results = [result for result in results if result.summary.metric in metrics]
    differing = set(varying(cell_results))
    name, noun = column
    for rest, group in grouped(cell_results, lambda r: without(r.summary.params, [*rows, name])).items():
        values = sorted({int(result.summary.params[name]) for result in group})
        by_row = grouped(group, lambda r: tuple(r.summary.params[row] for row in rows))
        if len(by_row) < 2:
            continue
        places = {
            (key, int(r.summary.params[name]), r.summary.metric): r
            for key, row_results in by_row.items()
            for r in row_results
        }
        labels = _distinct_labels(by_row, rows)
        body: list[Row] = [
            [labels[key], *(_cell_text(places.get((key, value, metric)), show) for value in values
                            for metric, show in cells.values())]
            for key in by_row
        ]  # fmt: skip
        headings = [f"{heading}, {value} {noun}{'s' if value > 1 else ''}" for value in values for heading in cells]
        title = " ".join(word for word in rest.split() if word.partition("=")[0] in differing)
        tables.append((title, headings, body, list(by_row.values())))
    return tables


def _distinct_labels(by_row: Mapping[RowKey, Sequence[Result]], rows: Sequence[str]) -> dict[RowKey, str]:
    """Return the label of each row; where rounded sizes would be alike, the values are exact."""
    labels = {key: row_label(results[0], rows) for key, results in by_row.items()}
    times = Counter(labels.values())
    return {key: label if times[label] == 1 else " ".join(map(str, key)) for key, label in labels.items()}


def _cell_text(result: Result | None, show: CellOf) -> str | Quantity | None:
    return None if result is None else show(result)


def row_label(result: Result, names: Sequence[str]) -> str:
    """Return the label of a result's row: the values of the parameters ``names`` in this order, such as ``read 8KiB``.

    Raises KeyError if the result lacks one of these parameters.
    """
    return " ".join(value_text(name, result.summary.params[name]) for name in names)


def grids(probe: str, results: Sequence[Result], rows: str, columns: str) -> list[Table]:
    """Return tables of the parameter ``rows`` (down) by the parameter ``columns`` (across), with the values as cells.

    There is one table for each metric and each set of values of the other parameters; its title is the metric and the
    other parameters in which the tables differ. ``probe`` is the name of the probe that the tables belong to. Both
    parameters must be numbers; they ascend, and a size in ``rows``, such as ``block``, is shown as in ``value_text``. A
    cell that was not measured is None. A table with only one value of either parameter is left out. Raises KeyError if
    a result lacks one of the two parameters.
    """
    groups: dict[tuple[str, str], dict[tuple[Value, Value], Result]] = {}
    for result in results:
        params = result.summary.params
        rest = " ".join(f"{name}={value}" for name, value in params.items() if name not in (rows, columns))
        groups.setdefault((result.summary.metric, rest), {})[(params[rows], params[columns])] = result
    common: set[str] = set.intersection(*(set(rest.split()) for _, rest in groups)) if groups else set()
    return [
        _grid(probe, " ".join([metric, *(word for word in rest.split() if word not in common)]), cells, rows, columns)
        for (metric, rest), cells in groups.items()
        if len({row for row, _ in cells}) > 1 and len({column for _, column in cells}) > 1
    ]


def _grid(probe: str, title: str, cells: dict[tuple[Value, Value], Result], rows: str, columns: str) -> Table:
    heads = sorted({column for _, column in cells}, key=float)
    body: list[list[str | Quantity | None]] = [
        [
            value_text(rows, row),
            *(quantity_of(cells.get((row, column))) for column in heads),
        ]
        for row in sorted({row for row, _ in cells}, key=float)
    ]
    return Table(probe, title, [f"{rows} \\ {columns}", *(str(head) for head in heads)], body)
