"""Tables and charts of a study's quantities, by the fields along their rows, columns, lines and x axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.records.model import StudyAxis, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.results.studies._quantity import Fields, StudyQuantity, names_of_blocks, names_of_threads

Named = Mapping[str, Fields]


def by_threads(counts: Sequence[int], noun: str = "thread") -> dict[str, Fields]:
    """Return the fields of each number of threads, by its name."""
    return {
        name: {"threads": count} for name, count in zip(names_of_threads(counts, noun), counts, strict=True)
    }  # fmt: skip


def by_block(blocks: Sequence[int]) -> dict[str, Fields]:
    """Return the fields of each block size, by its name."""
    return {name: {"block_bytes": block} for name, block in zip(names_of_blocks(blocks), blocks, strict=True)}


def crossed(first: Named, second: Named) -> dict[str, Fields]:
    """Return the fields of every pair, the first one's in the outer order."""
    return {f"{one} {two}": {**first[one], **second[two]} for one in first for two in second}


def each_with(named: Named, fields: Fields) -> dict[str, Fields]:
    """Return the same names with further fields."""
    return {name: {**own, **fields} for name, own in named.items()}


def matrix(
    title: str, quantity: StudyQuantity, rows: Named, columns: Named, notes: Sequence[str] = ()
) -> StudyTable:  # fmt: skip
    """Return a table of one quantity."""
    return StudyTable(
        title=title, rows=list(rows), columns=[StudyColumn(name, quantity.unit) for name in columns],
        cells=[[quantity.cell({**row, **column}) for column in columns.values()] for row in rows.values()],
        own=quantity.own_name, notes=list(notes),
    )  # fmt: skip


def along_threads(title: str, quantity: StudyQuantity, lines: Named, counts: Sequence[int]) -> StudyChart:
    """Return a chart of a quantity against the number of threads."""
    axis = StudyAxis("threads", names=[(float(count), str(count)) for count in counts])
    return _chart(title, quantity, lines, axis, [(float(count), {"threads": count}) for count in counts])


def along_blocks(title: str, quantity: StudyQuantity, lines: Named, blocks: Sequence[int]) -> StudyChart:
    """Return a chart of a quantity against the block size, on a logarithmic axis."""
    names = zip(map(float, blocks), names_of_blocks(blocks), strict=True)
    axis = StudyAxis("block size", is_logarithmic=True, names=list(names))
    return _chart(title, quantity, lines, axis, [(float(block), {"block_bytes": block}) for block in blocks])


def _chart(
    title: str, quantity: StudyQuantity, lines: Named, x: StudyAxis, places: Sequence[tuple[float, Fields]]
) -> StudyChart:
    """Return, for each of ``lines``, the run's values and the published ones at ``places`` along x.

    The y axis is logarithmic where the values span more than a power of ten.
    """
    drawn = []
    for name, fields in lines.items():
        own = [{**fields, **place} for _, place in places]
        for values, is_published in ((map(quantity.here, own), False), (map(quantity.printed, own), True)):
            found = zip((at for at, _ in places), values, strict=True)
            points = [(at, value) for at, value in found if isinstance(value, float) and value > 0]
            drawn += [StudyLine(name, points, is_published)] if points else []
    heights = [y for line in drawn for _, y in line.points]
    is_long = bool(heights) and max(heights) > 10 * min(heights)
    return StudyChart(title, x, StudyAxis(f"{quantity.name} ({quantity.unit})", is_long), drawn)
