"""Tables of one metric by two parameters, as the reproduced studies print them."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.model import Quantity, Result, Table, Value
from nameplate.units import size_text

_SIZES = ("block", "size")


def quantity_of(result: Result | None) -> Quantity | None:
    """A result's headline, if there is one."""
    if result is None or result.summary.value is None:
        return None
    return Quantity(result.summary.value, result.summary.unit, result.summary.ci)


def value_text(name: str, value: Value) -> str:
    """``8KiB`` of a block; any other parameter as it is written."""
    return size_text(float(value)) if name in _SIZES else str(value)


def varying(results: Sequence[Result]) -> list[str]:
    """The parameters in which cells differ, in their order."""
    names = list(dict.fromkeys(name for result in results for name in result.summary.params))
    return [name for name in names if len({result.summary.params.get(name) for result in results}) > 1]


def labels(results: Sequence[Result]) -> list[str]:
    """What tells each cell from the others, of the parameters that were given; what a probe chose itself goes without
    saying.
    """
    names = varying(results)
    return [
        " ".join(f"{name}={value_text(name, params[name])}" for name in names if f" {name}=" in identity)
        or "the only cell"
        for identity, params in ((result.id, result.summary.params) for result in results)
    ]


def grids(probe: str, results: Sequence[Result], rows: str, columns: str) -> list[Table]:
    """A table for each metric and each set of the other parameters, where both parameters vary; ``rows`` is a size."""
    groups: dict[tuple[str, str], dict[tuple[Value, Value], Result]] = {}
    for result in results:
        params = result.summary.params
        others = " ".join(f"{name}={value}" for name, value in params.items() if name not in (rows, columns))
        groups.setdefault((result.summary.metric, others), {})[(params[rows], params[columns])] = result
    common = _common([others for _, others in groups])
    return [
        _grid(probe, " ".join([metric, *(word for word in others.split() if word not in common)]), cells, rows, columns)
        for (metric, others), cells in groups.items()
        if len({row for row, _ in cells}) > 1 and len({column for _, column in cells}) > 1
    ]


def _common(titles: Sequence[str]) -> set[str]:
    """The words that stand in all titles."""
    words = [set(title.split()) for title in titles]
    return set.intersection(*words) if words else set()


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
